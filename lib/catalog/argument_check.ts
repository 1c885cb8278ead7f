import { type Schema, Validator } from "@cfworker/json-schema";
import type { CatalogTool } from "./catalog_tool.ts";

/** One way in which arguments do not fit a tool's schema. */
export interface ArgumentProblem {
  /** Where, as `repository.owner`; empty for the arguments as a whole. */
  path: string;
  message: string;
}

const MAX_PROBLEMS = 5;
/** Compiled at the first call of each tool, and gone with it. */
const validators = new WeakMap<CatalogTool, Validator | undefined>();

/** What of the arguments does not fit the tool's schema; nothing where the schema cannot be used. */
export function checkArguments(tool: CatalogTool, args: unknown): ArgumentProblem[] {
  const validator = validatorOf(tool);
  if (!validator) return [];
  let result: ReturnType<Validator["validate"]>;
  try {
    result = validator.validate(args);
  } catch {
    // A schema with a reference that leads nowhere: the server itself has to judge.
    return [];
  }
  if (result.valid) return [];
  // The outer complaints only say that there is an inner one.
  const inner = result.errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
  const problems = (inner.length > 0 ? inner : result.errors).map((error) => ({
    path: error.instanceLocation.replace(/^#\/?/, "").replaceAll("/", "."),
    message: inWords(error.keyword, error.error),
  }));
  const unique = new Map(
    problems.map((problem) => [`${problem.path} ${problem.message}`, problem]),
  );
  return [...unique.values()].slice(0, MAX_PROBLEMS);
}

/** The library's sentences where they say what to do, others where they do not. */
function inWords(keyword: string, sentence: string): string {
  if (keyword === "false") return "is not a parameter of this tool";
  const [, missing] = /required property (".*")\.$/.exec(sentence) ?? [];
  if (missing !== undefined) return `${missing} is missing`;
  const [, given, expected] =
    /^Instance type "(.*)" is invalid\. Expected (".*")\.$/.exec(sentence) ?? [];
  if (expected !== undefined) return `must be ${expected}, not ${given}`;
  return sentence.replace(/^Instance /, "it ");
}

const WRAPPERS = new Set(["properties", "items", "$ref", "allOf", "additionalProperties"]);

function validatorOf(tool: CatalogTool): Validator | undefined {
  if (validators.has(tool)) return validators.get(tool);
  const validator = compile(tool.definition.inputSchema);
  validators.set(tool, validator);
  return validator;
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

/** Whether arguments fit, where that can be told. */
export function fits(tool: CatalogTool, args: unknown): boolean {
  const validator = validatorOf(tool);
  try {
    return validator?.validate(args).valid ?? false;
  } catch {
    return false;
  }
}
