import assert from "node:assert/strict";
import { excerptOf, visible } from "./finding.ts";

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
