import assert from "node:assert/strict";
import { nearest } from "./nearest.ts";

const WORDS = ["port", "host", "config", "data-dir", "public-url"];

for (
  const [word, expected] of [
    ["prot", "port"],
    ["PORT", "port"],
    ["hots", "host"],
    ["datadir", "data-dir"],
    ["publicurl", "public-url"],
    ["confg", "config"],
    ["zzz", undefined],
    ["x", undefined],
    ["", undefined],
    ["p".repeat(1000), undefined],
  ] as const
) {
  Deno.test(`nearest() finds ${expected} for "${word.slice(0, 20)}"`, () => {
    assert.equal(nearest(word, WORDS), expected);
  });
}
