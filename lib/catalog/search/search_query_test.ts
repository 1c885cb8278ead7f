import assert from "node:assert/strict";
import { Synonyms } from "./search_query.ts";
import { stemOf } from "./text.ts";

Deno.test("Synonyms.of() works in both directions", () => {
  const synonyms = new Synonyms();
  assert.ok(synonyms.of(stemOf("delete")).has("rm"));
  assert.ok(synonyms.of("rm").has(stemOf("delete")));
});

Deno.test("Synonyms keeps the built-in ones beside those that were added", () => {
  const synonyms = new Synonyms({ delete: ["zap"], ticket: ["issue"] });
  assert.ok(synonyms.of("zap").has(stemOf("delete")));
  assert.ok(synonyms.of(stemOf("delete")).has("rm"));
  assert.ok(synonyms.of(stemOf("issue")).has("ticket"));
});

Deno.test("Synonyms is safe for words that objects know", () => {
  const synonyms = new Synonyms(JSON.parse('{"__proto__": ["x"], "constructor": ["builder"]}'));
  assert.ok(synonyms.of("constructor").size === 0 || !synonyms.of("constructor").has("toString"));
  assert.ok(synonyms.of(stemOf("builder")).has(stemOf("constructor")));
  assert.equal(new Synonyms().of("constructor").size, 0);
  assert.equal(new Synonyms().of("__proto__").size, 0);
});
