import assert from "node:assert/strict";
import { argumentProblems } from "./tool_arguments.ts";
import { Catalog } from "./catalog.ts";

function toolWith(inputSchema: Record<string, unknown>) {
  const catalog = new Catalog();
  const definition = { name: "t", inputSchema: { type: "object", ...inputSchema } };
  catalog.setListed("s", [JSON.stringify(definition)]);
  return catalog.of("s").tools[0]!;
}

Deno.test("argumentProblems() names the place and what was expected", () => {
  const tool = toolWith({
    properties: {
      repo: { type: "object", properties: { id: { type: "number" } } },
      n: { type: "integer" },
    },
    required: ["n"],
    additionalProperties: false,
  });
  assert.equal(argumentProblems(tool, { n: 1 }), undefined);
  assert.match(argumentProblems(tool, {})!, /^"n"/);
  assert.match(argumentProblems(tool, { n: 1, repo: { id: "x" } })!, /^repo\.id: .*number/);
  assert.ok(argumentProblems(tool, { n: 1, more: 2 }));
  assert.ok(argumentProblems(tool, []));
});

Deno.test("argumentProblems() leaves to the server what it cannot judge", () => {
  for (
    const schema of [{ $schema: "https://example.com/dialect" }, { $ref: "#/nowhere" }, {
      $ref: "https://example.com/x",
    }]
  ) {
    assert.equal(argumentProblems(toolWith(schema), { any: "thing" }), undefined);
  }
});
