import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { members, parseJsonObject, positions } from "./json_document.ts";

function parse(text: string) {
  return parseJsonObject(text, "/x/.mcp.json", "{}");
}

const BROKEN: [name: string, text: string, place: string, message: RegExp][] = [
  ["a missing comma", '{\n  "a": 1\n  "b": 2\n}', "3:3", /a comma is missing; add a comma/],
  ["a missing colon", '{ "a" 1 }', "1:7", /a colon is missing/],
  ["a missing value", '{ "a": }', "1:8", /a value is missing/],
  ["a missing brace", '{ "a": {\r\n  "b": 1\r\n}', "3:2", /closing brace is missing/],
  ["a missing bracket", '{ "a": [1', "1:10", /closing bracket is missing/],
  ["single quotes", "{ 'a': 1 }", "1:3", /'a' is not valid JSON; put names and text in double/],
  ["a bare word", '{ "a": tru }', "1:8", /tru is not valid JSON/],
  ["two commas", '{ "a": 1,, "b": 2 }', "1:10", /extra comma; remove it/],
  ["a bare name", '{ "a": {1: 2} }', "1:9", /expected a name in double quotes/],
  ["an open text", '{\n\t"a": "x\n}', "2:7", /the string is not closed/],
  ["a Windows path", '{ "a": "C:\\dir" }', "1:8", /write \\\\ for a backslash/],
  ["a comment opened at the very end", "{/*", "1:2", /the comment is not closed/],
  ["an open comment", '{ "a": 1 /* x', "1:10", /the comment is not closed/],
  ["text after the end", '{ "a": 1 } }', "1:12", /unexpected text after the end/],
  ["a raw tab", '{ "a": "\t" }', "1:8", /control character/],
  ["a list", "\n[]", "2:1", /expected an object, found a list/],
  ["null", "null", "1:1", /expected an object, found null/],
  ["a text", '"x"', "1:1", /expected an object, found a string/],
];

for (const [name, text, place, message] of BROKEN) {
  Deno.test(`parseJsonObject() tells place and fix of ${name}`, () => {
    assert.throws(() => parse(text), (error: Error) => {
      assert.equal(error.message.slice(0, error.message.indexOf(": ")), `/x/.mcp.json:${place}`);
      assert.match(error.message, message);
      return true;
    });
  });
}

for (const empty of ["", "  \n", "// nothing yet\n"]) {
  Deno.test(`parseJsonObject() says that ${JSON.stringify(empty)} is empty`, () => {
    assert.throws(() => parse(empty), { code: "CONFIG_INVALID", message: /is empty; write/ });
  });
}

Deno.test("parseJsonObject() accepts comments and trailing commas", () => {
  const { root } = parse('{ // one\n "a": [1, 2,], /* two */\n}');
  assert.deepEqual(members(root).map(({ name }) => name), ["a"]);
});

for (const bracket of ["[", '{"a":']) {
  Deno.test(`parseJsonObject() refuses ${bracket} nested without end`, () => {
    assert.throws(() => parse(`{"a":${bracket.repeat(200_000)}`), {
      code: "CONFIG_INVALID",
      message: /nested more than/,
    });
  });
}

Deno.test("parseJsonObject() never throws anything but CONFIG_INVALID", () => {
  const piece = fc.constantFrom(..."{}[]:,\"'\\/*\n\r\t 019ae", "\u2028", "\u{1F527}", "true");
  fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
    try {
      parse(pieces.join(""));
    } catch (error) {
      assert.equal((error as { code?: string }).code, "CONFIG_INVALID");
    }
  }));
});

Deno.test("members() keeps both where a name stands twice", () => {
  assert.deepEqual(members(parse('{"a":1,"a":2}').root).map(({ value }) => value.value), [1, 2]);
});

Deno.test("positions() finds every place in any mix of line ends, tabs and wide characters", () => {
  const piece = fc.constantFrom(
    "a",
    "\t",
    "\u00e9",
    "\u{1F527}",
    "\u2028",
    " ",
    "\n",
    "\r\n",
    "\r",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(80), (pieces, nat) => {
    const text = pieces.join("");
    const offset = Math.min(nat, text.length);
    fc.pre(text.slice(offset - 1, offset + 1) !== "\r\n");
    const before = text.slice(0, offset).split(/\r\n|\r|\n/);
    assert.deepEqual(positions(text)(offset), {
      line: before.length,
      column: (before.at(-1) ?? "").length + 1,
    });
  }));
});
