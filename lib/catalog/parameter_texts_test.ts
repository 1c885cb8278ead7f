import assert from "node:assert/strict";
import { parameterTextsIn, withParameterTexts } from "./parameter_texts.ts";

/** As no JSON printer would write it: spaces, order, escapes and digits must all survive. */
const TEXT = String.raw`{ "inputSchema" : {"required":["query"], "type":"object",
  "properties": { "query" :{"description":"Q\u00e9 \"x\"","maxLength":90071992547409930001,"type":"string"},
    "filter":{"type":"object","properties":{
      "since":{ "type":"integer", "default":1e400 },"a.b":{"type":"string"},"a=b":{"type":"string"},"":{}}},
    "tags":{"type":"array","items":{"type":"string"}},
    "orders":{"items":{"properties":{"id":{"const":12345678901234567890}}},"description":"Orders"},
    "who":{"$ref":"#/$defs/Person"},
    "owner":{"$ref":"#/$defs/Person","description":"The owner"},
    "any":true, "odd":{"description":5} },
  "$defs":{"Person":{"type":"object","properties":{"name":{"description":"Of a person"}}}}},
  "name":"find", "_meta":{"n":1.0} }`;

Deno.test("parameterTextsIn() has every path with the server's own text", () => {
  assert.deepEqual(parameterTextsIn(TEXT), {
    query: 'Qé "x"',
    filter: null,
    "filter.since": null,
    'filter["a.b"]': null,
    'filter["a=b"]': null,
    'filter[""]': null,
    tags: null,
    "tags[]": null,
    orders: "Orders",
    "orders[]": null,
    "orders[].id": null,
    owner: "The owner",
  });
  assert.deepEqual(parameterTextsIn('{"name":"x","inputSchema":{"type":"object"}}'), {});
});

Deno.test("withParameterTexts() changes these descriptions and no other character", () => {
  const texts = {
    query: 'What to find, "as said"',
    "filter.since": "A year",
    'filter[""]': "Empty",
    "orders[].id": "An order's",
    tags: "Tags",
    "tags[]": "A tag",
    owner: "Owns",
  };
  const changed = withParameterTexts(TEXT, texts);
  const expected = TEXT
    .replace(String.raw`"Q\u00e9 \"x\""`, JSON.stringify(texts.query))
    .replace('"default":1e400 }', '"default":1e400,"description":"A year" }')
    .replace('"":{}', '"":{"description":"Empty"}')
    .replace("12345678901234567890}", '12345678901234567890,"description":"An order\'s"}')
    .replace(
      '"items":{"type":"string"}}',
      '"items":{"type":"string","description":"A tag"},"description":"Tags"}',
    )
    .replace('"The owner"', '"Owns"');
  assert.equal(changed, expected);
  assert.equal(parameterTextsIn(changed)["orders[].id"], "An order's");
  assert.equal(withParameterTexts(TEXT, {}), TEXT);
});

Deno.test("withParameterTexts() passes over what the schema does not have", () => {
  const gone = { nothing: "x", "who.name": "x", any: "x", odd: "x", "query[]": "x", who: "x" };
  assert.equal(withParameterTexts(TEXT, gone), TEXT);
});

Deno.test("parameterTextsIn() ends in a schema of any depth and width", () => {
  const deep = (levels: number): string =>
    levels === 0 ? "{}" : `{"properties":{"p":${deep(levels - 1)}}}`;
  const wide = Array.from({ length: 500 }, (_, at) => `"p${at}":{}`).join();
  const named = (schema: string) => parameterTextsIn(`{"name":"x","inputSchema":${schema}}`);
  assert.equal(Object.keys(named(deep(50))).length, 9);
  assert.equal(Object.keys(named(`{"properties":{${wide}}}`)).length, 200);
});
