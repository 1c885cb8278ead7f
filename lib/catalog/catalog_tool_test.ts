import assert from "node:assert/strict";
import { describeProblem, isBroken, readTool } from "./catalog_tool.ts";

Deno.test("problemInWords() says what is wrong with each kind of invalid tool", () => {
  const cases: [unknown, RegExp][] = [
    [null, /not an object/],
    [[], /not an object/],
    [{ inputSchema: { type: "object" } }, /has no name/],
    [{ name: "", inputSchema: { type: "object" } }, /has no name/],
    [{ name: 7, inputSchema: { type: "object" } }, /name is not a string/],
    [{ name: "a", title: 1, inputSchema: { type: "object" } }, /title is not a string/],
    [
      { name: "a", description: {}, inputSchema: { type: "object" } },
      /description is not a string/,
    ],
    [{ name: "a" }, /no input schema/],
    [{ name: "a", inputSchema: "x" }, /not an object/],
    [{ name: "a", inputSchema: {} }, /has no type; it must be "object"/],
    [{ name: "a", inputSchema: { type: "array" } }, /has the type "array"; it must be "object"/],
  ];
  for (const [definition, words] of cases) {
    const tool = readTool("server", JSON.stringify(definition), 0);
    assert.ok(isBroken(tool));
    assert.match(describeProblem(tool), words);
  }
  const text = '{"name":"a","inputSchema":{"type":"object"}}';
  assert.match(describeProblem({ text, problem: "its name is listed twice" }), /the same name/);
  assert.equal(describeProblem({ text, problem: "something else" }), "Something else");
});
