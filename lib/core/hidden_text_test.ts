import assert from "node:assert/strict";
import { showHidden, shownLine, visibleJson } from "./hidden_text.ts";

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
