import assert from "node:assert/strict";
import { type GatewayLine, newLines } from "./server_gateways.ts";

function log(text: string): GatewayLine[] {
  return Array.from(text, (line, index) => ({ time: Math.floor(index / 2), line }));
}

Deno.test("newLines() gives what was added, also where the oldest are gone", () => {
  const whole = log("abcabcabc");
  assert.deepEqual(newLines([], whole), whole);
  assert.deepEqual(newLines(whole, whole), []);
  for (let seen = 1; seen < whole.length; seen++) {
    for (let lost = 0; lost < seen; lost++) {
      assert.deepEqual(newLines(whole.slice(0, seen), whole.slice(lost)), whole.slice(seen));
    }
  }
  assert.deepEqual(newLines(log("xy"), whole), whole);
});

Deno.test("newLines() tells lines alike in time and text apart by their number", () => {
  const line = { time: 1, line: "again" };
  assert.deepEqual(newLines([line, line], [line, line, line]), [line]);
});
