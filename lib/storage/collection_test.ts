import assert from "node:assert/strict";
import { commitBatches } from "./collection.ts";

const sizes = (count: number, keyChars: number, bytes: number) =>
  Array.from(
    commitBatches(
      Array.from({ length: count }, (_, n) => n),
      () => ["k".repeat(keyChars)],
      () => bytes,
    ),
    ({ length }) => length,
  );

Deno.test("commitBatches() ends a batch by number, by size and by the size of keys", () => {
  assert.deepEqual(sizes(0, 1, 1), []);
  assert.deepEqual(sizes(450, 1, 1), [200, 200, 50]);
  assert.deepEqual(sizes(5, 1, 200_000), [2, 2, 1]);
  assert.deepEqual(sizes(65, 1_990, 0), [30, 30, 5]);
  assert.deepEqual(
    sizes(3, 1, 900_000),
    [1, 1, 1],
    "what is too large alone is the store's matter",
  );
});
