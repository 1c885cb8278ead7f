import assert from "node:assert/strict";
import { uptimeText } from "./status.ts";

Deno.test("uptimeText() uses the unit a person would", () => {
  const expected: [number, string][] = [
    [0, "0 s"],
    [119, "119 s"],
    [120, "2 min"],
    [7_200, "2 h"],
    [86_400 * 3, "3 d"],
  ];
  for (const [seconds, text] of expected) assert.equal(uptimeText(seconds), text);
});
