import assert from "node:assert/strict";
import { cutPlace, inParts } from "./cut_text.ts";

const head = (text: string, most: number) => text.slice(0, cutPlace(text, most));

Deno.test("cutPlace() prefers the end of a paragraph, a line, a sentence, a word", () => {
  assert.equal(head("whole", 5), "whole");
  assert.equal(head("one two\n\nthree\nfour five", 12), "one two\n\n");
  assert.equal(head("one two three\nfour five", 16), "one two three\n");
  assert.equal(head("It is. So it goes on", 8), "It is. ");
  assert.equal(head("abcdef ghijkl", 8), "abcdef ");
  assert.equal(head("a bcdefghijklmnop", 10), "a bcdefghi", "no good place is near");
});

Deno.test("cutPlace() never cuts a character in two", () => {
  assert.equal(head("abc😀def", 4), "abc");
  assert.equal(head("abc😀def", 5), "abc😀");
});

Deno.test("inParts() loses nothing", () => {
  const text = "Ein Satz. Noch einer\nund 😀😀😀😀 viele\n\nWörter ohneeinendeweilniemandtrennt"
    .repeat(20);
  for (const most of [2, 3, 7, 50, 10_000]) {
    const parts = inParts(text, most);
    assert.equal(parts.join(""), text);
    assert.ok(parts.every((part) => part.length <= most && part.length > 0));
    assert.ok(parts.every((part) => part.isWellFormed()), `cut at ${most}`);
  }
  assert.deepEqual(inParts("", 10), []);
});
