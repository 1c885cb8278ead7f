import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { type ServerHistory, ServerHistory as History } from "../lib/catalog/tool_history.ts";
import { FaultyGateway } from "./faults.ts";
import { until } from "./gateway.ts";

const root = fromFileUrl(new URL("..", import.meta.url));
const FIXTURE = join(root, "tests/fixtures/file_tools_server.ts");

const plain = { type: "object" };
const announce = { name: "announce", inputSchema: plain };
const look = {
  name: "look",
  description: "Looks at files",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
};
const closerLook = {
  name: "look",
  description: "Looks at folders",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, depth: { type: "integer" } },
    required: ["depth"],
  },
};
const invalid = [
  { name: "bad", inputSchema: { type: "array" } },
  { inputSchema: plain },
  { ...announce, description: "the second of this name" },
];

/** Gateways one after the other on the same data, and one server whose tools are in a file. */
class Setting implements AsyncDisposable {
  readonly folder: string;
  readonly entry: { command: string; args: string[] };

  private constructor(folder: string) {
    this.folder = folder;
    const args = ["run", "-A", "-q", "--no-lock", FIXTURE, join(folder, "tools.json")];
    this.entry = { command: Deno.execPath(), args };
  }

  static async make(): Promise<Setting> {
    return new Setting(await Deno.makeTempDir({ prefix: "quartermaster_" }));
  }

  async list(...tools: object[]): Promise<void> {
    await Deno.writeTextFile(join(this.folder, "tools.json"), JSON.stringify(tools));
  }

  start(entry: Record<string, unknown> = this.entry): Promise<FaultyGateway> {
    const { folder } = this;
    return FaultyGateway.start({ changing: entry }, { folder, dataDir: folder });
  }

  /** What the command line prints, on the same data. */
  async cli(...args: string[]): Promise<string> {
    const manifest = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
    const words: string[] = manifest.tasks.cli.command.split(" ").slice(1);
    const command = words.map((word) => word.endsWith(".ts") ? join(root, word) : word);
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: [...command, ...args],
      cwd: this.folder,
      env: { XDG_CONFIG_HOME: this.folder, QUARTERMASTER_DATA_DIR: this.folder },
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function historyAt({ url }: FaultyGateway, query = ""): Promise<ServerHistory> {
  const response = await fetch(`${url}/api/servers/changing/history${query}`);
  return History.parse(await response.json());
}

async function pageAt({ url }: FaultyGateway, path: string): Promise<string> {
  const response = await fetch(url + path);
  assert.equal(response.status, 200);
  return (await response.text()).replaceAll(/<\/?bdi>/g, "");
}

/** Where nobody answers. */
function nowhere(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${listener.addr.port}/mcp`;
}

const toolIn = ({ tools }: ServerHistory, name: string) => tools.find((tool) => tool.name === name);

Deno.test("the history of a server's tools is told by API, pages and command line", async () => {
  await using setting = await Setting.make();
  await setting.list(announce, look, { name: "leave", inputSchema: plain });
  {
    await using faulty = await setting.start();
    await faulty.reaches("changing", "ready");
    const first = await historyAt(faulty);
    assert.deepEqual(first.tools.map(({ version, state }) => [version, state]), [
      [1, "listed"],
      [1, "listed"],
      [1, "listed"],
    ]);
    assert.deepEqual(first.invalid, []);
    assert.match(
      await pageAt(faulty, "/servers/changing"),
      /No changes since the tools were first seen/,
    );
    assert.match(
      await pageAt(faulty, "/tools/changing/look"),
      /No changes since the tool was first seen/,
    );
    assert.doesNotMatch(await pageAt(faulty, "/servers/changing"), /Invalid tools/);
    const unchanged = await setting.cli("server", "tools", "changing", "--history");
    assert.match(unchanged, /have not changed/);

    await setting.list(announce, closerLook, { name: "fresh", inputSchema: plain });
    const client = await faulty.open("changing");
    await client.must("announce");
    const history = await until(async () => {
      const found = await historyAt(faulty);
      return toolIn(found, "look")?.version === 2 ? found : undefined;
    });
    const [newest, oldest] = toolIn(history, "look")?.versions ?? [];
    assert.equal(newest?.diff?.compatibility, "breaking");
    assert.deepEqual(newest?.diff?.reasons, ['Input: "depth" is new and required']);
    assert.deepEqual(newest?.diff?.changes.map(({ path }) => path), [
      "description",
      "inputSchema.properties.depth",
      "inputSchema.required",
    ]);
    assert.equal(oldest?.version, 1);
    assert.ok((newest?.seenAt ?? 0) > (oldest?.seenAt ?? 0));
    assert.equal(toolIn(history, "leave")?.state, "gone");
    assert.ok(toolIn(history, "leave")?.goneSince !== undefined);
    assert.deepEqual((await historyAt(faulty, "?tool=fresh")).tools.map(({ name }) => name), [
      "fresh",
    ]);
    assert.equal((await historyAt(faulty, "?diffs=0")).withoutDiff, 1);

    for (const path of ["/servers/changing", "/tools/changing/look"]) {
      const page = await pageAt(faulty, path);
      assert.match(page, /<del[^>]*>files<\/del>[^]*<ins[^>]*>folders<\/ins>/, path);
      assert.match(page, /Breaking/, path);
    }
    assert.match(await pageAt(faulty, "/servers/changing"), /No longer listed/);
  }
  // With no gateway the command line reads the store itself.
  const told = await setting.cli("server", "tools", "changing", "--history");
  assert.match(told, /look {2}version 2 {2}breaking\n {2}! Input: "depth" is new and required/);
  assert.match(told, /description: Looks at \[-files-\]\{\+folders\+\}/);
  assert.match(told, /leave {2}gone/);
  assert.match(told, /fresh {2}new/);
  const json = History.parse(
    JSON.parse(await setting.cli("server", "tools", "changing", "--history", "--json")),
  );
  assert.equal(toolIn(json, "look")?.version, 2);

  // Changed while no gateway ran, and only in its words.
  await setting.list(announce, { ...closerLook, title: "Look" });
  await using faulty = await setting.start();
  const history = await until(async () => {
    const found = await historyAt(faulty);
    return toolIn(found, "look")?.version === 3 ? found : undefined;
  });
  const diffs = toolIn(history, "look")?.versions.map(({ diff }) => diff?.compatibility);
  assert.deepEqual(diffs, ["compatible", "breaking", undefined]);

  // As many tools as before: open pages hear of it all the same.
  await faulty.reaches("changing", "ready");
  const live = await fetch(`${faulty.url}/api/events`, {
    signal: AbortSignal.timeout(60_000),
  });
  await setting.list(announce, { ...closerLook, title: "Look closely" });
  await (await faulty.open("changing")).must("announce");
  let heard = "";
  for await (const chunk of live.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard += chunk;
    if (/event: server\ndata: .*"changing"/.test(heard)) break;
  }
  assert.equal(toolIn(await historyAt(faulty), "look")?.version, 4);

  const missing = await fetch(`${faulty.url}/api/servers/nowhere/history`);
  assert.equal((await missing.json()).error.errorType, "SERVER_NOT_FOUND");
  assert.equal(missing.status, 404);
});

Deno.test("invalid tools are told with their problem, are not listed, and are remembered", async () => {
  await using setting = await Setting.make();
  await setting.list(announce, look, ...invalid);
  const problems = new Map([
    ["(tool 4 has no name)", "It has no name"],
    ["announce", "Another tool of this server has the same name"],
    ["bad", 'Its input schema has the type "array"; it must be "object"'],
  ]);
  const problemsIn = (history: ServerHistory) =>
    new Map(history.invalid.map(({ name, problem }) => [name, problem]));
  let seenAt: number[] = [];
  {
    await using faulty = await setting.start();
    await faulty.reaches("changing", "ready");
    const client = await faulty.open("changing");
    assert.deepEqual(await client.toolNames(), ["announce", "look"]);
    const history = await historyAt(faulty);
    assert.deepEqual(problemsIn(history), problems);
    assert.deepEqual(history.tools.map(({ name, state }) => [name, state]), [
      ["announce", "listed"],
      ["look", "listed"],
    ]);
    seenAt = history.invalid.map((tool) => tool.seenAt);
    const page = await pageAt(faulty, "/servers/changing");
    assert.match(page, /Invalid tools/);
    assert.match(page, /Its input schema has the type &quot;array&quot;/);
    assert.match(await setting.cli("server", "tools", "changing", "--history"), /Invalid tools/);
  }
  {
    // The server cannot be reached now: all that is known of it comes from the store.
    await using faulty = await setting.start({ type: "http", url: nowhere() });
    await faulty.reaches("changing", "failed", "degraded");
    const history = await historyAt(faulty);
    assert.deepEqual(problemsIn(history), problems);
    assert.deepEqual(history.invalid.map((tool) => tool.seenAt), seenAt);
    assert.match(await pageAt(faulty, "/servers/changing"), /Invalid tools/);
  }
  await setting.list(announce, { name: "look", inputSchema: "none" });
  {
    await using faulty = await setting.start();
    await faulty.reaches("changing", "ready");
    const history = await historyAt(faulty);
    assert.deepEqual([...problemsIn(history).keys()], ["look"]);
    assert.deepEqual(
      [toolIn(history, "look")?.state, toolIn(history, "look")?.version],
      ["invalid", 1],
    );

    await setting.list(announce, look);
    await (await faulty.open("changing")).must("announce");
    const mended = await until(async () => {
      const found = await historyAt(faulty);
      return found.invalid.length === 0 ? found : undefined;
    });
    assert.deepEqual(
      [toolIn(mended, "look")?.state, toolIn(mended, "look")?.version],
      ["listed", 1],
    );
  }
});
