import assert from "node:assert/strict";
import { timeLabels } from "./calls_bars.tsx";

function labels(from: Date, stepMs: number): string[] {
  return timeLabels(Array.from({ length: 6 }, (_, index) => ({ at: +from + index * stepMs })));
}

Deno.test("timeLabels() shows seconds for a short range, and no label twice in a row", () => {
  const from = new Date(2026, 0, 31, 5, 11, 0);
  assert.deepEqual(labels(from, 60_000).slice(0, 2), ["05:11", "05:12"]);
  assert.deepEqual(labels(from, 10_000).slice(0, 2), ["05:11:00", "05:11:10"]);
  assert.deepEqual(labels(from, 400), ["05:11:00", "", "", "05:11:01", "", "05:11:02"]);
});
