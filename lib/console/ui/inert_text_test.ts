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
  for (
    const hidden of [
      "\u200B",
      "\u2066",
      "\uFEFF",
      "\u0000",
      "\u001B",
      "\u2028",
      "\u{E0041}",
      "\u3164",
      "\u115F",
      "\u1160",
      "\u034F",
    ]
  ) {
    assert.equal(inertParts(`a${hidden}b`).length, 3, hidden.codePointAt(0)?.toString(16));
  }
});

Deno.test("inertString() does the same for an attribute", () => {
  assert.equal(inertString("a\u200Bb"), "a<U+200B>b");
});

Deno.test("inertParts() makes one part of characters that follow each other", () => {
  assert.deepEqual(inertParts("\u200B".repeat(100_000)), [{ hidden: "U+200B ×100000" }]);
  const mixed = "a\u200B\u200B\u202E\u200Bb";
  assert.deepEqual(inertParts(mixed), [{ text: "a" }, { hidden: "U+200B ×2 U+202E U+200B" }, {
    text: "b",
  }]);
  assert.equal(inertString(mixed), "a<U+200B ×2 U+202E U+200B>b");
});

Deno.test("inertParts() makes few parts of any text, and hides nothing in the last", () => {
  const text = "a\u200B".repeat(50_000);
  const parts = inertParts(text);
  assert.ok(parts.length < 1_100, `${parts.length} parts`);
  assert.equal(inertString(text), "a<U+200B>".repeat(50_000));
});
