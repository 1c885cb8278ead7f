import { defined } from "./defined.ts";
import { isObject } from "./rpc.ts";
import { shortened } from "./text.ts";

export interface Parameter {
  /** The path to it: `filter.tags[]`. */
  path: string;
  depth: number;
  type: string;
  isRequired: boolean;
  description?: string;
  defaultValue?: string;
  /** The values it may have, as JSON. */
  choices?: string[];
  /** Limits in words: "1 to 14", "at most 200 characters". */
  limits?: string;
}

export interface Parameters {
  rows: Parameter[];
  isCut: boolean;
}

type Schema = Record<string, unknown>;

const MAX_ROWS = 200;
const MAX_DEPTH = 4;
const MAX_CHOICES = 30;
const MAX_TEXT = 2_000;

/** Takes any shape: the schema comes from a server, and may refer to itself in a circle. */
export function parametersOf(schema: unknown): Parameters {
  const rows: Parameter[] = [];
  const root = isObject(schema) ? schema : {};
  const isCut = addProperties(root, root, "", 0, rows);
  return { rows, isCut };
}

function addProperties(
  root: Schema,
  schema: Schema,
  prefix: string,
  depth: number,
  rows: Parameter[],
): boolean {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, value] of Object.entries(properties)) {
    if (rows.length >= MAX_ROWS) return true;
    const property = resolveReference(root, value);
    const path = prefix === "" ? name : `${prefix}.${name}`;
    rows.push(parameter(root, property, path, depth, required.includes(name)));
    const inner = property.type === "array" || property.items !== undefined
      ? { schema: resolveReference(root, property.items), path: `${path}[]` }
      : { schema: property, path };
    if (inner.schema.properties === undefined) continue;
    if (depth + 1 >= MAX_DEPTH) continue;
    if (addProperties(root, inner.schema, inner.path, depth + 1, rows)) return true;
  }
  return false;
}

function parameter(
  root: Schema,
  schema: Schema,
  path: string,
  depth: number,
  isRequired: boolean,
): Parameter {
  return {
    path,
    depth,
    type: typeOf(root, schema, 0),
    isRequired,
    ...defined({
      description: typeof schema.description === "string"
        ? schema.description.slice(0, MAX_TEXT)
        : undefined,
      defaultValue: schema.default === undefined ? undefined : json(schema.default),
      choices: choicesOf(schema) ?? choicesOf(resolveReference(root, schema.items)),
      limits: limitsOf(schema),
    }),
  };
}

function typeOf(root: Schema, schema: Schema, depth: number): string {
  if (depth > 3) return "any";
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (alternatives !== undefined) {
    const names = alternatives.slice(0, 8)
      .map((option) => typeOf(root, resolveReference(root, option), depth + 1));
    return [...new Set(names)].join(" or ");
  }
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type])
    .filter((type) => typeof type === "string");
  if (types.length > 1) return types.join(" or ");
  const format = typeof schema.format === "string" ? ` (${schema.format})` : "";
  if (types[0] === "array") {
    const items = resolveReference(root, schema.items);
    const inner = typeOf(root, items, depth + 1);
    return inner === "any" ? "array" : `array of ${inner}`;
  }
  if (types[0] !== undefined) return types[0] + format;
  if (schema.properties !== undefined) return "object";
  const example = choiceValues(schema)?.[0];
  return example === undefined || example === null ? "any" : typeof example;
}

function choicesOf(schema: Schema): string[] | undefined {
  const values = choiceValues(schema);
  if (values === undefined || values.length === 0) return undefined;
  const shown = values.slice(0, MAX_CHOICES).map(json);
  return values.length > MAX_CHOICES ? [...shown, `${values.length - MAX_CHOICES} more`] : shown;
}

function choiceValues(schema: Schema): unknown[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum;
  return schema.const === undefined ? undefined : [schema.const];
}

function limitsOf(schema: Schema): string | undefined {
  const parts = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    typeof schema.pattern === "string" ? `matches ${schema.pattern.slice(0, 200)}` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(", ");
}

function range(least: unknown, most: unknown, unit: string): string | undefined {
  // Generators write the ends of what a double holds where they mean "no limit".
  const low = typeof least === "number" && least > Number.MIN_SAFE_INTEGER ? least : undefined;
  const high = typeof most === "number" && most < Number.MAX_SAFE_INTEGER ? most : undefined;
  if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`;
  if (low !== undefined) return `at least ${low}${unit}`;
  return high === undefined ? undefined : `at most ${high}${unit}`;
}

/** Follows references inside the same schema, a few steps at most. */
export function resolveReference(root: Schema, value: unknown): Schema {
  let schema = isObject(value) ? value : {};
  for (let step = 0; step < 8 && typeof schema.$ref === "string"; step++) {
    const { $ref, ...beside } = schema;
    if (typeof $ref !== "string" || !$ref.startsWith("#")) return schema;
    let target: unknown = root;
    for (const part of $ref.slice(1).split("/").filter((part) => part !== "")) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    schema = { ...(isObject(target) ? target : {}), ...beside };
  }
  return schema;
}

function json(value: unknown): string {
  return shortened(JSON.stringify(value) ?? "", 200);
}
