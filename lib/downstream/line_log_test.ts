import assert from "node:assert/strict";
import { LineLog } from "./line_log.ts";

Deno.test("LineLog.last() has the last 1,000 lines, oldest first, or as many of them as asked for", () => {
  const log = new LineLog();
  assert.deepEqual(log.last(), []);
  const lines = (count?: number) => log.last(count).map(({ line }) => line);
  for (let number = 1; number <= 1_000; number++) log.add(`line ${number}`);
  assert.deepEqual([lines().length, lines()[0]], [1_000, "line 1"]);
  for (let number = 1_001; number <= 3_000; number++) log.add(`line ${number}`);
  assert.deepEqual(lines(), Array.from({ length: 1_000 }, (_, index) => `line ${index + 2_001}`));
  assert.deepEqual(lines(2), ["line 2999", "line 3000"]);
  assert.equal(lines(5_000).length, 1_000);
});
