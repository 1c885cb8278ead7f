import assert from "node:assert/strict";
import {
  descriptionHash,
  parameterChanges,
  ParameterTexts,
  replacedBy,
  textHash,
  unknownParameters,
} from "./tool_text.ts";

Deno.test("textHash() tells texts apart by description and parameters, in any order", () => {
  const description = "Finds books";
  const parameters = { query: "A title", since: "A year" };
  const hash = textHash({ description, parameters });
  assert.equal(hash, textHash({ description, parameters: { since: "A year", query: "A title" } }));
  const others = [
    { description },
    { description, parameters: { query: "A title" } },
    { description, parameters: { ...parameters, since: "A day" } },
    { description: "Finds", parameters },
  ];
  assert.equal(new Set([hash, ...others.map(textHash)]).size, 5);
  // Runs of older gateways were saved under the hash of the description.
  assert.equal(textHash({ description, parameters: {} }), descriptionHash(description));
  assert.equal(descriptionHash("Finds books"), "c88f1cea90c00050");
});

Deno.test("parameters are compared by what a schema has, whatever they are called", () => {
  const parameters = { constructor: "Who built it", since: "A year" };
  const own = { since: null, until: "The end" };
  assert.deepEqual(unknownParameters({ parameters }, own), ["constructor"]);
  assert.deepEqual(replacedBy([{ parameters }, {}], own), { since: null });
  assert.deepEqual(parameterChanges({ parameters }, { since: null, constructor: "x" }, own), [
    { path: "constructor", before: "x", now: undefined },
  ]);
  assert.deepEqual(parameterChanges({ parameters }, { since: null }, own), []);
  assert.deepEqual(parameterChanges({ parameters }, own, { since: "" }), [
    { path: "since", before: null, now: "" },
  ]);
  assert.deepEqual(parameterChanges({}, own, {}), []);
});

Deno.test("texts for parameters have limits", () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`p${at}`, "x"]));
  for (const texts of [{ a: "" }, { a: "x".repeat(281) }, many]) {
    assert.equal(ParameterTexts.safeParse(texts).success, false);
  }
  assert.deepEqual(ParameterTexts.parse({ "a.b[]": "x" }), { "a.b[]": "x" });
});
