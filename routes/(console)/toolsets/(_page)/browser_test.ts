import assert from "node:assert/strict";
import {
  added,
  movedPlace,
  picksPath,
  placed,
  uncountedServers,
  without,
  withTokens,
} from "./browser.ts";
import type { PickedTool } from "../../../../lib/console/ui/tools.ts";

function tools(names: string): PickedTool[] {
  return [...names].map((name) => ({
    namespacedName: name,
    server: "x",
    name,
    summary: "",
  }));
}

const text = (list: PickedTool[]) => list.map(({ namespacedName }) => namespacedName).join("");

Deno.test("placed() moves down, up and to the end, and puts fresh ones in between", () => {
  const chosen = tools("abcd");
  assert.equal(text(placed(chosen, tools("a"), 3)), "bcad");
  assert.equal(text(placed(chosen, tools("d"), 1)), "adbc");
  assert.equal(text(placed(chosen, tools("b"))), "acdb");
  assert.equal(text(placed(chosen, tools("xy"), 2)), "abxycd");
  assert.equal(text(placed(chosen, tools("b"), 1)), "abcd");
});

Deno.test("placed() keeps what is known of one that is chosen", () => {
  const chosen = [{ ...tools("a")[0]!, note: "Server disconnected" }];
  assert.equal(placed(chosen, tools("a"), 0)[0]?.note, "Server disconnected");
});

Deno.test("added() puts behind what is not in it yet", () => {
  assert.equal(text(added(tools("ab"), tools("bc"))), "abc");
});

Deno.test("without() takes these out", () => {
  assert.equal(text(without(tools("abc"), new Set(["a", "c", "z"]))), "b");
});

Deno.test("counted() fills in what has been counted since, and nothing else", () => {
  const [a, b] = tools("ab");
  const fresh = [{ ...a!, tokens: 7, summary: "other" }, { ...b!, tokens: 9 }];
  assert.deepEqual(withTokens([a!, { ...b!, tokens: 3 }], fresh), [
    { ...a, tokens: 7 },
    { ...b, tokens: 3 },
  ]);
});

Deno.test("uncountedServers() has a few servers, none for what cannot be called", () => {
  const [a, b, c] = tools("abc");
  const chosen = [
    { ...a!, server: "one" },
    { ...b!, server: "two", tokens: 1 },
    { ...c!, server: "three", note: "No longer there" },
  ];
  assert.deepEqual(uncountedServers(chosen), ["one"]);
  const many = tools("abcdefgh").map((tool) => ({ ...tool, server: tool.name }));
  assert.equal(uncountedServers(many).length, 5);
});

Deno.test("movedPlace() stays within the list", () => {
  assert.equal(movedPlace("ArrowUp", 0, 3), 0);
  assert.equal(movedPlace("ArrowDown", 1, 3), 2);
  assert.equal(movedPlace("ArrowDown", 2, 3), 2);
  assert.equal(movedPlace("End", 0, 3), 2);
  assert.equal(movedPlace("a", 0, 3), undefined);
});

Deno.test("picksPath() says only what is asked for", () => {
  assert.equal(picksPath({ q: " git.* ", server: "", category: "" }), "/api/picks?q=git.*");
  assert.equal(
    picksPath({ q: "", server: "git", category: "code" }, true),
    "/api/picks?server=git&category=code&all=1",
  );
});
