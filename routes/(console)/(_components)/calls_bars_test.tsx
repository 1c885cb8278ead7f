import assert from "node:assert/strict";
import { condensed, ticksTo } from "./calls_bars.tsx";

Deno.test("ticksTo() ends at or above the most, in round whole steps", () => {
  assert.deepEqual(ticksTo(0), [0, 1]);
  assert.deepEqual(ticksTo(1), [0, 1]);
  assert.deepEqual(ticksTo(3), [0, 1, 2, 3]);
  assert.deepEqual(ticksTo(37), [0, 20, 40]);
  assert.deepEqual(ticksTo(1_234), [0, 500, 1_000, 1_500]);
});

Deno.test("condensed() adds up neighbors and loses nothing", () => {
  const points = Array.from({ length: 7 }, (_, at) => ({ at, calls: 2, errors: 1 }));
  assert.deepEqual(condensed(points, 3), [
    { at: 0, calls: 6, errors: 3 },
    { at: 3, calls: 6, errors: 3 },
    { at: 6, calls: 2, errors: 1 },
  ]);
  assert.deepEqual(condensed(points, 100), points);
});
