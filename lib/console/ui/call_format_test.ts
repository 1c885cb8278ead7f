import assert from "node:assert/strict";
import { doorName, formatDuration, formatKib, formatSizes } from "./call_format.ts";

Deno.test("formatDuration() is exact where something was quick", () => {
  const shown = [0.04, 8.26, 38.4, 1_234, 65_000].map(formatDuration);
  assert.deepEqual(shown, ["<0.1 ms", "8.3 ms", "38 ms", "1.2 s", "1 min"]);
});

Deno.test("formatSizes() and formatKib() say what is not known", () => {
  assert.equal(formatSizes({ requestBytes: 120, responseBytes: 4_096 }), "120 bytes in, 4 KiB out");
  assert.equal(formatSizes({ requestBytes: 1 }), undefined);
  assert.deepEqual([undefined, 10, 4_096, 2_000_000].map(formatKib), ["–", "<0.1", "4.0", "1,953"]);
});

Deno.test("doorName() is a path and its view", () => {
  assert.equal(doorName("mcp?default&flat"), "/mcp (default, flat)");
  assert.equal(doorName("toolsets/dev?"), "/toolsets/dev");
});
