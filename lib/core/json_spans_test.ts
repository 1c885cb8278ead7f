import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { elementSpans, elementTexts, memberSpans, replaceSpan } from "./json_spans.ts";

Deno.test("memberSpans() finds every member of any object, however it is printed", () => {
  fc.assert(fc.property(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.constantFrom(undefined, 1, "\t", "\r\n "),
    (object, indent) => {
      const text = JSON.stringify(object, null, indent);
      const spans = memberSpans(text);
      const parsed = JSON.parse(text);
      assert.deepEqual([...spans.keys()].sort(), Object.keys(parsed).sort());
      for (const [key, { start, end }] of spans) {
        assert.deepEqual(JSON.parse(text.slice(start, end)), parsed[key]);
      }
    },
  ));
});

Deno.test("replaceSpan() changes one member and keeps every other byte", () => {
  const text = '{ "big": 12345678901234567890, "b": {"2":1,"1":2}, "id" : "x\\"}" , "10":null}';
  const id = memberSpans(text).get("id")!;
  assert.equal(
    replaceSpan(text, id, "7"),
    '{ "big": 12345678901234567890, "b": {"2":1,"1":2}, "id" : 7 , "10":null}',
  );
});

Deno.test("memberSpans() throws on what is no object, and ends on what is cut off", () => {
  for (
    const text of [
      "",
      "[]",
      "1",
      "null",
      '{"a"',
      '{"a":',
      '{"a":[1',
      '{"a":"x',
      '{"a":1 "b":2}',
      "{",
      "{a:1}",
    ]
  ) {
    assert.throws(() => memberSpans(text), SyntaxError, text);
  }
});

Deno.test("elementSpans() finds every element of any array", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (array, indent) => {
      const text = JSON.stringify(array, null, indent);
      const values = elementSpans(text).map(({ start, end }) => JSON.parse(text.slice(start, end)));
      assert.deepEqual(values, JSON.parse(text));
    }),
  );
  for (const text of ["", "{}", "[1", "[1 2]"]) {
    assert.throws(() => elementSpans(text), SyntaxError, text);
  }
});

Deno.test("elementTexts() keeps what a parse would lose", () => {
  assert.deepEqual(elementTexts('[{"n":12345678901234567890,"2":1,"1":2}, "a,]\\""]'), [
    '{"n":12345678901234567890,"2":1,"1":2}',
    '"a,]\\""',
  ]);
});
