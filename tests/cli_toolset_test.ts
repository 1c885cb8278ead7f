import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { startGateway, until } from "./gateway.ts";

const root = fromFileUrl(new URL("..", import.meta.url));
const FIXTURE = join(root, "tests/fixtures/file_tools_server.ts");

const plain = { type: "object" };
const MANY = Array.from({ length: 40 }, (_, index) => `extra_${index}`);
const TOOLS = ["status", "log", ...MANY].map((name) => ({ name, inputSchema: plain }));
const STRICT_LOG = {
  name: "log",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** A folder with one server's tools in a file, and the command line on its data. */
class Setting implements AsyncDisposable {
  readonly folder: string;
  readonly data: string;
  readonly program: { command: string; args: string[] };

  private constructor(folder: string) {
    this.folder = folder;
    this.data = join(folder, "data");
    const args = ["run", "-A", "-q", "--no-lock", FIXTURE, join(folder, "tools.json")];
    this.program = { command: Deno.execPath(), args };
  }

  static async make(): Promise<Setting> {
    const setting = new Setting(await Deno.makeTempDir({ prefix: "quartermaster_" }));
    await setting.list(TOOLS);
    return setting;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async list(tools: object[]): Promise<void> {
    await Deno.writeTextFile(this.path("tools.json"), JSON.stringify(tools));
  }

  async run(args: string[], stdin = "") {
    const manifest = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
    const words: string[] = manifest.tasks.cli.command.split(" ").slice(1);
    const command = words.map((word) => word.endsWith(".ts") ? join(root, word) : word);
    const child = new Deno.Command(Deno.execPath(), {
      args: [...command, ...args],
      cwd: this.folder,
      env: { XDG_CONFIG_HOME: this.folder, QUARTERMASTER_DATA_DIR: this.data },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    // A command that does not read it may be gone by now.
    await writer.write(new TextEncoder().encode(stdin)).then(() => writer.close()).catch(() => {});
    const { code, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  }

  /** The output of `toolset ...` that has to succeed. */
  async ok(...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(["toolset", ...args]);
    assert.equal(code, 0, `${args.join(" ")}: ${err}`);
    assert.equal(err, "", args.join(" "));
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(out, /\x1b/, "a color where there is no terminal");
    return out;
  }

  async json(...args: string[]) {
    return JSON.parse(await this.ok(...args, "--json"));
  }

  async fails(code: number, message: RegExp, ...args: string[]): Promise<void> {
    const result = await this.run(["toolset", ...args]);
    assert.equal(result.code, code, `${args.join(" ")}: ${result.out}${result.err}`);
    assert.match(result.err, message, args.join(" "));
    assert.doesNotMatch(result.err, /\n\s+at /, "a stack trace");
    assert.equal(result.out, "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("toolset commands work on the store where no gateway runs", async (t) => {
  await using setting = await Setting.make();
  const { command, args } = setting.program;
  const added = await setting.run(["server", "add", "git", "--", command, ...args]);
  assert.equal(added.code, 0, added.err);

  await t.step("create saves tools by their names, and says what they cost", async () => {
    assert.match(await setting.ok("list"), /^There are no toolsets/);
    const out = await setting.ok(
      "create",
      "dev",
      "git.status",
      "git_log",
      "--description",
      "Daily \x1b[31mwork",
      "--equip",
    );
    assert.match(out, /^Saved toolset "dev": 2 tools, about [1-9]\d* tokens\. It is equipped\.\n/);
    assert.match(out, /No gateway is running: start one with/);
    const all = await setting.ok("create", "constructor", "git.*");
    assert.match(all, /^Saved toolset "constructor": 42 tools/);
    assert.match(all, /Warning: \/mcp would list 52 tools, 10 of them/);
  });

  await t.step("what is wrong is said in words, and nothing is saved", async () => {
    const wrong: [number, RegExp, string[]][] = [
      [
        2,
        /toolset create requires TOOL; usage: quartermaster toolset create NAME TOOL\.\.\./,
        ["create", "x"],
      ],
      [2, /Cannot save toolset "a\.b"[^]*For example: a-b/, ["create", "a.b", "git.log"]],
      [1, /already exists\n {2}Choose another name/, [
        "create",
        "dev",
        "git.log",
      ]],
      [1, /no tool "git\.lgo"[^]*Did you mean git\.log\?/, [
        "create",
        "x",
        "git.status",
        "git.lgo",
      ]],
      [
        1,
        /no toolset "deev"\n {2}See all toolsets with `quartermaster toolset list`\.\n {2}Did you mean dev\?/,
        [
          "show",
          "deev",
        ],
      ],
      [1, /no toolset "deev"[^]*Did you mean dev\?/, ["equip", "deev"]],
      [1, /no toolset "nowhere"/, ["delete", "nowhere", "--yes"]],
      [2, /toolset delete requires confirmation; pass --yes/, ["delete", "dev"]],
      [2, /toolset equip requires NAME/, ["equip"]],
      [2, /toolset list does not take "x"/, ["list", "x"]],
      [2, /File not found: nowhere\.json/, ["import", "nowhere.json"]],
      [2, /The import file is empty/, ["import", "-"]],
      [2, /folder not found/, ["export", "--output", setting.path("no/a.json")]],
      [2, /Did you mean toolset equip\?/, ["equp", "dev"]],
    ];
    await Promise.all(wrong.map(([code, message, args]) => setting.fails(code, message, ...args)));
    const { toolsets } = await setting.json("list");
    assert.deepEqual(toolsets.map(({ name }: { name: string }) => name), ["constructor", "dev"]);
  });

  await t.step("list and show do not pretend that a tool can be called", async () => {
    const list = await setting.ok("list");
    assert.match(list, /dev +2 +\d+ +equipped +Daily work\n[^]*No gateway is running/);
    const shown = await setting.ok("show", "dev");
    assert.match(shown, /^dev {2}equipped\nDaily work\nTools +2 tools, about/);
    assert.match(shown, /not running +git\.status +\d+\n[^]*No gateway is running/);
    const { toolset } = await setting.json("show", "dev");
    assert.deepEqual(
      toolset.tools.map(({ state }: { state: string }) => state),
      ["waiting", "waiting"],
    );
  });

  await t.step("export writes a file once, and import reads it", async () => {
    const file = setting.path("toolsets.json");
    assert.match(await setting.ok("export", "--output", file), /^Wrote /);
    await setting.fails(
      2,
      /already exists; overwrite it with --force/,
      "export",
      "--output",
      file,
    );
    await setting.ok("export", "dev", "--output", file, "--force");
    const text = await Deno.readTextFile(file);
    assert.equal(text, await setting.ok("export", "dev"));
    const left = [...Deno.readDirSync(setting.folder)].map(({ name }) => name);
    assert.deepEqual(left.filter((name) => name.endsWith(".tmp")), []);

    const taken = await setting.run(["toolset", "import", file]);
    assert.equal(taken.code, 1);
    assert.match(taken.out, /^Not saved: dev: Toolset "dev" already exists/);
    assert.match(await setting.ok("import", file, "--replace"), /^Saved dev: 2 tools\n/);
  });

  await t.step("unequip and delete", async () => {
    assert.deepEqual(await setting.json("unequip"), { unequipped: "dev" });
    assert.match(await setting.ok("unequip"), /^No toolset was equipped\.\n/);
    assert.deepEqual(await setting.json("delete", "dev", "--yes"), { deleted: "dev" });
  });
});

Deno.test("toolset commands go through the gateway that runs", async (t) => {
  await using setting = await Setting.make();
  const servers = { git: setting.program, away: { url: "http://127.0.0.1:59997/mcp" } };
  await Deno.writeTextFile(setting.path(".mcp.json"), JSON.stringify({ mcpServers: servers }));
  await Deno.mkdir(setting.data);
  await using gateway = await startGateway([], { cwd: setting.folder, dataDir: setting.data });
  const api = async (path: string, body?: unknown) => {
    const response = await fetch(`${gateway.url}/api/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await response.json();
  };
  await until(async () => (await api("servers/git")).server.state === "ready" ? true : undefined);
  // The first count of tokens loads the tokenizer, which takes longest of all.
  await api("toolsets", { name: "dev", tools: ["git.status"] });

  await t.step("import reports what could not be matched", async () => {
    const foreign = {
      name: "my tools",
      tools: ["git.log", "git.statsu", "away.look"].map((namespacedName) => ({ namespacedName })),
    };
    const { code, out } = await setting.run(["toolset", "import", "-"], JSON.stringify(foreign));
    assert.equal(code, 0, out);
    assert.match(out, /^Saved my-tools \(called "my tools" in the file\): 3 tools\n/);
    assert.match(out, /not matched: git\.statsu: .*Did you mean git\.status\?\n/);
    assert.doesNotMatch(out, /No gateway/);
  });

  await t.step("equip tells what is registered and what is skipped", async () => {
    const out = await setting.ok("equip", "my-tools");
    assert.match(out, /^Equipped my-tools: 1 of 3 tools registered\.\n {2}git_log\n/);
    assert.match(out, /Warning: away server unavailable, skipping tools: away\.look\n/);
    assert.match(out, /Warning: no longer available: git\.statsu\n/);
    assert.equal((await api("equipped")).toolset.name, "my-tools");
  });

  await t.step("show tells how a tool has changed since it was saved", async () => {
    await setting.list([...TOOLS.filter(({ name }) => name !== "log"), STRICT_LOG]);
    await api("servers/git/restart", {});
    await until(async () => {
      const { toolset } = await api("toolsets/my-tools");
      return toolset.tools[0].change ? true : undefined;
    });
    const [shown, listed] = await Promise.all([setting.ok("show", "my-tools"), setting.ok("list")]);
    assert.match(shown, /^my-tools {2}equipped\nTools +1 of 3 tools registered/);
    assert.match(
      shown,
      /registered +git\.log +git_log +\d+ +changed since saved \(v1 -> v2\), breaking: .*"path"/,
    );
    assert.match(shown, /waiting +away\.look +its server is not ready/);
    assert.match(shown, /gone +git\.statsu/);
    assert.match(listed, /my-tools +1\/3 +\d+ +equipped/);
  });
});
