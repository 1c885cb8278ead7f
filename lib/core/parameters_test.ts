import assert from "node:assert/strict";
import fc from "../../tests/fast_check.ts";
import { parametersOf } from "./parameters.ts";

function row(property: unknown, root: object = {}) {
  return parametersOf({ type: "object", properties: { p: property }, ...root }).rows[0];
}

Deno.test("parametersOf() tells type, need, meaning, default, choices and limits", () => {
  const { rows } = parametersOf({
    type: "object",
    required: ["unit"],
    properties: {
      unit: { type: "string", enum: ["C", "F"], description: "Scale", default: "C" },
      days: { type: "integer", minimum: 1, maximum: 14 },
    },
  });
  assert.deepEqual(rows, [
    {
      path: "unit",
      depth: 0,
      type: "string",
      isRequired: true,
      description: "Scale",
      defaultValue: '"C"',
      choices: ['"C"', '"F"'],
    },
    { path: "days", depth: 0, type: "integer", isRequired: false, limits: "1 to 14" },
  ]);
});

Deno.test("parametersOf() reads nested objects and arrays as paths", () => {
  const { rows } = parametersOf({
    properties: {
      filter: {
        type: "object",
        required: ["tags"],
        properties: { tags: { type: "array", items: { type: "string" } } },
      },
      people: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" } } },
      },
    },
  });
  assert.deepEqual(rows.map(({ path, type, depth }) => [path, type, depth]), [
    ["filter", "object", 0],
    ["filter.tags", "array of string", 1],
    ["people", "array of object", 0],
    ["people[].name", "string", 1],
  ]);
});

Deno.test("parametersOf() reads unions, references and constants", () => {
  assert.equal(row({ anyOf: [{ type: "string" }, { type: "null" }] })?.type, "string or null");
  assert.equal(row({ type: ["integer", "null"] })?.type, "integer or null");
  assert.equal(row({ const: 7 })?.type, "number");
  assert.equal(
    row({ $ref: "#/$defs/Day" }, { $defs: { Day: { type: "string", format: "date" } } })?.type,
    "string (date)",
  );
  assert.equal(row(true)?.type, "any");
  assert.equal(row({ type: "integer", maximum: Number.MAX_SAFE_INTEGER })?.limits, undefined);
});

Deno.test("parametersOf() ends for a schema that refers to itself", () => {
  const node = { type: "object", properties: { child: { $ref: "#/$defs/Node" } } };
  const { rows } = parametersOf({
    properties: { root: { $ref: "#/$defs/Node" } },
    $defs: { Node: node },
  });
  assert.ok(rows.length <= 5);
  const loop = parametersOf({
    properties: { a: { $ref: "#/$defs/A" } },
    $defs: { A: { $ref: "#/$defs/A" } },
  });
  assert.equal(loop.rows.length, 1);
});

Deno.test("parametersOf() cuts a schema with thousands of properties and says so", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`p${index}`, {}]),
  );
  const { rows, isCut } = parametersOf({ properties });
  assert.equal(rows.length, 200);
  assert.ok(isCut);
});

Deno.test("parametersOf() never throws, whatever a server sends", () => {
  fc.assert(fc.property(fc.anything(), (value) => {
    parametersOf(value);
    parametersOf({
      properties: { p: value, q: { items: value, enum: value, anyOf: value } },
      required: value,
    });
  }));
});
