import assert from "node:assert/strict";
import { join } from "@std/path";
import { REFERENCE, referencePages } from "./reference.ts";

Deno.test("docs/reference is what the declarations say", async () => {
  const pages = Object.entries(referencePages());
  assert.ok(pages.length > 4);
  for (const [name, text] of pages) {
    const written = await Deno.readTextFile(join(REFERENCE, name));
    assert.equal(written, text, `${name} is out of date: run \`deno task docs\``);
  }
});
