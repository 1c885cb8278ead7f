import assert from "node:assert/strict";
import { formatAgo, formatBytes, formatCount, formatLatency, formatSpan } from "./format.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

Deno.test("formatAgo() says a moment as a person would", () => {
  const cases: [number, string][] = [
    [-5_000, "just now"],
    [9_999, "just now"],
    [42_000, "42 s ago"],
    [3 * MINUTE, "3 min ago"],
    [5 * HOUR, "5 h ago"],
    [DAY, "1 day ago"],
    [9 * DAY, "9 days ago"],
  ];
  for (const [age, words] of cases) assert.equal(formatAgo(1e12 - age, 1e12), words);
});

Deno.test("formatSpan() gives the two largest units", () => {
  assert.equal(formatSpan(42_000), "42 s");
  assert.equal(formatSpan(-1), "0 s");
  assert.equal(formatSpan(2 * HOUR + 5 * MINUTE), "2 h 5 min");
  assert.equal(formatSpan(2 * HOUR), "2 h");
  assert.equal(formatSpan(DAY + 3 * HOUR), "1 day 3 h");
});

Deno.test("formatLatency() has a unit that keeps the number short", () => {
  assert.deepEqual([0.2, 38.4, 1_250, 125_000].map(formatLatency), [
    "<1 ms",
    "38 ms",
    "1.3 s",
    "2 min",
  ]);
});

Deno.test("formatCount() and formatBytes() read as text", () => {
  assert.equal(formatCount(1, "server"), "1 server");
  assert.equal(formatCount(2_140, "tool"), "2,140 tools");
  assert.equal(formatCount(0, "match", "matches"), "0 matches");
  assert.deepEqual([512, 4 * 1024 ** 2, 1_536].map(formatBytes), ["512 bytes", "4 MiB", "1.5 KiB"]);
});
