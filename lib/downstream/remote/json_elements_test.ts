import assert from "node:assert/strict";
import fc from "fast-check";
import { elementTexts } from "./json_elements.ts";

Deno.test("elementTexts() splits any array, however it is printed", () => {
  fc.assert(fc.property(
    fc.array(fc.jsonValue()),
    fc.constantFrom(undefined, 1, "\t"),
    (array, indent) => {
      const texts = elementTexts(JSON.stringify(array, null, indent));
      assert.deepEqual(texts.map((text) => JSON.parse(text)), JSON.parse(JSON.stringify(array)));
    },
  ));
});

Deno.test("elementTexts() keeps what a parse would lose", () => {
  assert.deepEqual(elementTexts('[{"n":12345678901234567890,"2":1,"1":2}, "a,]\\""]'), [
    '{"n":12345678901234567890,"2":1,"1":2}',
    '"a,]\\""',
  ]);
});
