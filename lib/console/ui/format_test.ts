import assert from "node:assert/strict";
import {
  endpointName,
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatExact,
  formatKib,
  formatLatency,
  formatSizes,
  formatSpan,
  inertParts,
  inertString,
} from "./format.ts";

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

Deno.test("formatDuration() is exact where something was quick", () => {
  const shown = [0.04, 8.26, 38.4, 1_234, 65_000].map(formatDuration);
  assert.deepEqual(shown, ["<0.1 ms", "8.3 ms", "38 ms", "1.2 s", "1 min"]);
});

Deno.test("formatSizes() and formatKib() say what is not known", () => {
  assert.equal(formatSizes({ requestBytes: 120, responseBytes: 4_096 }), "120 bytes in, 4 KiB out");
  assert.equal(formatSizes({ requestBytes: 1 }), undefined);
  assert.deepEqual([undefined, 10, 4_096, 2_000_000].map(formatKib), ["–", "<0.1", "4.0", "1,953"]);
});

Deno.test("formatExact() names the month, and counts hours to 23", () => {
  const at = new Date(2026, 10, 18, 0, 5, 9).getTime();
  assert.equal(formatExact(at), "Nov 18, 2026, 00:05:09");
});

Deno.test("endpointName() is a path and its view", () => {
  assert.equal(endpointName("mcp?default&flat"), "/mcp (default, flat)");
  assert.equal(endpointName("toolsets/dev?"), "/toolsets/dev");
  assert.equal(endpointName("servers/git?namespaced"), "/servers/git");
  assert.equal(endpointName("servers/git?original"), "/servers/git (original)");
});

Deno.test("inertParts() leaves text alone, in any script", () => {
  for (const text of ["plain", "Grüße\n\ttab", "日本語", "شكرا", "👩‍👩‍👧 ok", "<script>&amp;"]) {
    assert.deepEqual(inertParts(text), [{ text }]);
  }
  assert.deepEqual(inertParts(""), []);
});

Deno.test("inertParts() shows what would not be seen", () => {
  assert.deepEqual(inertParts("safe\u202Eevil"), [{ text: "safe" }, { hidden: "U+202E" }, {
    text: "evil",
  }]);
  for (
    const hidden of [
      "\u200B",
      "\u2066",
      "\uFEFF",
      "\u0000",
      "\u001B",
      "\u2028",
      "\u{E0041}",
      "\u3164",
      "\u115F",
      "\u1160",
      "\u034F",
    ]
  ) {
    assert.equal(inertParts(`a${hidden}b`).length, 3, hidden.codePointAt(0)?.toString(16));
  }
});

Deno.test("inertString() does the same for an attribute", () => {
  assert.equal(inertString("a\u200Bb"), "a<U+200B>b");
});

Deno.test("inertParts() makes one part of characters that follow each other", () => {
  assert.deepEqual(inertParts("\u200B".repeat(100_000)), [{ hidden: "U+200B ×100000" }]);
  const mixed = "a\u200B\u200B\u202E\u200Bb";
  assert.deepEqual(inertParts(mixed), [{ text: "a" }, { hidden: "U+200B ×2 U+202E U+200B" }, {
    text: "b",
  }]);
  assert.equal(inertString(mixed), "a<U+200B ×2 U+202E U+200B>b");
});

Deno.test("inertParts() makes few parts of any text, and hides nothing in the last", () => {
  const text = "a\u200B".repeat(50_000);
  const parts = inertParts(text);
  assert.ok(parts.length < 1_100, `${parts.length} parts`);
  assert.equal(inertString(text), "a<U+200B>".repeat(50_000));
});
