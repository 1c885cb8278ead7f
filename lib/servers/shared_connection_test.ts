import assert from "node:assert/strict";
import { backoffMs } from "./shared_connection.ts";

Deno.test("backoffMs() doubles from half a second up to a minute", () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 10_000].map((n) => backoffMs(n, () => 1));
  const minute = 60_000;
  assert.deepEqual(longest, [
    ...[500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
    ...[minute, minute, minute, minute],
  ]);
});

Deno.test("backoffMs() spreads tries over the second half of the wait", () => {
  assert.equal(backoffMs(3, () => 0), 1_000);
  assert.equal(backoffMs(3, () => 0.5), 1_500);
  const drawn = Array.from({ length: 200 }, () => backoffMs(3));
  assert.ok(drawn.every((ms) => ms >= 1_000 && ms <= 2_000));
  assert.ok(new Set(drawn).size > 50);
});
