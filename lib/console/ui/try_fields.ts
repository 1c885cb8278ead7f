/** One argument of a tool, as a form asks for it. */
export interface TryField {
  name: string;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "json";
  /** Its type in words, from the schema. */
  type: string;
  isRequired: boolean;
  description?: string;
  limits?: string;
  /** What the tool takes where nothing is given, as JSON. */
  defaultValue?: string;
  /** What it may be, each as JSON. */
  choices?: string[];
}

/** What it takes to try a tool. */
export interface TryForm {
  fields: TryField[];
  /** The schema cannot be made into fields: the arguments are written as JSON. */
  isJsonOnly: boolean;
  /** What it may do: asked about before it is called. */
  risk?: "destroys" | "changes" | "asked";
}

/** What somebody wrote into the form. */
export interface TryWords {
  values: Record<string, string>;
  /** All arguments as JSON; where there is any, the fields do not count. */
  json: string;
}

export interface FieldProblem {
  /** Empty for the arguments as a whole. */
  name: string;
  message: string;
}

export type TryArguments =
  | { args: Record<string, unknown> }
  | { problems: FieldProblem[] };

const PREFIX = "arg:";

export function fieldId(name: string): string {
  return PREFIX + name;
}

export function readTryForm(form: Iterable<[string, string]>): TryWords {
  const words: TryWords = { values: {}, json: "" };
  for (const [name, value] of form) {
    if (name === "json") words.json = value;
    else if (name.startsWith(PREFIX)) words.values[name.slice(PREFIX.length)] = value;
  }
  return words;
}

/** The arguments that were meant, or what cannot be read. A field that is empty is not given. */
export function argumentsOf(
  fields: readonly TryField[],
  { values, json }: TryWords,
): TryArguments {
  if (json.trim() !== "") return argumentsIn(json);
  const problems: FieldProblem[] = [];
  const args: Record<string, unknown> = Object.create(null);
  for (const field of fields) {
    const written = Object.hasOwn(values, field.name) ? values[field.name] ?? "" : "";
    if (written === "" && field.isRequired) {
      problems.push({ name: field.name, message: "It is required" });
    }
    if (written === "") continue;
    const read = valueOf(field, written);
    if ("value" in read) args[field.name] = read.value;
    else problems.push({ name: field.name, message: read.problem });
  }
  return problems.length > 0 ? { problems } : { args: { ...args } };
}

function valueOf(
  { kind }: TryField,
  written: string,
): { value: unknown } | { problem: string } {
  switch (kind) {
    case "text":
      return { value: written };
    case "number":
    case "integer": {
      const value = Number(written);
      if (!Number.isFinite(value)) return { problem: "Write a number" };
      if (kind === "integer" && !Number.isInteger(value)) {
        return { problem: "Write a whole number" };
      }
      return { value };
    }
    case "boolean":
      return { value: written === "true" };
    default:
      try {
        return { value: JSON.parse(written) };
      } catch {
        return { problem: "Write valid JSON, with text in double quotes" };
      }
  }
}

function argumentsIn(json: string): TryArguments {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { args: { ...value } };
    }
    return { problems: [{ name: "", message: "The arguments must be an object: { … }" }] };
  } catch {
    return { problems: [{ name: "", message: "The arguments are not valid JSON" }] };
  }
}
