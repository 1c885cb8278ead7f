import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import type { PooledServer } from "./server.ts";
import { ServerPool, StartLimiter } from "./pool.ts";
import { FakeServer, silentLog, until } from "./testing/fake_server.ts";

function entry(name: string, path = ""): PooledServer {
  const url = `http://${name}.example/${path}`;
  return { name, spec: { type: "http", url, headers: {} }, source: { kind: "store" } };
}

function makePool() {
  const servers = new Map<string, FakeServer>();
  const removed: string[] = [];
  const fake = (name: string) => {
    const known = servers.get(name) ?? new FakeServer();
    servers.set(name, known);
    return known;
  };
  const pool = new ServerPool({
    log: silentLog(),
    openTransport: ({ name }, events) => fake(name).open(events),
    onStatus: () => {},
    onRemoved: (name) => removed.push(name),
    knownTools: () => Promise.resolve([]),
    onTools: (_, tools) => Promise.resolve(tools.length),
  });
  const areReady = () => pool.list().every(({ state }) => state === "ready");
  return { pool, fake, removed, areReady };
}

Deno.test("ServerPool.sync() starts, changes and ends what it must, and touches nothing else", async () => {
  const { pool, fake, removed, areReady } = makePool();
  await using _ = pool;
  pool.sync([entry("same"), entry("changed"), entry("gone")]);
  await until(areReady);
  const [same, changed] = [pool.find("same"), pool.find("changed")];
  pool.sync([entry("same"), entry("changed", "new"), entry("added")]);
  await until(areReady);
  assert.deepEqual(pool.list().map(({ name }) => name), ["added", "changed", "same"]);
  assert.deepEqual(removed, ["gone"]);
  assert.equal(pool.find("same"), same);
  assert.equal(fake("same").links.length, 1);
  assert.equal(pool.find("changed"), changed, "sessions hold on to it");
  assert.equal(fake("changed").links.length, 2);
  await until(() => fake("changed").alive.length === 1 && fake("gone").alive.length === 0);
});

Deno.test("ServerPool.sync() connects a server anew whose secret was set, and no other", async () => {
  const { pool, fake, areReady } = makePool();
  await using _ = pool;
  const stamped = (name: string, secretsStamp: string) => ({ ...entry(name), secretsStamp });
  pool.sync([stamped("a", "1"), stamped("b", "1")]);
  await until(areReady);
  pool.sync([stamped("a", "2"), stamped("b", "1")]);
  await until(() => fake("a").links.length === 2 && fake("a").alive.length === 1);
  assert.equal(fake("b").links.length, 1);
});

Deno.test("ServerPool.sync() is not held up by a server that hangs", async () => {
  const { pool, fake } = makePool();
  await using _ = pool;
  fake("hangs").silence("initialize");
  pool.sync([entry("hangs"), entry("good")]);
  await until(() => pool.find("good")?.status.state === "ready");
  assert.equal(pool.find("hangs")?.status.state, "starting");
  pool.sync([entry("good")]);
  await until(() => fake("hangs").alive.length === 0);
});

Deno.test("ServerPool.resolve() names what is near", async () => {
  const { pool } = makePool();
  await using _ = pool;
  pool.sync([entry("github")]);
  assert.throws(
    () => pool.resolve("gitub"),
    (error) =>
      error instanceof GatewayError && error.code === "SERVER_NOT_FOUND" &&
      error.toBody().hint === "Did you mean github?",
  );
});

Deno.test("ServerPool[Symbol.asyncDispose]() opens nothing for those that still wait for their turn", async () => {
  const { pool, fake } = makePool();
  const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
  const stopped = Promise.withResolvers<void>();
  for (const name of names) {
    fake(name).handlers.set("initialize", () => {
      stopped.resolve(pool[Symbol.asyncDispose]());
      return new Promise(() => {});
    });
  }
  pool.sync(names.map((name) => entry(name)));
  await stopped.promise;
  const opened = names.filter((name) => fake(name).links.length > 0);
  assert.ok(opened.length > 0 && opened.length <= 4, `${opened}`);
});

Deno.test("ServerPool[Symbol.asyncDispose]() ends all servers, those that are going included", async () => {
  const { pool, fake, areReady } = makePool();
  pool.sync([entry("a"), entry("b")]);
  await until(areReady);
  pool.sync([entry("a")]);
  await Promise.all([pool[Symbol.asyncDispose](), pool[Symbol.asyncDispose]()]);
  assert.deepEqual([...fake("a").alive, ...fake("b").alive], []);
  assert.deepEqual(pool.list(), []);
});

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("Turns.take() lets a few through at once, and the others turn by turn, in order", async () => {
  using turns = new StartLimiter(3);
  const through: number[] = [];
  const taken = Array.from({ length: 10 }, async (_, index) => {
    await turns.take();
    through.push(index);
  });
  await Promise.resolve();
  assert.deepEqual(through, [0, 1, 2]);
  const counts: number[] = [];
  for (let turn = 0; turn < 20 && through.length < 10; turn++) {
    await nextTurn();
    counts.push(through.length);
  }
  assert.ok(counts.length >= 3, `${counts}`);
  await Promise.all(taken);
  assert.deepEqual(through, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

Deno.test("Turns[Symbol.dispose]() keeps nobody waiting", async () => {
  const turns = new StartLimiter(1);
  const taken = [turns.take(), turns.take(), turns.take()];
  turns[Symbol.dispose]();
  await Promise.all(taken);
});
