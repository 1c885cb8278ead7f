import assert from "node:assert/strict";
import { fromFileUrl, join } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { findGateways } from "../lib/cli/operation_target.ts";
import { startTimeOf } from "../lib/servers/processes/process_group.ts";
import { AuditRepository } from "../lib/storage/audit_repository.ts";
import { Store } from "../lib/storage/store.ts";
import { chaos, FaultyGateway } from "./faults.ts";
import { StdioChild, stdioCommand, type StdioStart } from "./fixtures/stdio_child.ts";
import { startGateway, until } from "./gateway.ts";

interface Connected extends AsyncDisposable {
  client: Client;
  pid: number;
  /** How often the list of tools was said to have changed. */
  changes(): number;
}

async function connect(
  flags: string[],
  start: StdioStart,
  capabilities: Record<string, object> = {},
): Promise<Connected> {
  const transport = new StdioClientTransport({ ...stdioCommand(flags, start), stderr: "ignore" });
  const client = new Client({ name: "stdio", version: "1" }, { capabilities });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  await client.connect(transport);
  const pid = transport.pid!;
  return {
    client,
    pid,
    changes: () => changes,
    async [Symbol.asyncDispose]() {
      await client.close();
      assert.equal(await startTimeOf(pid), undefined, "It has not ended");
    },
  };
}

async function tempDir(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "quartermaster_stdio_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The text of a tool's result. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content as { text: string }[];
  assert.ok(!isError, first?.text);
  return first?.text ?? "";
}

Deno.test("stdio: a client has a gateway of its own where none runs, which nobody tries to reach", async () => {
  await using folder = await tempDir();
  const start = { dataDir: folder.path };
  await using plain = await connect([], start);
  assert.ok((await plain.client.listTools()).tools.length > 0);
  {
    await using weather = await connect(["--server", "weather"], start);
    const { tools } = await weather.client.listTools();
    assert.ok(tools.some(({ name }) => name === "weather.get_current"));
    assert.match(await call(weather.client, "weather.get_current", { location: "Oslo" }), /Oslo/);
  }
  const toolset = { name: "sky", tools: ["weather.get_current"], autoEquip: false };
  await call(plain.client, "build-toolset", toolset);
  await using store = await Store.open({ location: join(folder.path, "quartermaster.kv") });
  assert.deepEqual(await findGateways(store), []);
  const noted = await until(async () =>
    (await Array.fromAsync(new AuditRepository(store).list())).find(({ subject }) =>
      subject === "sky"
    )
  );
  assert.equal(noted.from, 'MCP at /mcp?default, client "stdio 1", from stdio');
  const [log] = Array.from(Deno.readDirSync(join(folder.path, "logs"))).filter((e) => e.isFile);
  assert.match(await Deno.readTextFile(join(folder.path, "logs", log!.name)), /"msg":"Started"/);
});

Deno.test("stdio: clients join the gateway that runs, or have their own with --standalone", async (t) => {
  await using faulty = await FaultyGateway.start({ chaos: chaos() });
  const start = { dataDir: faulty.gateway.dataDir, cwd: faulty.folder };
  const pidOf = async ({ client }: Connected) => await call(client, "chaos.pid");
  await using first = await connect(["--server", "chaos"], start);

  await t.step("two bridges share the gateway's server", async () => {
    await using second = await connect(["--server", "chaos"], start);
    assert.equal(await pidOf(second), await pidOf(first));
    await using apart = await connect(["--server", "chaos", "--standalone"], start);
    assert.notEqual(await pidOf(apart), await pidOf(first));
  });

  for (const flags of [[], ["--standalone"]]) {
    const mode = flags[0] ?? "bridge";
    await t.step(
      `${mode}: a server's questions are answered, its news heard, and calls cancelled`,
      async () => {
        const own = { sampling: {}, elicitation: {} };
        await using asked = await connect([...flags, "--server", "chaos"], start, own);
        const { client } = asked;
        client.setRequestHandler(CreateMessageRequestSchema, () => ({
          role: "assistant",
          model: "none",
          content: { type: "text", text: "Sampled here" },
        }));
        client.setRequestHandler(ElicitRequestSchema, () => ({
          action: "accept",
          content: { answer: "Elicited here" },
        }));
        assert.match(await call(client, "chaos.ask", { kind: "sampling" }), /Sampled here/);
        assert.match(await call(client, "chaos.ask", { kind: "elicitation" }), /Elicited here/);

        const stop = new AbortController();
        const options = { signal: stop.signal };
        const hanging = client.callTool({ name: "chaos.hang" }, undefined, options);
        await call(client, "chaos.echo");
        stop.abort();
        await assert.rejects(hanging);
        await until(async () => /\d/.test(await call(client, "chaos.cancelled")) || undefined);

        const before = asked.changes();
        await call(client, "chaos.change-tools");
        await until(() => asked.changes() > before || undefined);
      },
    );
  }

  await t.step("progress comes in order, before the answer", async () => {
    for (const flags of [[], ["--standalone"]]) {
      await using child = await StdioChild.open(["--server", "chaos", ...flags], start);
      const _meta = { progressToken: "p" };
      await child.request(1, "tools/call", { name: "chaos.progress", arguments: {}, _meta });
      const messages = child.lines.map((line) => JSON.parse(line));
      const told = messages.flatMap(({ id, params }) => id ?? params?.message ?? []);
      assert.deepEqual(told, [0, "Step 1", "Step 2", "Step 3", 1]);
    }
  });

  await t.step("--expose chooses what the default endpoint lists", async () => {
    for (const flags of [[], ["--standalone"]]) {
      await using all = await connect(["--expose", "all", ...flags], start);
      const listed = await until(async () => {
        const { tools } = await all.client.listTools();
        return tools.find(({ name }) => /^chaos.echo$/.test(name))?.name;
      });
      assert.equal(await call(all.client, listed, { a: 1 }), '{"a":1}');
    }
  });

  await t.step("only JSON is on stdout under load, whatever is logged", async () => {
    const endpoints = [["--server", "chaos"], ["--expose", "all"]];
    for (
      const flags of endpoints.flatMap((endpoint) => [endpoint, [...endpoint, "--standalone"]])
    ) {
      await using child = await StdioChild.open(["--log-level", "trace", ...flags], start);
      const count = 400;
      for (let id = 1; id <= count; id++) {
        const params = { name: "chaos.echo", arguments: { id, text: `\n\u2028${"x".repeat(id)}` } };
        await child.send({ id, method: "tools/call", params });
      }
      await until(() => child.lines.length > count || undefined);
      assert.equal((await child.close()).code, 0, child.log);
      assert.equal(child.rest, "");
      const messages = child.lines.map((line) => JSON.parse(line));
      for (const { jsonrpc } of messages) assert.equal(jsonrpc, "2.0");
      const answers = messages.filter(({ result }) => result?.structuredContent);
      assert.equal(answers.length, count);
      for (const { id, result } of answers) assert.equal(result.structuredContent.id, id);
      for (const line of child.log.trim().split("\n")) JSON.parse(line);
      assert.match(child.log, /"level":"debug"/);
    }
  });

  await t.step("a bridge ends its session at the gateway with itself", async () => {
    const reaches = (count: number) =>
      until(async () => {
        const metrics = await (await fetch(`${faulty.url}/metrics`)).text();
        return metrics.includes(`quartermaster_sessions ${count}\n`) || undefined;
      });
    await reaches(1);
    await using child = await StdioChild.open(["--server", "chaos"], start);
    await reaches(2);
    await child.send({ id: 1, method: "tools/call", params: { name: "chaos.hang" } });
    assert.equal((await child.close()).code, 0);
    await reaches(1);
  });
});

Deno.test("stdio: a bridge outlives a kill of its gateway, and goes on with the next one", async () => {
  await using folder = await tempDir();
  await Deno.writeTextFile(
    join(folder.path, ".mcp.json"),
    JSON.stringify({ mcpServers: { chaos: chaos() } }),
  );
  const start = { dataDir: folder.path };
  const first = await startGateway([], start);
  await using bridge = await connect(["--server", "chaos"], start);
  const hanging = bridge.client.callTool({ name: "chaos.hang" });
  await until(async () => {
    const logs = await (await fetch(`${first.url}/api/servers/chaos/logs`)).text();
    return logs.includes("hanging") || undefined;
  });
  await first.stop("SIGKILL");
  const { content, isError } = await hanging;
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /may or may not have run/);

  const waiting = call(bridge.client, "chaos.echo", { again: 1 });
  const second = await startGateway([], start);
  assert.notEqual(second.url, first.url);
  assert.equal(await waiting, '{"again":1}');
  await until(() => bridge.changes() > 0 || undefined);
  await second.stop();
});

Deno.test("stdio: the end of stdin or a signal ends everything, stubborn programs too", async () => {
  for (const end of ["stdin", "SIGTERM"] as const) {
    await using folder = await tempDir();
    const marker = `STDIO_MARKER=${crypto.randomUUID()}`;
    const pidFile = join(folder.path, "pid");
    const servers = { stubborn: chaos(["--stubborn-grandchild", `--pid-file=${pidFile}`]) };
    const env = Object.fromEntries([marker.split("=")]);
    await Deno.writeTextFile(
      join(folder.path, ".mcp.json"),
      JSON.stringify({ mcpServers: { stubborn: { ...servers.stubborn, env } } }),
    );
    await using child = await StdioChild.open(["--server", "stubborn"], { dataDir: folder.path });
    assert.ok((await child.request(1, "tools/list")).result.tools.length > 0);
    const grandchild = Number(await until(() => Deno.readTextFile(pidFile).catch(() => undefined)));
    assert.notEqual(await startTimeOf(grandchild), undefined);
    await child.send({ id: 2, method: "tools/call", params: { name: "stubborn.hang" } });
    if (end === "SIGTERM") child.kill(end);
    const status = end === "stdin" ? await child.close() : await child.status;
    assert.equal(status.code, 0, child.log);
    assert.equal(await startTimeOf(grandchild), undefined, "A program was left behind");
  }
});

Deno.test("stdio: what is no message is refused, and the next one is answered", async () => {
  await using folder = await tempDir();
  const flags = ["--server", "weather", "--max-body", "1KiB"];
  await using child = new StdioChild(flags, { dataDir: folder.path });
  const answers = async (count: number) => {
    await until(() => child.lines.length >= count || undefined);
    return child.lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]);
  };
  await child.write(`nonsense\n[]\n${"x".repeat(100_000)}\n`);
  await child.send({ id: 1, method: "tools/list" });
  await child.send({ id: 2, method: "server/discover" });
  await child.send({ id: 3, method: "ping", params: { filler: "x".repeat(2_000) } });
  await child.send({ id: 4, method: "ping" });
  assert.deepEqual(await answers(7), [
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [1, -32000],
    [2, -32601],
    [3, -32600],
    [4, undefined],
  ]);
});

Deno.test("stdio: a reader that goes away ends it quietly", async () => {
  await using folder = await tempDir();
  const { command, ...options } = stdioCommand(["--server", "weather"], { dataDir: folder.path });
  const child = new Deno.Command(command, {
    ...options,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await child.stdout.cancel();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'));
  const log = await new Response(child.stderr).text();
  assert.equal((await child.status).code, 0, log);
  for (const line of log.trim().split("\n")) JSON.parse(line);
  await input.close().catch(() => {});
});

Deno.test("stdio: a mistake is one sentence on stderr and exit code 2", async () => {
  await using folder = await tempDir();
  const cases: [string[], RegExp][] = [
    [["--expose", "some"], /^quartermaster: Cannot use --expose "some"/],
    [["--server", "a", "--toolset", "b"], /^quartermaster: Cannot open more than one endpoint/],
    [["--sever", "a"], /^quartermaster: Unknown option --sever. Did you mean --server\?/],
    [["--config", join(folder.path, "absent.json")], /^quartermaster: .*absent\.json/],
    [["--no-stdio", "--server", "a"], /^quartermaster: --server is for clients that speak stdio/],
  ];
  for (const [flags, expected] of cases) {
    const child = new StdioChild(flags, { dataDir: folder.path });
    assert.equal((await child.close()).code, 2, child.log);
    assert.match(child.log.split("\n").find((line) => !line.startsWith("{")) ?? "", expected);
    assert.deepEqual(child.lines, []);
  }
});

Deno.test("stdio: `deno task start --stdio` has only the protocol on stdout", async () => {
  await using folder = await tempDir();
  const root = fromFileUrl(new URL("..", import.meta.url));
  const command = ["task", "--cwd", root, "start"];
  await using child = await StdioChild.open([], { dataDir: folder.path, command });
  assert.ok((await child.request(1, "tools/list")).result.tools.length > 0);
  assert.equal((await child.close()).code, 0);
  for (const line of child.lines) assert.equal(JSON.parse(line).jsonrpc, "2.0");
  assert.equal(child.rest, "");
});
