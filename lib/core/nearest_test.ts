import assert from "node:assert/strict";
import { nearest, nearestNames } from "./nearest.ts";

const names = ["weather", "github", "gitlab", "filesystem", "github-enterprise"];

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

Deno.test("nearestNames() finds typos, best first", () => {
  assert.deepEqual(nearestNames("wether", names), ["weather"]);
  assert.equal(nearestNames("githb", names)[0], "github");
});

Deno.test("nearestNames() adds names that hold what was typed", () => {
  assert.ok(nearestNames("enterprise", names).includes("github-enterprise"));
});

Deno.test("nearestNames() is silent where nothing is close", () => {
  assert.deepEqual(nearestNames("zzzzzz", names), []);
  assert.deepEqual(nearestNames("", names), []);
  assert.deepEqual(nearestNames("x".repeat(5_000), names), []);
});
