import { isObject } from "../core/rpc.ts";
import { resolveReference } from "../core/parameters.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import { EXAMPLE_VALUES, FORMAT_VALUES } from "./data/example_values.ts";
import { fitsSchema } from "./tool_arguments.ts";

export interface ToolExample {
  description: string;
  invocation: Record<string, unknown>;
}

type Schema = Record<string, unknown>;

const MAX_EXAMPLES = 2;
const MAX_DEPTH = 6;
/** What a model reads must stay short. */
const MAX_CHARS = 600;

/**
 * Arguments that show how a tool is called: those of calls that went well, the schema's own, or made
 * from defaults, choices, formats and fields that everybody knows. None rather than empty ones.
 */
export function examplesOf(
  tool: CatalogTool,
  calls: readonly Record<string, unknown>[] = [],
): ToolExample[] {
  const { inputSchema } = tool.definition;
  const isShown = (args: Schema) =>
    Object.keys(args).length > 0 && JSON.stringify(args).length <= MAX_CHARS &&
    fitsSchema(tool, args);
  const written = Array.isArray(inputSchema.examples) ? inputSchema.examples.filter(isObject) : [];
  const given = [
    ...calls.map((invocation) => ({ description: "From a call", invocation })),
    ...written.map((invocation) => ({ description: "From the server", invocation })),
  ].filter(({ invocation }) => isShown(invocation)).slice(0, MAX_EXAMPLES);
  if (given.length > 0) return given;
  return made(inputSchema).filter(({ invocation }) => isShown(invocation));
}

function made(root: Schema): ToolExample[] {
  const least = objectOf(root, root, 0);
  if (least === undefined) return [];
  const required = requiredOf(root);
  const more = Object.entries(propertiesOf(root)).flatMap(([name, part]) => {
    if (required.has(name)) return [];
    const schema = resolveReference(root, part);
    const value = telling(schema);
    // The default changes nothing.
    return value === undefined || value === schema.default ? [] : [{ name, value }];
  })[0];
  return [
    { description: "Required arguments", invocation: least },
    ...(more === undefined ? [] : [{
      description: `With ${more.name}`,
      invocation: { ...least, [more.name]: more.value },
    }]),
  ];
}

/** The required members; undefined if one of them cannot be known. */
function objectOf(root: Schema, schema: Schema, depth: number): Schema | undefined {
  const properties = propertiesOf(schema);
  const result: Schema = {};
  for (const name of requiredOf(schema)) {
    if (!Object.hasOwn(properties, name)) return undefined;
    const value = valueOf(root, resolveReference(root, properties[name]), name, depth + 1);
    if (value === undefined) return undefined;
    result[name] = value;
  }
  return result;
}

function valueOf(root: Schema, schema: Schema, name: string, depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined;
  const said = telling(schema) ?? schema.default;
  if (said !== undefined) return said;
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices) {
    const typed = choices.map((choice) => resolveReference(root, choice))
      .find(({ type }) => type !== "null");
    return typed && valueOf(root, { ...typed, ...described(schema) }, name, depth + 1);
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  switch (types.find((type) => type !== "null")) {
    case "boolean":
      return true;
    case "array": {
      const items = resolveReference(root, schema.items);
      const item = valueOf(root, { ...items, ...described(items, schema) }, singular(name), depth);
      return item === undefined ? undefined : [item];
    }
    case "object":
      return objectOf(root, schema, depth);
    case "string":
      return formatValue(schema) ?? namedValue(schema, name, isText);
    case "integer":
    case "number":
      return namedValue(schema, name, isNumber);
  }
}

/** What the schema itself says: a constant, an example, a choice, or an example in its text. */
function telling(schema: Schema): unknown {
  const { const: constant, examples, example, enum: choices, description = "" } = schema;
  const first = Array.isArray(examples) ? examples[0] : undefined;
  const given = [constant, first, example].find((value) => value !== undefined);
  if (given !== undefined) return given;
  if (Array.isArray(choices)) {
    return choices.find((choice) => choice !== null && choice !== schema.default);
  }
  return spoken(String(description), schema.type);
}

const SPOKEN =
  /(?:\be\.g\.?|\bfor example|\bfor instance|\bexamples?|\bsuch as|\blike)[:,]?\s+(?:[`'"“]([^`'"”\n]{1,80})[`'"”]|(-?\d+(?:\.\d+)?)\b)/i;

/** "The branch, e.g. `main`" */
function spoken(description: string, type: unknown): unknown {
  const [, text, number] = SPOKEN.exec(description) ?? [];
  if (type === "string") return text;
  const isCounted = type === "number" || type === "integer";
  return isCounted && number !== undefined ? Number(number) : undefined;
}

function formatValue({ format }: Schema): string | undefined {
  return typeof format === "string" && Object.hasOwn(FORMAT_VALUES, format)
    ? FORMAT_VALUES[format]
    : undefined;
}

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const FOLDER = /\b(?:director(?:y|ies)|folders?)\b/i;

function namedValue(schema: Schema, name: string, fits: (value: unknown) => boolean): unknown {
  const known = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll("-", "_").toLowerCase();
  if (!Object.hasOwn(EXAMPLE_VALUES, known)) return undefined;
  const value = EXAMPLE_VALUES[known];
  if (!fits(value)) return undefined;
  const isFolder = known === "path" && FOLDER.test(String(schema.description ?? ""));
  return isFolder ? EXAMPLE_VALUES.directory : value;
}

function singular(name: string): string {
  return name.replace(/ies$/, "y").replace(/s$/, "");
}

function described(...schemas: Schema[]): Schema {
  const found = schemas.find(({ description }) => typeof description === "string");
  return found ? { description: found.description } : {};
}

function propertiesOf({ properties }: Schema): Schema {
  return isObject(properties) ? properties : {};
}

function requiredOf({ required }: Schema): Set<string> {
  const names = Array.isArray(required) ? required : [];
  return new Set(names.filter((name) => typeof name === "string"));
}
