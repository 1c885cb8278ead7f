import assert from "node:assert/strict";
import { type ArgumentField, fieldId, readArguments, readTryForm } from "./try_fields.tsx";

function field(name: string, kind: ArgumentField["kind"], isRequired = false): ArgumentField {
  return { path: name, kind, type: kind, isRequired };
}

const FIELDS = [
  field("city", "text", true),
  field("days", "integer"),
  field("ratio", "number"),
  field("loud", "boolean"),
  field("unit", "choice"),
  field("tags", "json"),
  field("__proto__", "text"),
];

function read(values: Record<string, string>, json = "") {
  const entries: [string, string][] = Object.entries(values).map(([name, value]) => [
    fieldId(name),
    value,
  ]);
  return readArguments(FIELDS, readTryForm([...entries, ["json", json]]));
}

Deno.test("readArguments() makes values of what was written, and leaves out what was not", () => {
  assert.deepEqual(
    read({ city: "Bonn", days: "3", ratio: "0.5", loud: "false", unit: '"c"', tags: '["a"]' }),
    { args: { city: "Bonn", days: 3, ratio: 0.5, loud: false, unit: "c", tags: ["a"] } },
  );
  assert.deepEqual(read({ city: " ", days: "" }), { args: { city: " " } });
});

Deno.test("readArguments() says of each field what is wrong with it", () => {
  assert.deepEqual(read({ days: "1.5", ratio: "x", tags: "{" }), {
    problems: [
      { name: "city", message: "Required" },
      { name: "days", message: "Enter a whole number" },
      { name: "ratio", message: "Enter a number" },
      { name: "tags", message: "Enter valid JSON, with text in double quotes" },
    ],
  });
});

Deno.test("readArguments() takes JSON in place of the fields", () => {
  assert.deepEqual(read({}, ' {"city":""} '), { args: { city: "" } });
  assert.ok("problems" in read({ city: "Bonn" }, "[1]"));
  assert.ok("problems" in read({ city: "Bonn" }, "{"));
});
