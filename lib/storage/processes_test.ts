import assert from "node:assert/strict";
import { followGeneration } from "./follow.ts";
import { keys } from "./keys.ts";
import { Store } from "./store.ts";
import { killLoop } from "./testing/kill_loop.ts";
import { withFile } from "./testing/places.ts";
import { spawnChild } from "./testing/spawn_child.ts";

Deno.test("Store.commit() loses no compare-and-set of two processes", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const children = [spawnChild(path, "count", "100"), spawnChild(path, "count", "100")];
    const outputs = await Promise.all(children.map((child) => child.output()));
    assert.deepEqual(outputs.map(({ code }) => code), [0, 0]);
    assert.equal((await store.read(keys.settings("count")))?.value, 200);
    assert.equal(await store.generation(), 200n);
  }));

Deno.test("Store.commit() leaves the old or the new record when it is killed", () =>
  withFile(async (path) => {
    const { saves } = await killLoop(path, 8);
    assert(saves >= 8, `only ${saves} saves in 8 runs`);
  }));

Deno.test("followGeneration() hears another process without asking", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const stop = new AbortController();
    let heard = Promise.withResolvers<bigint>();
    const options = { signal: stop.signal, since: 0n, pollMs: 3_600_000 };
    const following = followGeneration(store, (generation) => heard.resolve(generation), options);
    for (let generation = 1n; generation <= 3n; generation++) {
      assert((await spawnChild(path, "announce", "1").output()).success);
      assert.equal(await heard.promise, generation);
      heard = Promise.withResolvers();
    }
    stop.abort();
    await following;
  }));

Deno.test("followGeneration() leaves the database its locks, so that others leave its log", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const stop = new AbortController();
    const following = followGeneration(store, () => {}, { signal: stop.signal });
    for (let round = 1; round <= 3; round++) {
      await store.commit({ sets: [{ key: keys.settings("round"), value: round }] });
      // Whoever closes a database last deletes its log; this child must not think that it is last.
      assert((await spawnChild(path, "count", "2").output()).success);
      assert((await Deno.stat(`${path}-wal`)).isFile);
    }
    stop.abort();
    await following;
    assert.equal((await store.read(keys.settings("count")))?.value, 6);
  }));
