import assert from "node:assert/strict";
import { excerptOf, fold, scanCharacters, skeleton, visible } from "./characters.ts";

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

Deno.test("fold() reads through case, accents, quotes, emphasis and wide letters", () => {
  assert.equal(fold("**Ígnore** “ＡＬＬ” `rules`").text, "ignore all rules");
  assert.equal(fold("don't").text, "dont");
});

Deno.test("fold() takes away invisible characters and lookalikes in Latin words", () => {
  assert.equal(fold("ig\u200Bno\u00ADre").text, "ignore");
  assert.equal(fold("ignоrе").text, "ignore");
});

Deno.test("fold() leaves words of other scripts alone", () => {
  assert.equal(fold("Не говори").text, "не говори");
  assert.equal(fold("ユーザーが").text, "ユーザーが");
});

Deno.test("fold() ends sentences at full stops, empty lines and items, not at wrapped lines", () => {
  assert.equal(fold("One. Two\nthree\n\nfour\n- five").text, "one.\ntwo three\nfour\n- five");
  assert.equal(fold("A path, e.g. /tmp").text, "a path, e.g. /tmp");
});

Deno.test("fold() knows where each character came from", () => {
  const original = "A \u200B\u200B “b”";
  const { text, at } = fold(original);
  assert.equal(text, "a b");
  assert.equal(original[at[text.indexOf("b")]!], "b");
  assert.equal(at.length, text.length);
});

Deno.test("skeleton() is equal for names that look alike", () => {
  for (const name of ["READ_FILE", "rеad_file", "read\u200B_file", "ｒead_file", "read_fi1e"]) {
    assert.equal(skeleton(name), skeleton("read_file"), name);
  }
  assert.notEqual(skeleton("read_files"), skeleton("read_file"));
});

Deno.test("visible() writes out what a screen does not show", () => {
  assert.equal(visible("a\u200Bb\u202Ec\u001b[0m"), "a<U+200B>b<U+202E>c<U+001B>[0m");
  assert.equal(visible("x\u{E0041}"), "x<U+E0041>");
  assert.equal(visible("two\n\n lines"), "two lines");
});

Deno.test("excerptOf() shows the place and what is around it, at most 160 characters", () => {
  assert.equal(excerptOf("short"), "short");
  const text = `${"before ".repeat(50)}HERE${" after".repeat(50)}`;
  const excerpt = excerptOf(text, text.indexOf("HERE"));
  assert.match(excerpt, /^….*HERE.*…$/);
  assert.equal(excerpt.length, 160);
  assert.equal(excerptOf("\u200B".repeat(500)).length, 160);
});

Deno.test("excerptOf() does not cut a character in two", () => {
  const text = "👍".repeat(200);
  for (const at of [0, 41, 100]) assert.ok(excerptOf(text, at).slice(0, -1).isWellFormed());
});
