import assert from "node:assert/strict";
import { parseJsonArguments, parseWordArguments } from "./tools_call.ts";

const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    dry: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    filter: { type: "object" },
    id: { type: ["string", "null"] },
    either: { anyOf: [{ type: "integer" }, { type: "string" }] },
    level: { enum: ["low", "high"] },
    anything: {},
  },
};

Deno.test("parseWordArguments() types each value as the schema wants it", () => {
  const cases: [string[], Record<string, unknown>][] = [
    [["text=5"], { text: "5" }],
    [["text=a=b c"], { text: "a=b c" }],
    [["text="], { text: "" }],
    [["count=5", "ratio=-0.5", "dry=false"], { count: 5, ratio: -0.5, dry: false }],
    [["tags=a", "tags=b"], { tags: ["a", "b"] }],
    [["tags=a"], { tags: ["a"] }],
    [['tags=["a","b"]'], { tags: ["a", "b"] }],
    [["sizes=1", "sizes=2"], { sizes: [1, 2] }],
    [['filter={"a":1}'], { filter: { a: 1 } }],
    [["id=null"], { id: null }],
    [["id=12"], { id: "12" }],
    [["either=12"], { either: 12 }],
    [["either=x"], { either: "x" }],
    [["level=low"], { level: "low" }],
    [["anything=[1]"], { anything: [1] }],
    [["anything=word"], { anything: "word" }],
    [["unheard-of=1"], { "unheard-of": 1 }],
    [[], {}],
  ];
  for (const [words, expected] of cases) {
    assert.deepEqual(parseWordArguments(words, SCHEMA), expected, words.join(" "));
  }
});

Deno.test("parseWordArguments() says what is wrong, and what to write", () => {
  const schema = { ...SCHEMA, required: ["text"], additionalProperties: false };
  const cases: [string[], unknown, RegExp][] = [
    [["count=many"], SCHEMA, /count must be a whole number, not "many"/],
    [["count=1.5"], SCHEMA, /count must be a whole number/],
    [["dry=yes"], SCHEMA, /dry must be true or false/],
    [["filter=x"], SCHEMA, /filter must be a JSON object/],
    [["sizes=a"], SCHEMA, /sizes must be a whole number/],
    [["word"], SCHEMA, /Cannot read the argument "word"/],
    [["=x"], SCHEMA, /Cannot read the argument "=x"/],
    [["text=a", "text=b"], SCHEMA, /text is given twice/],
    [["txt=a"], SCHEMA, /no parameter "txt"/],
    [["text=a", "zzzzzzz=b"], schema, /no parameter "zzzzzzz"/],
    [["count=1"], schema, /Missing arguments: text \(string\)/],
  ];
  for (const [words, inputSchema, message] of cases) {
    assert.throws(() => parseWordArguments(words, inputSchema), {
      code: "INVALID_ARGUMENTS",
      message,
    });
  }
});

Deno.test("parseWordArguments() gives own members, whatever their name", () => {
  const args = parseWordArguments(["__proto__=1", "constructor=2"], { type: "object" });
  assert.deepEqual(Object.entries(args), [["__proto__", 1], ["constructor", 2]]);
});

Deno.test("parseJsonArguments() takes an object and nothing else", () => {
  assert.deepEqual(parseJsonArguments('{"a": [1]}'), { a: [1] });
  for (const text of ["[1]", "1", "null", "{a: 1}", ""]) {
    assert.throws(() => parseJsonArguments(text), { code: "INVALID_ARGUMENTS" });
  }
});
