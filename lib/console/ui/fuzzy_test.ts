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

Deno.test("fuzzyMatch() wants every word, in one piece or by word starts", () => {
  assert.equal(fuzzyMatch("xyz", "get_forecast"), undefined);
  assert.equal(fuzzyMatch("tsac", "cast"), undefined);
  assert.ok(fuzzyMatch("getfor", "get_forecast"));
  assert.ok(fuzzyMatch("forecast get", "get_forecast"));
  assert.equal(fuzzyMatch("forecast snow", "get_forecast"), undefined);
});

Deno.test("fuzzyMatch() does not find letters that are scattered over a long text", () => {
  const text = "Restart server production-notifications-and-webhooks-gateway";
  for (const scattered of ["sos", "tea", "gwy", "rtst", "eoo"]) {
    assert.equal(fuzzyMatch(scattered, text), undefined, scattered);
  }
  for (const meant of ["rsp", "webhook", "restprod", "hooks", "gate"]) {
    assert.ok(fuzzyMatch(meant, text), meant);
  }
});

Deno.test("fuzzyMatch() puts one piece before pieces, and a word's start before its middle", () => {
  assert.equal(best("list", ["load_issues_status_tree", "enlist", "do_list"]), "do_list");
  assert.equal(best("is", ["this", "issue_search", "list_issue"]), "issue_search");
});

Deno.test("fuzzyMatch() gives the places it matched", () => {
  assert.deepEqual(fuzzyMatch("fore", "get_forecast")?.positions, [4, 5, 6, 7]);
  assert.deepEqual(fuzzyMatch("g f", "get_forecast")?.positions, [0, 4]);
  assert.deepEqual(fuzzyMatch("gefo", "get_forecast")?.positions, [0, 1, 4, 5]);
});

Deno.test("fuzzyMatch() finds what was made of the beginnings of words", () => {
  const word = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(..."abc") });
  const cutWord = fc.record({ word, kept: fc.nat(8) });
  fc.assert(fc.property(fc.array(cutWord, { minLength: 1, maxLength: 6 }), (words) => {
    const text = words.map(({ word }) => word).join("_");
    const query = words.map(({ word, kept }) => word.slice(0, kept)).join("");
    const match = fuzzyMatch(query, text);
    assert.ok(match);
    assert.equal(match.positions.map((at) => text[at]).join(""), query);
    assert.deepEqual(match.positions, match.positions.toSorted((a, b) => a - b));
  }));
});
