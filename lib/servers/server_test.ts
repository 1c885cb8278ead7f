import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec, ServerStatus } from "../core/server.ts";
import { TransportClosed } from "./transports/transport.ts";
import { ManagedServer, type ManagedServerOptions } from "./server.ts";
import { startManaged } from "./testing/start_managed.ts";
import { FakeServer, pause, silentLog, until } from "./testing/fake_server.ts";

const REMOTE: ServerSpec = { type: "http", url: "http://fake.example/", headers: {} };
const LAZY: ServerSpec = { type: "stdio", command: "fake", args: [], env: {}, lazy: true };
const CALL = { method: "tools/call", params: "{}", timeoutMs: 5_000, streams: false };

function manage(
  server: FakeServer,
  options: Partial<ManagedServerOptions> & { spec?: ServerSpec } = {},
) {
  const states: string[] = [];
  const listed: string[][] = [];
  const { spec = REMOTE, ...rest } = options;
  const managed = new ManagedServer({
    server: { name: "fake", spec, source: { kind: "store" } },
    log: silentLog(),
    openTransport: (_, events) => server.open(events),
    onStatus: ({ state }: ServerStatus) => {
      if (states.at(-1) !== state) states.push(state);
    },
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => {
      listed.push(tools);
      return Promise.resolve(tools.length);
    },
    ...rest,
  });
  return { managed, states, listed };
}

async function connect(server: FakeServer, options: Parameters<typeof manage>[1] = {}) {
  const parts = manage(server, options);
  parts.managed.start();
  await until(() => parts.managed.status.state === "ready");
  return parts;
}

function isDisconnected(words: RegExp) {
  return (error: unknown) =>
    error instanceof GatewayError && error.code === "SERVER_DISCONNECTED" &&
    words.test(error.message) && error.toBody().recoverySteps.length > 1;
}

Deno.test("ManagedServer.start() connects, lists and says so", async () => {
  const server = new FakeServer();
  const { managed, states, listed } = await connect(server);
  await using _ = managed;
  assert.deepEqual(states, ["starting", "ready"]);
  assert.equal(managed.status.toolCount, 1);
  assert.equal(listed.length, 1);
  assert.equal(managed.info?.serverInfo.name, "fake");
});

Deno.test("ManagedServer stays failed while it is retried for a package that does not exist", async () => {
  let tries = 0;
  const { managed, states } = manage(new FakeServer(), {
    openTransport(_, events) {
      tries++;
      events.onInstall?.("npx is installing nopkg");
      events.onInstall?.(undefined);
      throw new TransportClosed(
        "closed",
        "exited with code 1. Output: npm error 404 Not Found: nopkg",
      );
    },
  });
  await using _ = managed;
  managed.start();
  await until(() => tries > 2);
  assert.deepEqual(states, ["starting", "installing", "starting", "failed"]);
});

Deno.test("ManagedServer.call() waits for a first connection, fails its own call when it breaks, and reconnects for the next", async () => {
  const server = new FakeServer();
  const { managed } = manage(server);
  await using _ = managed;
  managed.start();
  await managed.call(CALL);
  server.silence("tools/call");
  const calling = managed.call(CALL);
  await until(() => server.links[0]?.heard.at(-1) === "tools/call");
  server.links[0]?.close();
  await assert.rejects(calling, isDisconnected(/the wire broke/));
  assert.equal(managed.status.state, "degraded");
  server.handlers.delete("tools/call");
  await managed.call(CALL);
  assert.equal(server.alive.length, 1);
});

Deno.test("ManagedServer.call() fails fast once a second try has failed, and works when a later one does", async () => {
  const server = new FakeServer();
  const { managed, states } = await connect(server);
  await using _ = managed;
  server.refusal = new TransportClosed("lost", "the connection was refused");
  server.links[0]?.close();
  await assert.rejects(managed.call(CALL), isDisconnected(/is failed: the connection was refused/));
  server.silence("initialize");
  server.refusal = undefined;
  // The next try hangs; nobody has to wait for it.
  await until(() => server.links.length === 2);
  await assert.rejects(managed.call(CALL), isDisconnected(/is failed: the connection was refused/));
  server.handlers.delete("initialize");
  server.links[1]?.close();
  await until(() => managed.status.state === "ready");
  await managed.call(CALL);
  assert.deepEqual(states, ["starting", "ready", "degraded", "failed", "ready"]);
  assert.equal(managed.status.lastError, "the wire broke");
});

Deno.test("ManagedServer.call() shares one new connection among all whose session was forgotten", async () => {
  const server = new FakeServer();
  const { managed } = await connect(server);
  await using _ = managed;
  server.handlers.set("tools/call", async (_, transport) => {
    // Refused one after the other, some of them after the new connection is there.
    if (transport !== server.links[0]) return {};
    await pause(server.links[0].heard.length * 10);
    throw new TransportClosed("session", "no such session");
  });
  await Promise.all(Array.from({ length: 10 }, () => managed.call(CALL)));
  assert.equal(server.links.length, 2);
  assert.equal(server.alive.length, 1);
});

Deno.test("ManagedServer.call() on a server that wants a login leads to needs_login", async () => {
  const server = new FakeServer();
  const { managed } = await connect(server);
  await using _ = managed;
  server.handlers.set("tools/call", () => {
    throw new TransportClosed("login", "HTTP 401 from fake.example");
  });
  await assert.rejects(managed.call(CALL), /is needs login: The server requires a login: HTTP 401/);
  assert.equal(managed.status.state, "needs_login");
  await pause(600);
  assert.equal(server.links.length, 1, "it is not tried again without a login");
});

Deno.test("ManagedServer finds a server that stops answering pings, and reconnects", async () => {
  const server = new FakeServer();
  const timings = { pingEvery: 30, pingTimeout: 30 };
  const { managed, states } = await connect(server, { timings });
  await using _ = managed;
  await until(() => server.links[0]?.heard.filter((method) => method === "ping").length === 2);
  server.silence("ping");
  await until(() => managed.status.state === "degraded");
  assert.match(managed.status.reason, /did not answer ping within 30 ms; retrying soon$/);
  assert.ok((managed.status.retryAt ?? 0) >= managed.status.since);
  server.handlers.delete("ping");
  await until(() => managed.status.state === "ready");
  assert.equal(managed.status.retryAt, undefined);
  assert.deepEqual(states, ["starting", "ready", "degraded", "ready"]);
  assert.equal(server.alive.length, 1);
});

Deno.test("ManagedServer does not end a server that is too busy with a call to answer pings", async () => {
  const server = new FakeServer();
  const timings = { pingEvery: 30, pingTimeout: 30 };
  const { managed, states } = await connect(server, { timings });
  await using _ = managed;
  server.silence("ping");
  const work = Promise.withResolvers();
  server.handlers.set("tools/call", () => work.promise);
  const calling = managed.call(CALL);
  await until(() => managed.status.state === "degraded");
  await pause(150);
  server.handlers.delete("ping");
  work.resolve({});
  await calling;
  await until(() => managed.status.state === "ready");
  assert.deepEqual(states, ["starting", "ready", "degraded", "ready"]);
  assert.equal(server.links.length, 1);
});

Deno.test("ManagedServer gives up a silent server that is called without end", async () => {
  const server = new FakeServer();
  const timings = { pingEvery: 30, pingTimeout: 30 };
  const { managed } = await connect(server, { timings, spec: { ...REMOTE, timeoutMs: 100 } });
  await using _ = managed;
  server.silence("ping");
  server.silence("tools/call");
  const calls: Promise<unknown>[] = [];
  const timer = setInterval(() => calls.push(managed.call(CALL).catch(() => {})), 20);
  await until(() => server.links.length === 2);
  clearInterval(timer);
  await managed[Symbol.asyncDispose]();
  await Promise.all(calls);
});

Deno.test("ManagedServer starts a lazy server once for all callers, stops it when idle, and starts it again", async () => {
  const server = new FakeServer();
  const known = [JSON.stringify({ name: "look", inputSchema: { type: "object" } })];
  const { managed } = await connect(server, {
    spec: LAZY,
    knownTools: () => Promise.resolve(known),
    timings: { lazyIdle: 80 },
  });
  await using _ = managed;
  assert.match(managed.status.reason, /^Asleep/);
  assert.equal(managed.status.toolCount, 1);
  assert.equal(server.links.length, 0);
  await Promise.all(Array.from({ length: 50 }, () => managed.call(CALL)));
  assert.equal(server.links.length, 1);
  const work = Promise.withResolvers();
  server.handlers.set("tools/call", () => work.promise);
  const calling = managed.call(CALL);
  await pause(200);
  assert.equal(server.alive.length, 1, "it is not stopped in the middle of a call");
  work.resolve({});
  await calling;
  await until(() => managed.status.reason.startsWith("Asleep"));
  assert.equal(server.alive.length, 0);
  await managed.call(CALL);
  assert.equal(server.links.length, 2);
});

Deno.test("ManagedServer stops a program after the idle time in its entry, lazy or not", async () => {
  const server = new FakeServer();
  const spec = { ...LAZY, lazy: false, idleTimeoutMs: 40 };
  const { managed } = await connect(server, { spec });
  await using _ = managed;
  await until(() => managed.isAsleep);
  assert.equal(server.alive.length, 0);
  await managed.call(CALL);
  assert.equal(server.links.length, 2);
});

Deno.test("ManagedServer starts a lazy server whose tools nobody knows", async () => {
  const server = new FakeServer();
  const { managed } = await connect(server, { spec: LAZY });
  await using _ = managed;
  assert.equal(managed.status.reason, "Connected");
});

Deno.test("ManagedServer says what a server that hangs at start wrote last", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  const { managed } = manage(server, { timings: { start: 50 } });
  await using _ = managed;
  managed.start();
  await until(() => server.links.length === 1);
  server.links[0]?.write("Waiting for the database");
  await until(() => managed.status.state === "failed");
  assert.equal(
    managed.status.lastError,
    'Server "fake" did not complete the MCP handshake within 50 ms. Last output: Waiting for the database',
  );
  assert.equal(managed.log.last().length, 1);
});

Deno.test("ManagedServer falls back on the tools it knows while a server is away", async () => {
  const server = new FakeServer();
  server.refusal = new TransportClosed("lost", "the connection was refused");
  const { managed, listed } = manage(server, { knownTools: () => Promise.resolve(["{}", "{}"]) });
  await using _ = managed;
  managed.start();
  await until(() => managed.status.state === "failed");
  assert.deepEqual(listed, [["{}", "{}"]]);
  assert.equal(managed.status.toolCount, 2);
});

Deno.test("ManagedServer.start() lists the tools of the last run, and then those that the server lists", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  const { managed, listed, states } = manage(server, {
    knownTools: () => Promise.resolve(["{}", "{}"]),
  });
  await using _ = managed;
  managed.start();
  await until(() => managed.status.toolCount === 2);
  assert.equal(managed.status.state, "starting");
  server.handlers.delete("initialize");
  await managed.restart();
  assert.equal(managed.status.toolCount, 1);
  assert.deepEqual(listed.map(({ length }) => length), [2, 1]);
  assert.deepEqual(states, ["starting", "ready"]);
});

Deno.test("ManagedServer never replaces listed tools with remembered ones, however late those arrive", async () => {
  const server = new FakeServer();
  const remembered = Promise.withResolvers<string[]>();
  const { managed, listed } = manage(server, { knownTools: () => remembered.promise });
  await using _ = managed;
  managed.start();
  await until(() => server.links[0]?.heard.at(-1) === "tools/list");
  remembered.resolve(["{}", "{}"]);
  await until(() => managed.status.state === "ready");
  assert.deepEqual(listed.map(({ length }) => length), [2, 1]);
  assert.equal(managed.status.toolCount, 1);
});

Deno.test("ManagedServer.call() waits for a starting server up to a limit, then fails with SERVER_STARTING", async () => {
  const server = new FakeServer();
  server.silence("initialize");
  const { managed } = manage(server, { timings: { startWait: 50 } });
  await using _ = managed;
  managed.start();
  const isStarting = (error: unknown) =>
    error instanceof GatewayError && error.code === "SERVER_STARTING" &&
    error.toBody().recoveryAction === "Try again in a moment";
  await assert.rejects(managed.call(CALL), isStarting);
  assert.equal(server.links.length, 1);
  assert.equal(server.alive.length, 1, "the start goes on");
});

Deno.test("ManagedServer.call() waits for a restart", async () => {
  const server = new FakeServer();
  const { managed } = await connect(server);
  await using _ = managed;
  const restarting = managed.restart();
  await managed.call(CALL);
  await restarting;
  assert.equal(server.links.length, 2);
});

Deno.test("ManagedServer.call() gives log messages to the only client whose calls are in flight", async () => {
  const fake = new FakeServer();
  for (const method of ["tools/call", "prompts/list"]) fake.silence(method);
  const masked: string[] = [];
  await using server = await startManaged(fake, {
    mask: (line) => (masked.push(line), "masked"),
  });
  const heard: string[] = [];
  const profile = { protocolVersion: "2025-11-25", capabilities: {} };
  const [ada, eve] = [{ ...profile }, { ...profile }];
  const stop = new AbortController();
  const call = (client: typeof ada, name: string, method = "tools/call") => {
    const calling = server.call({
      method,
      client,
      timeoutMs: 10_000,
      streams: false,
      signal: stop.signal,
      onMessage: (_, message) => {
        if (message.kind === "notification") heard.push(`${name} ${message.params.data}`);
      },
    });
    calling.catch(() => {});
  };
  const tell = (data: string) =>
    fake.links[0]!.tell("notifications/message", { level: "info", logger: "app", data });
  tell("idle");
  call(ada, "first");
  call(ada, "second");
  await until(() => fake.links[0]!.heard.filter((method) => method === "tools/call").length === 2);
  call(ada, "list", "prompts/list");
  await until(() => fake.links[0]!.heard.includes("prompts/list"));
  tell("alone");
  call(eve, "other");
  await until(() => fake.links[0]!.heard.filter((method) => method === "tools/call").length === 3);
  tell("both");
  stop.abort();
  assert.deepEqual(heard, ["second alone"]);
  assert.deepEqual(masked, ["[info] app: idle", "[info] app: both"]);
  assert.deepEqual(server.log.last(2).map(({ line }) => line), ["masked", "masked"]);
});
