import { type Schema, Validator } from "@cfworker/json-schema";
import type { CatalogTool } from "./catalog_tool.ts";
import { isObject } from "../core/rpc.ts";

const MAX_PROBLEMS = 5;
/** Compiled at the first call of each tool, and gone with it. */
const validators = new WeakMap<CatalogTool, Validator | undefined>();

/** What is wrong with arguments, in words; undefined if nothing is. */
export function argumentProblems(tool: CatalogTool, args: unknown): string | undefined {
  const errors = validate(tool, args)?.errors ?? [];
  if (errors.length === 0) return undefined;
  // The outer complaints only say that there is an inner one.
  const inner = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
  const problems = (inner.length > 0 ? inner : errors).map((error) => {
    const path = error.instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
    const message = problemText(error.keyword, error.error).replace(/\.$/, "");
    return path === "" ? message : `${path}: ${message}`;
  });
  return [...new Set(problems)].slice(0, MAX_PROBLEMS).join("; ");
}

/** The library's sentences where they say what to do, others where they do not. */
function problemText(keyword: string, sentence: string): string {
  if (keyword === "false") return "is not a parameter of this tool";
  const [, missing] = /required property (".*")\.$/.exec(sentence) ?? [];
  if (missing !== undefined) return `${missing} is missing`;
  const [, given, expected] =
    /^Instance type "(.*)" is invalid\. Expected (".*")\.$/.exec(sentence) ?? [];
  if (expected !== undefined) return `must be ${expected}, not ${given}`;
  return sentence.replace(/^Instance /, "it ");
}

const WRAPPERS = new Set(["properties", "items", "$ref", "allOf", "additionalProperties"]);

/** Undefined if the schema cannot be used: then the server itself has to judge. */
function validate(tool: CatalogTool, args: unknown) {
  if (!validators.has(tool)) validators.set(tool, compile(tool.definition.inputSchema));
  try {
    return validators.get(tool)?.validate(args);
  } catch {
    // A reference in it leads nowhere.
    return undefined;
  }
}

function compile(schema: Record<string, unknown>): Validator | undefined {
  const { $schema } = schema;
  const draft = typeof $schema === "string" ? draftOf($schema) : "2020-12";
  try {
    return draft && new Validator(schema as Schema, draft, false);
  } catch {
    return undefined;
  }
}

/** Undefined for a dialect that is not known: checking by other rules could refuse what is right. */
function draftOf(uri: string) {
  if (uri.includes("2020-12")) return "2020-12";
  if (uri.includes("2019-09")) return "2019-09";
  if (uri.includes("draft-07") || uri.includes("draft-06")) return "7";
  return uri.includes("draft-04") ? "4" : undefined;
}

export function fitsSchema(tool: CatalogTool, args: unknown): boolean {
  return validate(tool, args)?.valid ?? false;
}

const MAX_EXAMPLES = 2;
const MAX_DEPTH = 6;
const FORMATS: Record<string, string> = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  time: "12:00:00Z",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com",
  url: "https://example.com",
  uuid: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
};

export function examplesOf(tool: CatalogTool) {
  const { inputSchema } = tool.definition;
  const given = Array.isArray(inputSchema.examples) ? inputSchema.examples : [];
  const own = given.filter(isObject).filter((args) => fitsSchema(tool, args)).slice(0, MAX_EXAMPLES)
    .map((invocation) => ({ description: "From the server", invocation }));
  if (own.length > 0) return own;
  const sampler = new Sampler(inputSchema);
  const [least, most] = [sampler.object(inputSchema, false), sampler.object(inputSchema, true)];
  const made = [{ description: "Required arguments only", invocation: least }];
  const common = Object.keys(most).find((name) => !Object.hasOwn(least, name));
  if (common) {
    made.push({ description: `With ${common}`, invocation: { ...least, [common]: most[common] } });
  }
  return made.filter(({ invocation }) => fitsSchema(tool, invocation));
}

/** Makes values for a schema; they need not fit, and are checked before they are shown. */
class Sampler {
  readonly #root: Record<string, unknown>;

  constructor(root: Record<string, unknown>) {
    this.#root = root;
  }

  object(schema: Record<string, unknown>, withOptional: boolean, depth = 0) {
    const { properties, required } = schema;
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    const result: Record<string, unknown> = {};
    for (const [name, part] of Object.entries(isObject(properties) ? properties : {})) {
      if (!withOptional && !needed.has(name)) continue;
      const value = this.#value(part, name, depth + 1);
      if (value !== undefined) result[name] = value;
    }
    return result;
  }

  #value(part: unknown, name: string, depth: number): unknown {
    const schema = this.#follow(part);
    if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
    const [given] = [schema.const, schema.default, first(schema.examples), schema.example]
      .filter((value) => value !== undefined);
    if (given !== undefined) return given;
    const choices = schema.enum ?? schema.anyOf ?? schema.oneOf;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    if (Array.isArray(choices)) {
      const typed = choices.find((choice) => isObject(choice) && choice.type !== "null");
      return this.#value(typed, name, depth + 1);
    }
    if (Array.isArray(schema.allOf)) {
      const merged = Object.assign({}, ...schema.allOf.map((one) => this.#follow(one)));
      return this.#value(merged, name, depth + 1);
    }
    const type = Array.isArray(schema.type)
      ? schema.type.find((one) => one !== "null")
      : schema.type ?? (schema.properties === undefined ? "string" : "object");
    return this.#ofType(type, schema, name, depth);
  }

  #ofType(type: unknown, schema: Record<string, unknown>, name: string, depth: number): unknown {
    switch (type) {
      case "string":
        return text(schema, name);
      case "integer":
      case "number":
        return number(schema);
      case "boolean":
        return true;
      case "array": {
        const item = this.#value(schema.items ?? { type: "string" }, name, depth + 1);
        const count = Math.min(5, Math.max(1, Number(schema.minItems ?? 1)));
        return item === undefined ? [] : Array.from({ length: count }, () => item);
      }
      case "object":
        return this.object(schema, false, depth);
    }
  }

  #follow(part: unknown): unknown {
    for (let steps = 0; isObject(part) && typeof part.$ref === "string" && steps < 10; steps++) {
      if (!part.$ref.startsWith("#/")) return undefined;
      part = part.$ref.slice(2).split("/").reduce<unknown>(
        (at, key) => isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined,
        this.#root,
      );
    }
    return part;
  }
}

function text({ format, minLength, maxLength }: Record<string, unknown>, name: string): string {
  const known = typeof format === "string" && Object.hasOwn(FORMATS, format)
    ? FORMATS[format]
    : undefined;
  if (known !== undefined) return known;
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").toLowerCase();
  const value = `example ${words}`.padEnd(Math.min(200, Number(minLength ?? 0)), "x");
  return typeof maxLength === "number" ? value.slice(0, maxLength) : value;
}

function number(schema: Record<string, unknown>): number {
  const bound = (key: string) => typeof schema[key] === "number" ? schema[key] : undefined;
  const above = bound("exclusiveMinimum");
  const least = bound("minimum") ?? (above === undefined ? 1 : above + 1);
  const step = bound("multipleOf");
  const value = step === undefined || step <= 0 ? least : Math.ceil(least / step) * step;
  return Math.min(value, bound("maximum") ?? value);
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}
