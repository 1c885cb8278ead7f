import assert from "node:assert/strict";
import { fromFileUrl } from "@std/path";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { serveStateless } from "./testing/stateless_server.ts";
import { Store } from "../storage/store.ts";
import { ServerErasRepository } from "../storage/servers_repository.ts";
import { EraMemory, LastEra } from "./era_memory.ts";
import { ManagedServer, type ManagedServerOptions } from "./server.ts";
import { FakeServer, pause, silentLog, textOfResult, until } from "./testing/fake_server.ts";
import { FallbackTransport } from "./transports/http.ts";
import { StdioTransport } from "./transports/stdio.ts";
import { TEST_LOCK } from "../../tests/packages.ts";
import { ownerOf } from "./transports/testing/transport_harness.ts";
import type { TransportEvents } from "./transports/transport.ts";

type Open = ConnectionOptions["openTransport"];

function connect(openTransport: Open, more: Partial<ConnectionOptions> = {}): Promise<Connection> {
  return Connection.open({
    serverName: "test",
    openTransport,
    capabilities: {},
    startTimeoutMs: 60_000,
    events: { onMessage: () => {}, onClose: () => {}, onLog: () => {} },
    ...more,
  });
}

function http(url: string): Open {
  return (events: TransportEvents) =>
    new FallbackTransport({ url, headers: {}, serverName: "test" }, events);
}

function stdio(command: string, args: string[]): Open {
  const owner = ownerOf(crypto.randomUUID());
  const program = { name: "test", env: {}, baseEnv: Deno.env.toObject(), owner };
  return (events) => StdioTransport.open({ ...program, command, args }, events);
}

function sdkProgram(...args: string[]): Open {
  const path = fromFileUrl(new URL("testing/stateless_server.ts", import.meta.url));
  return stdio(Deno.execPath(), ["run", "-A", "-q", "--lock", TEST_LOCK, path, ...args]);
}

/** A program that answers by the method of a line; what it does not know it ignores. */
function script(answers: Record<string, string>): Open {
  const cases = Object.entries(answers)
    .map(([method, action]) => `*'"method":"${method}"'*) ${action};;`);
  return stdio("sh", ["-c", `while read -r line; do case "$line" in ${cases.join("")} esac; done`]);
}

const INITIALIZED = `echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",` +
  `"capabilities":{},"serverInfo":{"name":"old"}}}'`;

async function callTool(connection: Connection, name: string, args: object = {}) {
  const params = JSON.stringify({ name, arguments: args });
  const call = { method: "tools/call", params, timeoutMs: 30_000, streams: true };
  const { text } = await connection.call(call);
  // deno-lint-ignore no-explicit-any
  return textOfResult(text) as any;
}

Deno.test("Connection.open() speaks 2026-07-28 to a server that knows nothing else, over HTTP", async () => {
  await using server = serveStateless();
  await using connection = await connect(http(server.url));
  assert.equal(connection.isStateless, true);
  assert.deepEqual(connection.info.serverInfo, { name: "stateless", version: "1.0.0" });
  assert.equal(connection.info.protocolVersion, "2026-07-28");
  assert.equal(connection.info.instructions, "Say please.");
  const result = await callTool(connection, "echo", { text: "hi" });
  assert.equal(result.content[0].text, '{"text":"hi"}');
  assert.deepEqual(server.methods, ["server/discover", "tools/call"]);
});

Deno.test("Connection.open() speaks 2026-07-28 over stdio, whatever it expected", async () => {
  for (const era of [undefined, "stateless", "sessions"] as const) {
    await using connection = await connect(sdkProgram(), { era });
    assert.equal(connection.isStateless, true);
    assert.equal(connection.nextEra, "stateless");
    const result = await callTool(connection, "echo", { text: "hi" });
    assert.equal(result.content[0].text, '{"text":"hi"}');
  }
});

Deno.test("Connection.open() prefers 2026-07-28 where a server speaks both", async () => {
  await using server = serveStateless("stateless");
  await using connection = await connect(http(server.url));
  assert.equal(connection.isStateless, true);
  await using known = await connect(http(server.url), { era: "sessions" });
  assert.equal(known.isStateless, false, "one that was known not to is not probed");
  assert.deepEqual(server.methods.slice(0, 2), ["server/discover", "initialize"]);
});

Deno.test("Connection.open() does not wait for a program that ignores what comes before initialize", async () => {
  const open = script({ initialize: INITIALIZED });
  await using connection = await connect(open, { probeMs: 10 });
  assert.equal(connection.isStateless, false);
  assert.equal(connection.nextEra, "sessions");
});

Deno.test("Connection.open() remembers a program that started too slowly for the probe", async () => {
  await using connection = await connect(sdkProgram("--both"), { probeMs: 1 });
  assert.equal(connection.isStateless, false, "it was initialized, and is held to that");
  assert.equal(connection.nextEra, "stateless");
  await using only = await connect(sdkProgram(), { probeMs: 1 });
  assert.equal(only.isStateless, true);
});

Deno.test("Connection.open() starts a program again that ends when it is probed", async () => {
  const open = script({ "server/discover": "exit 1", initialize: INITIALIZED });
  let closed = 0;
  const events = { onMessage: () => {}, onClose: () => void closed++, onLog: () => {} };
  {
    await using connection = await connect(open, { events });
    assert.equal(connection.info.serverInfo.name, "old");
    assert.equal(closed, 0);
  }
  await assert.rejects(connect(script({ initialize: "exit 3" })), /exited with code 3/);
});

Deno.test("Connection.open() notices a server that was downgraded", async () => {
  const server = new FakeServer();
  await using connection = await connect(server.open, { era: "stateless" });
  assert.equal(connection.isStateless, false);
  assert.equal(connection.nextEra, "sessions");
  assert.deepEqual(server.links[0]?.heard.slice(0, 2), ["server/discover", "initialize"]);
});

Deno.test("Connection.call() tells a stateless server whose call it is", async () => {
  await using server = serveStateless();
  await using connection = await connect(http(server.url));
  const params = '{"name":"whoami","_meta":{"progressToken":"a","x/y":1}}';
  const { text } = await connection.call({
    method: "tools/call",
    params,
    progressToken: "a",
    timeoutMs: 30_000,
    streams: true,
    logLevel: "debug",
    client: {
      protocolVersion: "2025-11-25",
      capabilities: { roots: {} },
      clientInfo: { name: "me", version: "1" },
    },
  });
  assert.match(text, /"name\\":\\"me\\"/);
  assert.match(text, /clientCapabilities\\":\{\\"roots\\":\{\}\}/);
  assert.match(text, /logLevel\\":\\"debug\\"/);
  assert.match(text, /x\/y\\":1/);
});

Deno.test("Connection.call() does not send a stateless server a method that no header can hold", async () => {
  await using server = serveStateless();
  await using connection = await connect(http(server.url));
  for (const method of ["", "tools list", "x\r\nevil: 1", "größe"]) {
    const { id, text } = await connection.call({ method, timeoutMs: 30_000, streams: true });
    assert.deepEqual(JSON.parse(text).id, id);
    assert.equal(JSON.parse(text).error.code, -32601);
  }
  assert.deepEqual(server.methods, ["server/discover"]);
});

function manage(url: string, options: Partial<ManagedServerOptions> = {}): ManagedServer {
  const server = new ManagedServer({
    server: { name: "test", spec: { type: "http", url, headers: {} }, source: { kind: "store" } },
    log: silentLog(),
    openTransport: (_, events) =>
      new FallbackTransport({ url, headers: {}, serverName: "test" }, events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
    ...options,
  });
  server.start();
  return server;
}

function toolCall(name: string, args: object = {}) {
  const params = JSON.stringify({ name, arguments: args });
  return { method: "tools/call", params, timeoutMs: 30_000, streams: true };
}

Deno.test("ManagedServer lists the tools again when a stateless server announces a change", async () => {
  await using http = serveStateless();
  const lists: string[][] = [];
  await using server = manage(http.url, {
    onTools(_, tools) {
      lists.push(tools);
      return Promise.resolve(tools.length);
    },
  });
  await until(() => http.methods.includes("subscriptions/listen"));
  assert.equal(server.isStateless, true);
  // What comes before the server has acknowledged the stream is not told.
  for (let nth = 0; lists.length < 2; nth++) {
    assert.ok(nth < 1_000, "no change was heard");
    await server.call(toolCall("grow", { name: `extra-${nth}` }));
  }
  assert.match(lists.at(-1)?.join() ?? "", /extra-/);
});

Deno.test("ManagedServer repeats in headers what a tool's schema asks for", async () => {
  await using http = serveStateless();
  await using server = manage(http.url);
  const { text } = await server.call(toolCall("echo", { text: "a", region: "Zürich" }));
  assert.match(text, /Zürich/);
  const [{ headers } = { headers: undefined }] = http.state.seen;
  assert.equal(headers?.get("mcp-method"), "tools/call");
  assert.equal(headers?.get("mcp-name"), "echo");
  assert.equal(headers?.get("mcp-param-region"), "=?base64?WsO8cmljaA==?=");
  assert.equal(headers?.get("mcp-protocol-version"), "2026-07-28");
});

Deno.test("ManagedServer does not probe a server again whose revision it knows", async () => {
  await using http = serveStateless("stateless");
  await using store = await Store.open({ location: ":memory:" });
  const eras = new EraMemory(new ServerErasRepository(store));
  const spec = { type: "http" as const, url: http.url, headers: {} };
  const entry = { name: "test", spec, source: { kind: "store" as const } };
  const connectOnce = async () => {
    http.methods.length = 0;
    await using server = manage(http.url, { eras });
    await server.connection();
    return http.methods.find((method) => ["server/discover", "initialize"].includes(method));
  };
  /** It is stored beside what the server does. */
  const isStored = async (era: string | undefined) => {
    for (let tries = 0; (await eras.recall(entry))?.era !== era; tries++) {
      assert.ok(tries < 5_000, `never ${era}`);
      await pause(5);
    }
  };
  assert.equal(await connectOnce(), "server/discover");
  await isStored("stateless");
  await eras.note(entry, { era: "sessions", version: "stateless 1.0.0" });
  assert.equal(await connectOnce(), "initialize");
  assert.equal((await eras.recall(entry))?.era, "sessions");
  assert.equal(await eras.recall({ ...entry, secretsStamp: "another" }), undefined);
  // Another version of the server may speak more than the one before.
  await eras.note(entry, { era: "sessions", version: "stateless 0.9.0" });
  assert.equal(await connectOnce(), "initialize");
  await isStored(undefined);
  assert.equal(await connectOnce(), "server/discover");
});

Deno.test("ManagedServer lists again what is good for a while only, unless changes are announced", async () => {
  const fake = new FakeServer();
  let lists = 0;
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "fake", version: "1" } };
  const capabilities = { tools: {} };
  fake.handlers.set("server/discover", () => ({
    supportedVersions: ["2026-07-28"],
    capabilities,
    _meta,
  }));
  fake.handlers.set("tools/list", () => ({ tools: [], ttlMs: 1, nth: ++lists }));
  const openTransport: ManagedServerOptions["openTransport"] = (_, events) => fake.open(events);
  const timings = { minTtl: 10 };
  {
    await using server = manage("http://unused.example/", { openTransport, timings });
    await until(() => lists > 3);
    assert.equal(server.isStateless, true);
  }
  capabilities.tools = { listChanged: true };
  lists = 0;
  await using server = manage("http://unused.example/", { openTransport, timings });
  await server.connection();
  await pause(50);
  assert.equal(lists, 1);
});

Deno.test("ManagedServer probes a program that fails to start only once", async () => {
  const fake = new FakeServer();
  fake.handlers.set("server/discover", (_, link) => link.close("lost", "it exited"));
  fake.handlers.set("initialize", (_, link) => link.close("lost", "it exited"));
  const spec = { type: "stdio" as const, command: "fake", args: [], env: {} };
  await using _ = manage("", {
    server: { name: "test", spec, source: { kind: "store" } },
    openTransport: (_, events) => Object.assign(fake.open(events), { abandon() {} }),
  });
  await until(() => fake.links.length >= 4);
  assert.deepEqual(fake.links.slice(0, 4).map(({ heard }) => heard[0]), [
    "server/discover",
    "initialize",
    "initialize",
    "initialize",
  ]);
});

Deno.test("LastEra remembers in the store that a server's questions do not name their call", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const memory = new EraMemory(new ServerErasRepository(store));
  const fake = new FakeServer();
  await using connection = await connect(fake.open, { era: "sessions" });
  const spec = { type: "stdio" as const, command: "fake", args: [], env: {} };
  const server = { name: "test", spec, source: { kind: "store" as const } };
  const first = new LastEra(memory);
  await first.note(server, connection);
  assert.equal(first.asksUnnamed, false);
  await first.noteAsking(server);
  assert.equal(first.asksUnnamed, true);
  const later = new LastEra(memory);
  assert.equal(await later.of(server), "sessions");
  assert.equal(later.asksUnnamed, true);
  const changed = { ...server, spec: { ...spec, command: "other" } };
  assert.equal(await later.of(changed), undefined);
  assert.equal(later.asksUnnamed, false, "another program may be another server");
});
