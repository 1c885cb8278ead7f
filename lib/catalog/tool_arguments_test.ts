import assert from "node:assert/strict";
import { argumentProblems, examplesOf, fitsSchema } from "./tool_arguments.ts";
import { Catalog } from "./catalog.ts";

function toolWith(inputSchema: Record<string, unknown>) {
  const catalog = new Catalog();
  const definition = { name: "t", inputSchema: { type: "object", ...inputSchema } };
  catalog.setListed("s", [JSON.stringify(definition)]);
  return catalog.of("s").tools[0]!;
}

Deno.test("examplesOf() makes arguments that the schema accepts", () => {
  const tool = toolWith({
    properties: {
      owner: { type: "string", minLength: 20 },
      when: { type: "string", format: "date-time" },
      state: { enum: ["open", "closed"] },
      count: { type: "integer", minimum: 5, multipleOf: 3, maximum: 100 },
      labels: { type: "array", items: { $ref: "#/$defs/label" }, minItems: 2 },
      limit: { type: "number", default: 10 },
    },
    required: ["owner", "when", "state", "count", "labels"],
    $defs: { label: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
  });
  const examples = examplesOf(tool);
  assert.equal(examples.length, 2);
  for (const { invocation } of examples) {
    assert.ok(fitsSchema(tool, invocation), JSON.stringify(invocation));
  }
  assert.equal(examples[1]!.invocation.limit, 10);
});

Deno.test("examplesOf() takes the schema's own examples where they are right", () => {
  const tool = toolWith({
    properties: { id: { type: "integer" } },
    required: ["id"],
    examples: [{ id: "wrong" }, { id: 7 }],
  });
  assert.deepEqual(examplesOf(tool).map(({ invocation }) => invocation), [{ id: 7 }]);
});

Deno.test("examplesOf() shows nothing rather than something wrong", () => {
  const tool = toolWith({
    properties: { code: { type: "string", pattern: "^[A-Z]{3}-\\d{4}$" } },
    required: ["code"],
  });
  assert.deepEqual(examplesOf(tool), []);
});

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
