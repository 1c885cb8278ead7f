import assert from "node:assert/strict";
import { commitBatches } from "./collection.ts";

/** The sizes of the batches; a value of text takes two bytes more than its text. */
const sizes = (count: number, keyChars: number, bytes: number) =>
  Array.fromAsync(
    commitBatches(
      Array.from({ length: count }, () => ({
        key: ["k".repeat(keyChars)],
        value: "v".repeat(bytes),
      })),
    ),
    ({ length }) => length,
  );

Deno.test("commitBatches() ends a batch by number, by size and by the size of keys", async () => {
  assert.deepEqual(await sizes(0, 1, 1), []);
  assert.deepEqual(await sizes(450, 1, 1), [200, 200, 50]);
  assert.deepEqual(await sizes(5, 1, 199_000), [2, 2, 1]);
  assert.deepEqual(await sizes(65, 1_990, 0), [30, 30, 5]);
  assert.deepEqual(
    await sizes(3, 1, 900_000),
    [1, 1, 1],
    "what is too large alone is the store's matter",
  );
});
