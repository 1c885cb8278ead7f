import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import type { TransportClosed } from "./transports/transport.ts";
import { ManagedServer } from "./server.ts";
import type { ConnectionUse } from "./own_connections.ts";
import { FakeServer, pause, silentLog, until } from "./testing/fake_server.ts";
import type { Timings } from "./shared_connection.ts";

const SPEC: ServerSpec = { type: "http", url: "http://fake.example/", headers: {} };
const CALL = { method: "tools/call", params: "{}", timeoutMs: 5_000, streams: false };

/** A server that at most two clients can have connections of their own to. */
async function start(timings: Partial<Timings> = {}) {
  const server = new FakeServer();
  const managed = new ManagedServer({
    server: { name: "fake", spec: SPEC, source: { kind: "store" } },
    log: silentLog(),
    openTransport: (_, events) => server.open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
    timings,
    maxOwn: 2,
  });
  managed.start();
  await until(() => managed.status.state === "ready");
  const closed: string[] = [];
  async function open(name: string, stake: ConnectionUse = "nothing") {
    const onClose = ({ kind }: TransportClosed) => void closed.push(`${name}: ${kind}`);
    const connection = await managed.openOwn({
      capabilities: { roots: {} },
      stake: () => stake,
      events: { onMessage: () => {}, onClose, onLog: () => {} },
    });
    // Which one is idle for longer is told in ms.
    await pause(3);
    return connection;
  }
  return {
    server,
    managed,
    open,
    closed,
    [Symbol.asyncDispose]: () => managed[Symbol.asyncDispose](),
  };
}

function isLimit(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "LIMIT_EXCEEDED";
}

Deno.test("OwnConnections.open() ends the longest idle connection where there are too many", async () => {
  await using fake = await start();
  const first = await fake.open("first");
  await fake.open("second");
  await first.call(CALL);
  await pause(3);
  await fake.open("third");
  assert.deepEqual(fake.closed, ["second: closed"]);
  await fake.open("fourth");
  assert.deepEqual(fake.closed, ["second: closed", "first: closed"]);
  assert.equal(fake.server.alive.length, 3);
});

Deno.test("OwnConnections.open() ends a connection with something at stake last, and none with calls", async () => {
  await using fake = await start();
  fake.server.silence("tools/call");
  await fake.open("subscribed", "state");
  const busy = await fake.open("busy");
  const calling = busy.call(CALL).catch(() => {});
  await fake.open("third", "calls");
  assert.deepEqual(fake.closed, ["subscribed: closed"]);
  await assert.rejects(fake.open("fourth"), isLimit);
  assert.deepEqual(fake.closed, ["subscribed: closed"]);
  await fake.managed[Symbol.asyncDispose]();
  await calling;
});

Deno.test("OwnConnections.open() prefers one with nothing at stake, however lately it was used", async () => {
  await using fake = await start();
  await fake.open("subscribed", "state");
  await fake.open("idle");
  await fake.open("third");
  assert.deepEqual(fake.closed, ["idle: closed"]);
});

Deno.test("OwnConnections.open() waits until the one that makes room is gone", async () => {
  await using fake = await start();
  await fake.open("first");
  await fake.open("second");
  const gone = Promise.withResolvers<void>();
  const transport = fake.server.links[1];
  assert.ok(transport);
  const dispose = transport[Symbol.asyncDispose].bind(transport);
  transport[Symbol.asyncDispose] = async () => {
    await gone.promise;
    await dispose();
  };
  const opening = fake.open("third");
  await pause(10);
  assert.equal(fake.server.links.length, 3);
  gone.resolve();
  await opening;
  assert.equal(fake.server.links.length, 4);
});

Deno.test("OwnConnections end by themselves when they are idle, unless something is at stake", async () => {
  await using fake = await start({ ownIdle: 20 });
  await fake.open("subscribed", "state");
  await fake.open("idle");
  await until(() => fake.closed.length === 1);
  await pause(50);
  assert.deepEqual(fake.closed, ["idle: closed"]);
  assert.equal(fake.server.alive.length, 2);
});

Deno.test("OwnConnections do not end while a call is in flight, however silent the server is", async () => {
  await using fake = await start({ ownIdle: 20 });
  const work = Promise.withResolvers();
  fake.server.handlers.set("tools/call", () => work.promise);
  const busy = await fake.open("busy");
  const calling = busy.call(CALL);
  await pause(60);
  assert.deepEqual(fake.closed, []);
  work.resolve({});
  await calling;
  await until(() => fake.closed.length === 1);
});

Deno.test("OwnConnections are lost to their clients when the server is restarted", async () => {
  await using fake = await start();
  await fake.open("first");
  await fake.managed.restart();
  assert.deepEqual(fake.closed, ["first: lost"]);
});
