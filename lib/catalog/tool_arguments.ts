import { type Schema, Validator } from "@cfworker/json-schema";
import type { CatalogTool } from "./catalog_tool.ts";

const MAX_PROBLEMS = 5;
type Defined = Pick<CatalogTool, "definition">;
/** Compiled at the first call of each tool, and gone with it. */
const validators = new WeakMap<Defined, Validator | undefined>();

/** What is wrong with arguments, in words; undefined if nothing is. */
export function argumentProblems(tool: Defined, args: unknown): string | undefined {
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
function validate(tool: Defined, args: unknown) {
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
