import assert from "node:assert/strict";
import { fuzzyMatch, paletteItems, rememberRecent, searchPalette } from "./palette.ts";
import { SECURITY_PAGES } from "./pages.ts";
import fc from "../../../tests/fast_check.ts";

const items = paletteItems({
  servers: [
    { name: "weather", state: "ready", tools: ["get_forecast", "get_radar"] },
    { name: "github", state: "failed", tools: [] },
  ],
  toolsets: [{ name: "dev", isEquipped: true }, { name: "review", isEquipped: false }],
});

function found(query: string, recent: string[] = []): string[] {
  return searchPalette(items, query, recent).flatMap((group) =>
    group.items.map(({ item }) => item.label)
  );
}

Deno.test("searchPalette() finds pages, servers, tools and actions by a few letters", () => {
  assert.equal(found("sett")[0], "Settings");
  assert.equal(found("gith")[0], "github");
  assert.equal(found("fore")[0], "get_forecast");
  assert.equal(found("dark")[0], "Use the dark theme");
  assert.deepEqual(found("qqqq"), []);
  assert.deepEqual(found("eoa"), [], "letters that are only scattered over a text");
});

Deno.test("searchPalette() finds a tool by its server's name too", () => {
  assert.ok(found("weather radar").includes("get_radar"));
});

Deno.test("searchPalette() finds every page about security, by its name and by that word", () => {
  for (const { label, path } of SECURITY_PAGES.slice(1)) {
    const pages = searchPalette(items, label, []).find(({ title }) => title === "Pages");
    assert.equal(pages?.items[0]?.item.href, path);
    assert.ok(found("security").includes(label), label);
  }
});

Deno.test("searchPalette() shows what was used last first", () => {
  const [group] = searchPalette(items, "", ["t:weather.get_radar", "t:gone.tool"]);
  assert.equal(group?.title, "Recent");
  assert.deepEqual(group?.items.map(({ item }) => item.label), ["get_radar"]);
  assert.equal(found("get", ["t:weather.get_radar"])[0], "get_radar");
});

Deno.test("searchPalette() stays small and quick with thousands of tools", () => {
  const tools = Array.from({ length: 5_000 }, (_, index) => `list_things_${index}`);
  const many = paletteItems({ servers: [{ name: "big", state: "ready", tools }] });
  const groups = searchPalette(many, "lt", []);
  assert.ok(groups.flatMap((group) => group.items).length < 50);
});

Deno.test("rememberRecent() moves to the front and forgets the oldest", () => {
  assert.deepEqual(rememberRecent(["a", "b"], "b"), ["b", "a"]);
  assert.equal(rememberRecent(Array.from({ length: 30 }, String), "x").length, 20);
});

Deno.test("paletteItems() has an action for each server and toolset, as it stands", () => {
  const posted = (label: string) => items.find((item) => item.label === label)?.post;
  assert.deepEqual(posted("Restart server github"), { action: "restart-server", server: "github" });
  assert.deepEqual(posted("Equip toolset review"), { action: "equip-toolset", toolset: "review" });
  assert.deepEqual(posted("Unequip toolset dev"), { action: "unequip-toolset" });
  assert.equal(posted("Equip toolset dev"), undefined);
  assert.ok(found("unequip").includes("Unequip toolset dev"));
  assert.ok(found("review").includes("review"));
});

Deno.test("searchPalette() offers the page before what can be done with single servers", () => {
  const [first] = searchPalette(items, "optimize", []);
  assert.equal(first?.title, "Pages");
  assert.equal(first.items[0]?.item.label, "Optimization");
});

Deno.test("paletteItems() gives no key to two", () => {
  const keys = items.flatMap(({ key }) => key ?? []);
  assert.equal(new Set(keys).size, keys.length);
});

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
