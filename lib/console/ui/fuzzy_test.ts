import assert from "node:assert/strict";
import fc from "fast-check";
import { fuzzyMatch } from "./fuzzy.ts";

function best(query: string, texts: string[]): string | undefined {
  return texts
    .map((text) => ({ text, score: fuzzyMatch(query, text)?.score ?? -Infinity }))
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => b.score - a.score)[0]?.text;
}

Deno.test("fuzzyMatch() prefers word starts, runs and early places", () => {
  assert.equal(best("gf", ["config_file", "get_forecast", "gif"]), "get_forecast");
  assert.equal(best("serv", ["observe", "Servers"]), "Servers");
  assert.equal(best("ri", ["resolveId", "read-issue"]), "read-issue");
});

Deno.test("fuzzyMatch() wants every letter, in order", () => {
  assert.equal(fuzzyMatch("xyz", "get_forecast"), undefined);
  assert.equal(fuzzyMatch("tsac", "cast"), undefined);
});

Deno.test("fuzzyMatch() gives the places it matched", () => {
  assert.deepEqual(fuzzyMatch("fore", "get_forecast")?.positions, [4, 5, 6, 7]);
  assert.deepEqual(fuzzyMatch("g f", "get_forecast")?.positions, [0, 4]);
});

Deno.test("fuzzyMatch() finds what was made by leaving letters out", () => {
  const text = fc.string({ minLength: 1, maxLength: 30, unit: fc.constantFrom(..."abcXYZ_-. ") });
  fc.assert(fc.property(text, fc.infiniteStream(fc.boolean()), (text, keep) => {
    const query = Array.from(text).filter(() => keep.next().value).join("");
    const match = fuzzyMatch(query, text);
    assert.ok(match);
    const letters = query.toLowerCase().replaceAll(/\s/g, "");
    assert.equal(match.positions.map((at) => text[at]?.toLowerCase()).join(""), letters);
    assert.deepEqual(match.positions, match.positions.toSorted((a, b) => a - b));
  }));
});
