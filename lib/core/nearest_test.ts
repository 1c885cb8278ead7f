import assert from "node:assert/strict";
import fc from "fast-check";
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

/** The same as a person would write it down. */
function plainDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= b.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      rows[i]![j] = Math.min(
        rows[i - 1]![j]! + 1,
        rows[i]![j - 1]! + 1,
        rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity,
      );
    }
  }
  return rows[a.length]![b.length]!;
}

Deno.test("nearestNames() finds the closest of all, the first of those that are as close", () => {
  const word = fc.stringMatching(/^[abc]{4,12}$/);
  fc.assert(fc.property(word, fc.uniqueArray(word, { maxLength: 30 }), (wanted, all) => {
    const close = all.map((name) => ({ name, distance: plainDistance(wanted, name) }))
      .filter(({ distance }) => distance <= Math.floor(wanted.length / 3))
      .sort((a, b) => a.distance - b.distance).slice(0, 3).map(({ name }) => name);
    assert.deepEqual(nearestNames(wanted, all).slice(0, close.length), close);
    assert.equal(nearest(wanted, all), close[0]);
  }));
});
