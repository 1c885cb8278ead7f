import assert from "node:assert/strict";
import { canBecome, literalsOf, parsedLiterals } from "./uri_template.ts";

Deno.test("canBecome() knows the URIs of a template, and takes no time over those made to", () => {
  const note = literalsOf("note://{box}/page/{id}.md");
  assert.equal(canBecome(note, "note://a/page/1.md"), true);
  assert.equal(canBecome(note, "note://a/b/page/1.md"), true);
  for (const uri of ["note://a/1.md", "note://a/page/1.txt", "note://a b/page/1.md", "note://"]) {
    assert.equal(canBecome(note, uri), false, uri);
  }
  assert.equal(canBecome(literalsOf("note://one"), "note://one"), true);
  assert.equal(canBecome(literalsOf("note://one"), "note://one/more"), false);
  const many = literalsOf(`x:${"{a}b".repeat(400)}c`);
  assert.equal(canBecome(many, `x:${"b".repeat(50_000)}`), false);
});

Deno.test("parsedLiterals() reads a template as a URI", () => {
  assert.deepEqual(parsedLiterals(literalsOf("FILE:///a/../{x}/B{y}")), ["file:///", "/B", ""]);
  assert.deepEqual(parsedLiterals(literalsOf("HTTP://{host}")), ["http://", "/"]);
  assert.deepEqual(parsedLiterals(literalsOf("note://one")), ["note://one"]);
  assert.deepEqual(parsedLiterals(literalsOf("{scheme}://one")), ["", "://one"]);
  assert.equal(parsedLiterals(literalsOf("no uri")), undefined);
});
