import assert from "node:assert/strict";
import { keys, UNPORTABLE_ROOTS } from "./keys.ts";
import { Store } from "./store.ts";
import { VectorsRepository } from "./catalog_repositories.ts";

Deno.test("VectorsRepository keeps vectors by model and hash", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const vectors = new VectorsRepository(store);
  const many = new Map(
    Array.from({ length: 450 }, (_, n) => [`h${n}`, Int8Array.from([n % 128, -n % 128, 0])]),
  );
  await vectors.save("one", many);
  await vectors.save("one", new Map([["large", new Int8Array(100_000).fill(-7)]]));
  const found = await vectors.find("one", ["h3", "h449", "large", "none"]);
  assert.deepEqual([...found.keys()], ["h3", "h449", "large"]);
  assert.deepEqual(found.get("h3"), Int8Array.from([3, -3, 0]));
  assert.equal(found.get("large")!.length, 100_000);
  assert.equal((await vectors.find("two", ["h3"])).size, 0);
});

Deno.test("VectorsRepository.prune() deletes what nobody uses once that is too much", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const vectors = new VectorsRepository(store);
  await vectors.save("m", new Map(["a", "b", "c"].map((hash) => [hash, Int8Array.of(1)])));
  assert.equal(await vectors.prune("m", new Set(["a"]), 2), 0);
  assert.equal(await vectors.prune("m", new Set(["a"]), 1), 2);
  assert.deepEqual([...(await vectors.find("m", ["a", "b", "c"])).keys()], ["a"]);
});

Deno.test("Vectors are in no backup: they can be made again", () => {
  assert.ok(UNPORTABLE_ROOTS.has(keys.vectors("m")[0]!));
});
