import assert from "node:assert/strict";
import { tryForm } from "./try_form.ts";

function fieldsOf(inputSchema: Record<string, unknown>) {
  return tryForm({ name: "t", inputSchema: { type: "object", ...inputSchema } });
}

Deno.test("tryForm() has a field for each property, by what it takes", () => {
  const { fields, isJsonOnly } = fieldsOf({
    required: ["city"],
    properties: {
      city: { type: "string", description: "Where" },
      days: { type: "integer", minimum: 1, maximum: 14, default: 3 },
      ratio: { type: ["number", "null"] },
      loud: { type: "boolean" },
      unit: { enum: ["c", "f", 1] },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      tags: { type: "array", items: { type: "string" } },
      where: { $ref: "#/$defs/place" },
    },
    $defs: { place: { type: "object", properties: { lat: { type: "number" } } } },
  });
  assert.equal(isJsonOnly, false);
  assert.deepEqual(fields.map(({ name, kind }) => `${name} ${kind}`), [
    "city text",
    "days integer",
    "ratio number",
    "loud boolean",
    "unit choice",
    "note text",
    "either json",
    "tags json",
    "where json",
  ]);
  assert.deepEqual([fields[0]?.isRequired, fields[0]?.description], [true, "Where"]);
  assert.deepEqual([fields[1]?.limits, fields[1]?.defaultValue], ["1 to 14", "3"]);
  assert.deepEqual(fields[4]?.choices, ['"c"', '"f"', "1"]);
});

Deno.test("tryForm() falls back to JSON where fields would not do", () => {
  assert.equal(fieldsOf({ additionalProperties: true }).isJsonOnly, true);
  assert.equal(fieldsOf({ anyOf: [{}] }).isJsonOnly, true);
  const many = Object.fromEntries(Array.from({ length: 61 }, (_, n) => [`p${n}`, {}]));
  assert.equal(fieldsOf({ properties: many }).isJsonOnly, true);
  assert.deepEqual(fieldsOf({}), { fields: [], isJsonOnly: false, risk: "changes" });
});

Deno.test("tryForm() asks before a tool that does not say it is harmless", () => {
  const risk = (annotations: Record<string, unknown>) =>
    tryForm({ name: "t", inputSchema: { type: "object" }, annotations }).risk;
  assert.equal(risk({ destructiveHint: true }), "destroys");
  assert.equal(risk({ readOnlyHint: true }), undefined);
  assert.equal(risk({}), "changes");
  const tool = { name: "t", inputSchema: { type: "object" as const } };
  const reads = { ...tool, annotations: { readOnlyHint: true } };
  assert.equal(tryForm(reads, true).risk, "asked", "a mode does not believe it");
});
