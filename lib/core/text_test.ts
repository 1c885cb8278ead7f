import assert from "node:assert/strict";
import {
  csvField,
  editDistance,
  nearest,
  nearestNames,
  shortened,
  showHidden,
  shownLine,
  visibleJson,
} from "./text.ts";
import fc from "../../tests/fast_check.ts";

Deno.test("shortened() keeps to the length, and to whole characters", () => {
  assert.equal(shortened("short", 5), "short");
  assert.equal(shortened("longer", 5), "long…");
  assert.equal(shortened("ab😀cd", 4), "ab…");
  assert.equal(shortened("", 0), "");
});

Deno.test("csvField() quotes, and keeps text that a spreadsheet would run from being a formula", () => {
  assert.equal(csvField("plain"), "plain");
  assert.equal(csvField('a "b", c'), '"a ""b"", c"');
  assert.equal(csvField("=1+1"), "'=1+1");
  assert.equal(csvField(" @SUM(A1)"), "' @SUM(A1)");
  assert.equal(csvField("\t=1"), "'\t=1");
  assert.equal(csvField(-1.5), "-1.5");
  assert.equal(csvField(undefined), "");
});

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

const TEXT = "a\u202Eb\u200B\u200Bc\u009B\u{E0041}\u2028\uFEFFd";

Deno.test("showHidden() shows what would not be seen, and leaves all else", () => {
  assert.equal(showHidden(TEXT), "a<U+202E>b<U+200B ×2>c<U+009B U+E0041 U+2028 U+FEFF>d");
  for (const text of ["Grüße\n\ttab", "شكرا", "👩‍👩‍👧 ok"]) assert.equal(showHidden(text), text);
});

Deno.test("shownLine() shows in one line what would not be seen", () => {
  assert.equal(
    shownLine("a \n\tb\uFEFFc\u2028\u001b[2K\u202E"),
    "a b<U+FEFF>c<U+2028 U+001B>[2K<U+202E>",
  );
});

Deno.test("visibleJson() writes the same value with nothing hidden in it", () => {
  const value = { [TEXT]: [TEXT, "\u0000\n👩‍👩‍👧"] };
  const json = visibleJson(value, 2);
  assert.equal(showHidden(json), json);
  assert.deepEqual(JSON.parse(json), value);
  assert.match(json, /^\{\n {2}"a\\u202eb/);
  assert.equal(visibleJson({ a: 1 }), '{"a":1}');
});

Deno.test("editDistance() counts a swap of neighbors once", () => {
  assert.equal(editDistance("serach", "search", 2), 1);
  assert.equal(editDistance("abc", "xyz", 1), 2);
});
