import { GatewayError } from "../core/errors.ts";
import { nearest } from "../core/text.ts";

type Schema = Record<string, unknown>;
type Arguments = Record<string, unknown>;

/** Reads a JSON object; `-` has been read from standard input by then. */
export function parseJsonArguments(text: string): Arguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(
      `The arguments are not valid JSON: ${error instanceof Error ? error.message : error}`,
      `Write them as '{"name": "value"}', or as name=value`,
    );
  }
  const object = asSchema(value);
  if (object) return object;
  throw wrong("The arguments must be a JSON object", `Write them as '{"name": "value"}'`);
}

export function parseWordArguments(words: readonly string[], inputSchema: unknown): Arguments {
  const schema = asSchema(inputSchema) ?? {};
  const properties = asSchema(schema.properties) ?? {};
  const given = new Map<string, string[]>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw wrong(
        `"${word}" is not an argument`,
        "Write arguments as name=value, or all of them as one JSON text",
      );
    }
    const name = word.slice(0, equals);
    given.set(name, [...given.get(name) ?? [], word.slice(equals + 1)]);
  }
  for (const name of given.keys()) checkName(name, properties, schema);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.filter((name) => !given.has(name));
  if (missing.length > 0) {
    throw wrong(
      `The tool needs ${missing.map((name) => described(name, properties)).join(", ")}`,
      `Give ${missing.map((name) => `${name}=VALUE`).join(" ")}`,
    );
  }
  return Object.fromEntries(
    Array.from(given, ([name, texts]) => [name, valueOf(name, texts, own(properties, name))]),
  );
}

function checkName(name: string, properties: Schema, schema: Schema): void {
  if (Object.hasOwn(properties, name)) return;
  const guess = nearest(name, Object.keys(properties));
  // A schema that says nothing allows any other name; one that looks like a typo still is one.
  if (guess === undefined && schema.additionalProperties !== false) return;
  throw wrong(
    `The tool has no parameter "${name}"`,
    guess === undefined
      ? `It has ${Object.keys(properties).join(", ") || "none"}`
      : `Did you mean ${guess}? (As JSON any name is passed on)`,
  );
}

function valueOf(name: string, texts: string[], schema: Schema): unknown {
  const types = typesOf(schema);
  if (!types.has("array") || (texts.length === 1 && texts[0]!.trim().startsWith("["))) {
    if (texts.length > 1) throw wrong(`${name} was given twice`, "Give it once");
    return single(name, texts[0]!, types);
  }
  // Given once or more often, each time one element.
  const items = typesOf(asSchema(schema.items) ?? {});
  return texts.map((text) => single(name, text, items));
}

function single(name: string, text: string, types: ReadonlySet<string>): unknown {
  if (types.size === 1 && types.has("string")) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (value !== undefined && (types.size === 0 || types.has(typeName(value)))) return value;
  if (Number.isInteger(value) && types.has("integer")) return value;
  if (types.size === 0 || types.has("string")) return text;
  throw wrong(
    `${name} must be ${words(types)}, not "${text.slice(0, 80)}"`,
    `Write ${example(name, types)}`,
  );
}

function typesOf(schema: Schema): Set<string> {
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (alternatives) {
    const each = alternatives.map((option) => typesOf(asSchema(option) ?? {}));
    return each.some(({ size }) => size === 0) ? new Set() : each.reduce((a, b) => a.union(b));
  }
  const named = (Array.isArray(schema.type) ? schema.type : [schema.type])
    .filter((type) => typeof type === "string");
  if (named.length > 0) return new Set(named);
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  return new Set(values.map(typeName));
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function described(name: string, properties: Schema): string {
  const types = typesOf(own(properties, name));
  return types.size === 0 ? name : `${name} (${[...types].join(" or ")})`;
}

const WORDS: Record<string, string> = {
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a JSON list",
  null: "null",
};

function words(types: ReadonlySet<string>): string {
  return Array.from(types, (type) => WORDS[type] ?? type).join(" or ");
}

function example(name: string, types: ReadonlySet<string>): string {
  if (types.has("boolean")) return `${name}=true`;
  if (types.has("object")) return `${name}='{"key": "value"}'`;
  return types.has("array") ? `${name}='["a", "b"]'` : `${name}=5`;
}

function own(properties: Schema, name: string): Schema {
  return Object.hasOwn(properties, name) ? asSchema(properties[name]) ?? {} : {};
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Schema
    : undefined;
}

function wrong(message: string, step: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", { message, recoverySteps: [step] });
}
