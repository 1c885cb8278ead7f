import assert from "node:assert/strict";
import { scanCharacters } from "./characters.ts";

function rulesIn(text: string, where = "description"): string[] {
  return scanCharacters(where, text).map(({ severity, rule }) => `${severity} ${rule}`);
}

Deno.test("scanCharacters() finds invisible characters", () => {
  assert.deepEqual(rulesIn("a\u200Bb"), ["medium invisible-characters"]);
  assert.deepEqual(rulesIn("a\u200B\u200C\u200D\u2060b"), ["high invisible-characters"]);
  assert.deepEqual(rulesIn("a\u200Bb", "name"), ["high invisible-characters"]);
  assert.deepEqual(rulesIn("x\u{E0049}\u{E0067}"), ["high invisible-characters"]);
  assert.deepEqual(rulesIn("x\uFE01\uFE02\uFE03"), ["high invisible-characters"]);
});

Deno.test("scanCharacters() leaves emoji, flags and the spelling of other scripts alone", () => {
  const fine = [
    "👩‍💻 🏳️‍🌈 👍🏽 ❤️",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "جستجوی مقاله‌ها",
    "क्‍या",
    "\u2067חיפוש\u2069 (contacts)",
    "R in kΩ, I in µA, ΔT, Cα",
    "Größe, café, naïve, Поиск статей",
    "co\u00ADoperate",
  ];
  for (const text of fine) assert.deepEqual(rulesIn(text), [], text);
});

Deno.test("scanCharacters() finds changed direction, terminal commands and controls", () => {
  assert.deepEqual(rulesIn("a\u202Eb"), ["high bidirectional-characters"]);
  assert.deepEqual(rulesIn("a\u2066b\u2069"), ["medium bidirectional-characters"]);
  assert.deepEqual(rulesIn("a\u001b[8mb"), ["high control-characters"]);
  assert.deepEqual(rulesIn("a\u0008b"), ["medium control-characters"]);
  assert.deepEqual(rulesIn("a\\x1b[31mb"), ["medium control-characters"]);
});

Deno.test("scanCharacters() finds words in two scripts that look alike", () => {
  assert.deepEqual(rulesIn("pаssword"), ["medium mixed-scripts"]);
});

Deno.test("scanCharacters() finds words in letters that look like plain ones", () => {
  const bold = [..."send it"].map((it) =>
    it === " " ? it : String.fromCodePoint(0x1D3B9 + it.charCodeAt(0))
  );
  assert.deepEqual(rulesIn(`Adds. ${bold.join("")}`), ["medium mixed-scripts"]);
  assert.deepEqual(rulesIn("ＡＢＣ is a code, 𝑥 a number"), []);
});
