import assert from "node:assert/strict";
import { checkArguments, examplesOf, fitsSchema } from "./tool_arguments.ts";
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

Deno.test("checkArguments() names the place and what was expected", () => {
  const tool = toolWith({
    properties: {
      repo: { type: "object", properties: { id: { type: "number" } } },
      n: { type: "integer" },
    },
    required: ["n"],
    additionalProperties: false,
  });
  assert.deepEqual(checkArguments(tool, { n: 1 }), []);
  const [missing] = checkArguments(tool, {});
  assert.match(missing!.message, /"n"/);
  const [deep] = checkArguments(tool, { n: 1, repo: { id: "x" } });
  assert.equal(deep!.path, "repo.id");
  assert.match(deep!.message, /number/);
  assert.ok(checkArguments(tool, { n: 1, more: 2 }).length > 0);
  assert.ok(checkArguments(tool, []).length > 0);
});

Deno.test("checkArguments() leaves to the server what it cannot judge", () => {
  for (
    const schema of [{ $schema: "https://example.com/dialect" }, { $ref: "#/nowhere" }, {
      $ref: "https://example.com/x",
    }]
  ) {
    assert.deepEqual(checkArguments(toolWith(schema), { any: "thing" }), []);
  }
});
