import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { compareTools, ToolDiff } from "./tool_diff.ts";

type Json = Record<string, unknown>;

const text = (definition: Json) => JSON.stringify({ name: "find", ...definition });
const inputs = (properties: Json, rest: Json = {}) =>
  text({ inputSchema: { type: "object", properties, ...rest } });

/** The reasons for which a new schema of one parameter breaks callers. */
function breaksOf(before: Json, after: Json): string[] {
  return compareTools(inputs({ p: before }), inputs({ p: after })).reasons;
}

Deno.test("compareTools() tells each change by its path", () => {
  const { changes } = compareTools(
    text({
      description: "Finds files",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string" }, "a b": { type: "string" } },
        required: ["path"],
      },
      annotations: { readOnlyHint: true },
      _meta: { a: 1 },
    }),
    text({
      description: "Finds folders",
      title: "Find",
      inputSchema: {
        type: "object",
        properties: { path: { type: "number", description: "Where" }, limit: { type: "integer" } },
        required: ["path", "limit"],
      },
      annotations: { readOnlyHint: false },
      icons: [{ src: "data:," }],
    }),
  );
  assert.deepEqual(changes, [
    { kind: "text", path: "title", segments: [{ kind: "added", text: "Find" }] },
    {
      kind: "text",
      path: "description",
      segments: [
        { kind: "same", text: "Finds " },
        { kind: "removed", text: "files" },
        { kind: "added", text: "folders" },
      ],
    },
    {
      kind: "changed",
      path: "inputSchema.properties.path.type",
      before: '"string"',
      after: '"number"',
    },
    {
      kind: "text",
      path: "inputSchema.properties.path.description",
      segments: [{ kind: "added", text: "Where" }],
    },
    {
      kind: "removed",
      path: 'inputSchema.properties["a b"]',
      before: '{"type":"string"}',
    },
    { kind: "added", path: "inputSchema.properties.limit", after: '{"type":"integer"}' },
    { kind: "added", path: "inputSchema.required", after: '"limit"' },
    { kind: "changed", path: "annotations.readOnlyHint", before: "true", after: "false" },
    { kind: "removed", path: "_meta", before: '{"a":1}' },
    { kind: "added", path: "icons", after: '[{"src":"data:,"}]' },
  ]);
});

Deno.test("compareTools() takes a parameter called title for a parameter", () => {
  const { changes } = compareTools(inputs({ title: true }), inputs({ title: false }));
  assert.deepEqual(changes.map(({ kind }) => kind), ["changed"]);
});

Deno.test("compareTools() tells another order from other values", () => {
  const { changes, compatibility } = compareTools(
    inputs({ a: {}, b: {} }, { required: ["a", "b"] }),
    inputs({ a: {}, b: {} }, { required: ["b", "a"] }),
  );
  assert.deepEqual(changes, [{ kind: "reordered", path: "inputSchema.required" }]);
  assert.equal(compatibility, "compatible");
});

Deno.test("compareTools() calls compatible what leaves earlier calls working", () => {
  const before = inputs({ city: { type: "string", enum: ["a", "b"], maxLength: 5 } });
  for (
    const after of [
      inputs({
        city: { type: "string", enum: ["a", "b", "c"], maxLength: 9, description: "Where" },
        days: { type: "integer" },
      }),
      inputs({ city: { type: ["string", "null"] } }),
      inputs({
        city: { anyOf: [{ type: "string", enum: ["b", "a"], maxLength: 5 }, { type: "null" }] },
      }),
      inputs({ city: { type: "string", enum: ["b", "a"], maxLength: 5 } }, {
        additionalProperties: false,
      }),
      text({
        ...JSON.parse(before),
        title: "City",
        annotations: { readOnlyHint: true },
        outputSchema: { type: "object" },
      }),
    ]
  ) {
    const diff = compareTools(before, after);
    assert.ok(diff.changes.length > 0, after);
    assert.deepEqual([diff.compatibility, diff.reasons], ["compatible", []], after);
  }
  assert.deepEqual(breaksOf({ type: "integer" }, { type: "number" }), []);
});

Deno.test("compareTools() calls breaking what can fail earlier calls, and says why", () => {
  const cases: [Json, Json, RegExp][] = [
    [{ type: "string" }, { type: "number" }, /"p" is now number, was string/],
    [{ type: "number" }, { type: "integer" }, /"p" is now integer/],
    [{}, { type: "string" }, /was of any type/],
    [{ enum: ["a", "b"] }, { enum: ["a"] }, /"p" no longer accepts "b"/],
    [{ type: "string" }, { type: "string", enum: ["a"] }, /only certain values/],
    [{ type: "string" }, { type: "string", pattern: "^a" }, /pattern none -> "\^a"/],
    [{ maximum: 9 }, { maximum: 5 }, /maximum 9 -> 5/],
    [{ minLength: 0 }, { minLength: 1 }, /minLength 0 -> 1/],
    [{ items: { type: "string" } }, { items: { type: "number" } }, /"p\[\]" is now number/],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "string" }, /is now string/],
    [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }, /\$ref/],
    [{ type: "object" }, { type: "object", additionalProperties: false }, /additional fields/],
    [true as unknown as Json, false as unknown as Json, /changed rules \(not\)/],
    [
      { properties: { deep: { type: "string" } } },
      { properties: { deep: { type: "string" } }, required: ["deep"] },
      /"p\.deep" is required/,
    ],
  ];
  for (const [before, after, why] of cases) {
    assert.match(breaksOf(before, after).join("\n"), why, JSON.stringify(after));
  }
  const reasons = compareTools(
    inputs({ a: {}, b: {} }),
    inputs({ b: {}, c: {} }, { required: ["b", "c"] }),
  ).reasons;
  assert.deepEqual(reasons, [
    'Input: "b" is required',
    'Input: "c" is new and required',
    'Input: "a" was removed',
  ]);
});

Deno.test("compareTools() judges a result by what callers get", () => {
  const result = (properties: Json, required: string[] = []) =>
    text({
      inputSchema: { type: "object" },
      outputSchema: { type: "object", properties, required },
    });
  const before = result({ id: { type: "number" }, state: { enum: ["on"] } }, ["id"]);
  const reasonsOf = (after: string) => compareTools(before, after).reasons.join("\n");
  assert.match(
    reasonsOf(result({ id: { type: "number" }, state: { enum: ["on"] } })),
    /"id" is now optional/,
  );
  assert.match(
    reasonsOf(result({ id: { type: "number" }, state: { enum: ["on", "off"] } }, ["id"])),
    /"state" can now be "off"/,
  );
  assert.match(
    reasonsOf(text({ inputSchema: { type: "object" } })),
    /no longer has an output schema/,
  );
  assert.equal(
    reasonsOf(result({ id: { type: "integer" }, state: { enum: ["on"] }, more: {} }, ["id"])),
    "",
  );
});

Deno.test("compareTools() stays short for huge schemas", () => {
  const many = (type: string) =>
    inputs(Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type, enum: ["x".repeat(999)] }]),
    ));
  const diff = compareTools(many("string"), many("number"));
  assert.equal(diff.changes.length + diff.more, 5_000);
  assert.ok(JSON.stringify(diff).length < 50_000);
  const deep = (leaf: string) =>
    `{"inputSchema":${'{"items":'.repeat(3_000)}${leaf}${"}".repeat(3_001)}`;
  assert.equal(compareTools(deep("1"), deep("2")).compatibility, "breaking");
});

Deno.test("compareTools() finds nothing between equal definitions, whatever their order of keys", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const reversed = JSON.stringify(backwards(JSON.parse(JSON.stringify(value))));
    const diff = compareTools(JSON.stringify(value), reversed);
    assert.deepEqual([diff.changes, diff.more], [[], 0]);
  }));
});

Deno.test("compareTools() never throws, and always gives what it promises", () => {
  const keyword = fc.constantFrom(
    "name",
    "description",
    "inputSchema",
    "outputSchema",
    "type",
    "properties",
    "required",
    "enum",
    "const",
    "items",
    "anyOf",
    "additionalProperties",
    "minimum",
    "$defs",
    "not",
    "execution",
    "__proto__",
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), keyword),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.array(fc.tuple(keyword, tie("tree")), { maxLength: 5 }).map(Object.fromEntries),
    ),
  }));
  const definition = fc.oneof(
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.tuple(tree, tree).map(([inputSchema, outputSchema]) =>
      JSON.stringify({ name: "a", inputSchema, outputSchema })
    ),
  );
  fc.assert(
    fc.property(definition, definition, (before, after) => {
      const diff = ToolDiff.parse(compareTools(before, after));
      assert.equal(diff.compatibility === "breaking", diff.reasons.length > 0);
      if (before === after) assert.equal(diff.changes.length, 0);
    }),
    { numRuns: 1_000 },
  );
});

function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([key, item]) => [key, backwards(item)]),
  );
}
