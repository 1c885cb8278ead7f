import assert from "node:assert/strict";
import { inertParts, inertString } from "./inert_text.ts";

Deno.test("inertParts() leaves text alone, in any script", () => {
  for (const text of ["plain", "Grüße\n\ttab", "日本語", "شكرا", "👩‍👩‍👧 ok", "<script>&amp;"]) {
    assert.deepEqual(inertParts(text), [{ text }]);
  }
  assert.deepEqual(inertParts(""), []);
});

Deno.test("inertParts() shows what would not be seen", () => {
  assert.deepEqual(inertParts("safe\u202Eevil"), [{ text: "safe" }, { hidden: "U+202E" }, {
    text: "evil",
  }]);
  for (const hidden of ["\u200B", "\u2066", "\uFEFF", "\u0000", "\u001B", "\u2028", "\u{E0041}"]) {
    assert.equal(inertParts(`a${hidden}b`).length, 3, hidden.codePointAt(0)?.toString(16));
  }
});

Deno.test("inertString() does the same for an attribute", () => {
  assert.equal(inertString("a\u200Bb"), "a<U+200B>b");
});
