import assert from "node:assert/strict";
import { newId } from "./optimization.ts";

Deno.test("newId() sorts in the order of the calls, also within a millisecond", () => {
  const now = Date.now();
  const ids = [1, 2, 3].flatMap((ms) => Array.from({ length: 50 }, () => newId("run", now + ms)));
  assert.deepEqual(ids.toSorted(), ids);
});

Deno.test("newId() sorts ids of one time in their order, whatever other times come between", () => {
  const now = Date.now();
  const ids = Array.from({ length: 2_000 }, (_, index) => {
    newId("prompt", now + index);
    return newId("run", now);
  });
  assert.deepEqual(ids.toSorted(), ids);
});
