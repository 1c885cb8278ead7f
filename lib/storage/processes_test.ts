import assert from "node:assert/strict";
import { followGeneration } from "./generation.ts";
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
    assert.equal((await store.read(keys.setting("count")))?.value, 200);
    assert.equal(await store.generation(), 200n);
  }));

Deno.test("Store.commit() leaves the old or the new record when it is killed", () =>
  withFile(async (path) => {
    const { saves } = await killLoop(path, 8);
    assert(saves >= 8, `only ${saves} saves in 8 runs`);
  }));

Deno.test("followGeneration() hears another process at once", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const heardAt = new Map<bigint, number>();
    const stop = new AbortController();
    const following = followGeneration(store, (generation) => {
      heardAt.set(generation, Date.now());
    }, { signal: stop.signal, since: 0n });
    const output = await spawnChild(path, "announce", "10").output();
    await new Promise((resolve) => setTimeout(resolve, 500));
    stop.abort();
    await following;
    const lines = new TextDecoder().decode(output.stdout).trim().split("\n");
    assert.equal(lines.length, 10);
    for (const line of lines) {
      const [generation = "", at = ""] = line.split(" ");
      const heard = heardAt.get(BigInt(generation));
      assert(heard !== undefined, `generation ${generation} was not heard of`);
      // Sooner than the slow poll behind the watch could have told.
      assert(heard - Number(at) < 1_500, `generation ${generation}: ${heard - Number(at)} ms`);
    }
  }));

Deno.test("followGeneration() leaves the database its locks, so that others leave its log", () =>
  withFile(async (path) => {
    await using store = await Store.open({ location: path });
    const stop = new AbortController();
    const following = followGeneration(store, () => {}, { signal: stop.signal });
    for (let round = 1; round <= 3; round++) {
      await store.commit({ sets: [{ key: keys.setting("round"), value: round }] });
      // Whoever closes a database last deletes its log; this child must not think that it is last.
      assert((await spawnChild(path, "count", "2").output()).success);
      assert((await Deno.stat(`${path}-wal`)).isFile);
    }
    stop.abort();
    await following;
    assert.equal((await store.read(keys.setting("count")))?.value, 6);
  }));
