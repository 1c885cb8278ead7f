import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import { TransportClosed } from "./transports/transport.ts";
import { ManagedServer, type ManagedServerOptions } from "./server.ts";
import { FakeServer, pause, silentLog, until } from "./testing/fake_server.ts";

const SPEC: ServerSpec = { type: "http", url: "http://fake.example/", headers: {} };
const ENTRY = { name: "fake", spec: SPEC, source: { kind: "store" } } as const;
const CALL = { method: "tools/call", params: "{}", timeoutMs: 5_000, streams: false };
const CLIENT = {
  capabilities: { roots: {} },
  events: { onMessage: () => {}, onClose: () => {}, onLog: () => {} },
};

function start(server: FakeServer, options: Partial<ManagedServerOptions> = {}) {
  const managed = new ManagedServer({
    server: ENTRY,
    log: silentLog(),
    openTransport: (_, events) => server.open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
    ...options,
  });
  managed.start();
  return managed;
}

async function connect(server: FakeServer, options: Partial<ManagedServerOptions> = {}) {
  const managed = start(server, options);
  await until(() => managed.status.state === "ready");
  return managed;
}

Deno.test("ManagedServer[Symbol.asyncDispose]() leaves nothing of a connection that is being made", async () => {
  for (const method of ["initialize", "tools/list"]) {
    const server = new FakeServer();
    const taken: string[][] = [];
    server.silence(method);
    const onTools = (_: string, tools: string[]) => Promise.resolve(taken.push(tools));
    const managed = start(server, { onTools, knownTools: () => Promise.resolve(["{}"]) });
    await until(() => server.links[0]?.heard.at(-1) === method);
    const calling = managed.call(CALL);
    assert.deepEqual(taken, [["{}"]], "those of the last run");
    await managed[Symbol.asyncDispose]();
    await assert.rejects(calling, /was closed: it is being stopped/);
    assert.deepEqual(server.alive, []);
    await pause(600);
    assert.equal(server.links.length, 1, "it is not tried again");
    assert.equal(taken.length, 1, "tools of a removed server would come back into the catalog");
    await assert.rejects(managed.call(CALL), GatewayError);
  }
});

Deno.test("ManagedServer.restart() gives up a try that hangs, and is one for all who ask", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  await using managed = start(server);
  await until(() => server.links.length === 1);
  server.handlers.delete("initialize");
  await Promise.all([managed.restart(), managed.restart(), managed.restart()]);
  assert.equal(managed.status.state, "ready");
  assert.equal(server.links.length, 2);
  assert.equal(server.alive.length, 1);
});

Deno.test("ManagedServer.restart() with a repair takes over from a restart that hangs", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  await using managed = start(server);
  await until(() => server.links.length === 1);
  const hanging = managed.restart();
  await until(() => server.links.length === 2);
  const alive: number[] = [];
  const repaired = managed.restart(() => {
    alive.push(server.alive.length);
    server.handlers.delete("initialize");
    return Promise.resolve();
  });
  await assert.rejects(hanging, /was closed: it is being restarted/);
  await repaired;
  assert.deepEqual([alive, managed.status.state, server.links.length], [[0], "ready", 3]);
});

Deno.test("ManagedServer.restart() leaves a server off that is paused, before or during a repair", async () => {
  const server = new FakeServer();
  await using managed = await connect(server);
  const repair = Promise.withResolvers<void>();
  const repaired = managed.restart(() => repair.promise);
  await until(() => server.alive.length === 0);
  managed.update({ ...managed.server, isPaused: true });
  repair.reject(new Error("It cannot be repaired"));
  await assert.rejects(repaired, /It cannot be repaired/);
  await assert.rejects(managed.restart(), { code: "SERVER_NOT_RUNNING" });
  assert.deepEqual([managed.status.state, server.links.length], ["paused", 1]);
});

Deno.test("ManagedServer is not ready on a transport that broke while its tools were stored", async () => {
  const server = new FakeServer();
  const storing = Promise.withResolvers<void>();
  let stored = 0;
  await using managed = start(server, {
    async onTools(_, tools) {
      if (stored++ === 0) await storing.promise;
      return tools.length;
    },
  });
  await until(() => stored === 1);
  server.links[0]?.close();
  storing.resolve();
  await until(() => managed.status.state === "failed");
  await until(() => managed.status.state === "ready");
  await managed.call(CALL);
  assert.equal(server.links.length, 2);
});

Deno.test("ManagedServer lists again when the tools change while they are listed", async () => {
  const server = new FakeServer();
  let lists = 0;
  server.handlers.set("tools/list", (_, transport) => {
    if (++lists === 1) transport.tell("notifications/tools/list_changed");
    return { tools: Array.from({ length: lists }, (_, n) => ({ name: `tool_${n}` })) };
  });
  await using managed = await connect(server);
  await until(() => managed.status.toolCount === 2);
  assert.equal(lists, 2);
});

Deno.test("ManagedServer.refreshTools() lists once for a burst of changes, and never in a tight loop", async () => {
  const server = new FakeServer();
  let lists = 0;
  server.handlers.set("tools/list", async (_, transport) => {
    lists++;
    // A server that announces a change with every list.
    if (lists > 1) transport.tell("notifications/tools/list_changed");
    await pause(1);
    return { tools: [] };
  });
  await using managed = await connect(server);
  for (let n = 0; n < 100; n++) server.links[0]?.tell("notifications/tools/list_changed");
  await pause(300);
  assert.ok(lists >= 2 && lists <= 3, `${lists} lists`);
  assert.equal(managed.status.state, "ready");
});

Deno.test("ManagedServer answers a server's ping and refuses all else on the shared connection", async () => {
  const server = new FakeServer();
  await using managed = await connect(server);
  server.links[0]?.ask("a", "ping");
  server.links[0]?.ask("b", "roots/list");
  assert.equal(managed.status.state, "ready");
  assert.deepEqual(server.links[0]?.heard.slice(-2).map((text) => JSON.parse(text)), [
    { jsonrpc: "2.0", id: "a", result: {} },
    {
      jsonrpc: "2.0",
      id: "b",
      error: { code: -32601, message: "The client does not support roots/list" },
    },
  ]);
});

Deno.test("ManagedServer.update() connects anew and lets calls in flight finish where they began", async () => {
  const server = new FakeServer();
  const specs: string[] = [];
  const openTransport: ManagedServerOptions["openTransport"] = ({ spec }, events) => {
    specs.push(spec.type === "http" ? spec.url : spec.type);
    return server.open(events);
  };
  await using managed = await connect(server, { openTransport });
  let isToldToMove = false;
  const onClose = () => void (isToldToMove = true);
  const own = await managed.openOwn({ ...CLIENT, events: { ...CLIENT.events, onClose } });
  const work = Promise.withResolvers();
  server.handlers.set("tools/call", () => work.promise);
  const calls = [managed.call(CALL), own.call(CALL)];
  const url = "http://other.example/";
  managed.update({ ...ENTRY, spec: { ...SPEC, url } });
  await until(() => managed.status.state === "ready" && server.links.length === 3);
  assert.equal(server.alive.length, 3);
  assert.ok(isToldToMove, "the client's next call needs a new connection");
  assert.deepEqual(specs, [SPEC.url, SPEC.url, url]);
  work.resolve({});
  await Promise.all(calls);
  await until(() => server.alive.length === 1);
  await managed.call(CALL);
  assert.equal(server.links[2]?.heard.at(-1), "tools/call");
});

Deno.test("ManagedServer[Symbol.asyncDispose]() does not wait for calls that an update let go on", async () => {
  const server = new FakeServer();
  const managed = await connect(server);
  const own = await managed.openOwn(CLIENT);
  server.silence("tools/call");
  const calls = [managed.call(CALL), own.call(CALL)].map((call) => call.catch(() => {}));
  managed.update({ ...ENTRY, spec: { ...SPEC, url: "http://other.example/" } });
  await until(() => managed.status.state === "ready" && server.links.length === 3);
  await managed[Symbol.asyncDispose]();
  assert.deepEqual(server.alive, []);
  await Promise.all(calls);
});

Deno.test("ManagedServer.update() switches a server off", async () => {
  const server = new FakeServer();
  await using managed = await connect(server);
  managed.update({ ...ENTRY, spec: { ...SPEC, disabled: true } });
  assert.equal(managed.status.state, "disabled");
  await until(() => server.alive.length === 0);
  const isOff = (error: unknown) =>
    error instanceof GatewayError && error.code === "SERVER_NOT_RUNNING";
  await assert.rejects(managed.call(CALL), isOff);
  await assert.rejects(managed.openOwn(CLIENT), isOff);
});

Deno.test("ManagedServer.update() takes a server's tools away while it is off", async () => {
  const server = new FakeServer();
  const listed: string[] = [];
  await using managed = await connect(server, {
    onTools: (_, tools) => Promise.resolve(listed.push("on") && tools.length),
    onSwitchedOff: () => void listed.push("off"),
  });
  managed.update({ ...ENTRY, spec: { ...SPEC, disabled: true } });
  assert.deepEqual(listed, ["on", "off"]);
  assert.equal(managed.status.toolCount, 0);
  assert.equal(managed.info, undefined);
  managed.update(ENTRY);
  await until(() => managed.status.state === "ready");
  assert.deepEqual(listed, ["on", "off", "on"]);
  assert.equal(managed.status.toolCount, 1);
});

Deno.test("ManagedServer.update() lists nothing of a lazy server that is switched off while its tools are recalled", async () => {
  const server = new FakeServer();
  const known = Promise.withResolvers<string[]>();
  const listed: string[][] = [];
  const spec: ServerSpec = { type: "stdio", command: "fake", args: [], env: {}, lazy: true };
  await using managed = start(server, {
    server: { ...ENTRY, spec },
    knownTools: () => known.promise,
    onTools: (_, tools) => Promise.resolve(listed.push(tools)),
  });
  managed.update({ ...ENTRY, spec: { ...spec, disabled: true } });
  known.resolve(['{"name":"look"}']);
  await pause(10);
  assert.deepEqual(listed, []);
  assert.equal(managed.status.state, "disabled");
});

Deno.test("ManagedServer.openOwn() has a limit, which counts those that are being opened", async () => {
  const server = new FakeServer();
  await using managed = await connect(server);
  const results = await Promise.allSettled(
    Array.from({ length: 110 }, () => managed.openOwn(CLIENT)),
  );
  const opened = results.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  assert.equal(opened.length, 100);
  await opened[0]!.end(0);
  server.links[5]?.close();
  const busy = { ...CLIENT, stake: () => "calls" as const };
  await Promise.all([managed.openOwn(busy), managed.openOwn(busy)]);
  assert.equal(server.alive.length, 101, "with the shared one, and nobody had to make room");
  await managed[Symbol.asyncDispose]();
  assert.deepEqual(server.alive, []);
});

Deno.test("ManagedServer.openOwn() leaves nothing when the server is stopped meanwhile", async () => {
  const server = new FakeServer();
  const managed = await connect(server);
  server.silence("initialize");
  const opening = managed.openOwn(CLIENT);
  await until(() => server.links.length === 2);
  await managed[Symbol.asyncDispose]();
  await assert.rejects(opening, /was stopped/);
  assert.deepEqual(server.alive, []);
});

Deno.test("ManagedServer.update() stops retrying when the entry is paused, and reconnects when it is resumed", async () => {
  const server = new FakeServer();
  server.refusal = new TransportClosed("lost", "the connection was refused");
  let isOff = false;
  await using managed = start(server, { onSwitchedOff: () => isOff = true });
  await until(() => managed.status.state === "failed");
  managed.update({ ...managed.server, isPaused: true });
  assert.deepEqual(
    [managed.status.state, managed.status.reason, managed.status.retryAt, isOff],
    ["paused", "Paused by the owner", undefined, true],
  );
  server.refusal = undefined;
  // Where another try were to come, a call would wait for it.
  await assert.rejects(managed.call(CALL), { code: "SERVER_NOT_RUNNING" });
  const { isPaused: _, ...resumed } = managed.server;
  managed.update(resumed);
  await until(() => managed.status.state === "ready");
});
