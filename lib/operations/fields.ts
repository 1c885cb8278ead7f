import * as z from "zod";

/** Names that are looked up for completion. */
export type NameKind =
  | "server"
  | "toolset"
  | "tool"
  | "project"
  | "token"
  | "secret"
  | "job"
  | "client"
  | "consent"
  | "candidate"
  | "prompt";

/** How a field of an input is written and completed on a command line, beyond what its schema says. */
export interface FieldHints {
  /** The flag's name, if it is not the field's own in kebab case. */
  flag?: string;
  /** What stands for the value in help texts; default: the field's name in capitals. */
  placeholder?: string;
  /** What a command's help says, if that is more than the description for models. */
  help?: string;
  /** Those of its values that a command line takes, if not all. */
  choices?: readonly string[];
  /** What completes it: names to look up, files, or nothing for a text that is made up. */
  completes?: NameKind | "file" | "nothing";
  /** Not a flag: another entrance's field, or one that a command's own parser fills in. */
  isHidden?: boolean;
  /** A person's to decide: not listed over MCP, and refused there. */
  isForPeople?: boolean;
}

/** Hints by schema: `z.string().register(fieldHints, { completes: "server" })`. */
export const fieldHints = z.registry<FieldHints>();

export interface InputField {
  name: string;
  /** The schema without optional, nullable and default. */
  type: z.ZodType;
  isRequired: boolean;
  /** The schema's default; undefined if there is none. */
  default: unknown;
  description: string | undefined;
  hints: FieldHints;
}

/** The fields of an input, in the order they are declared. */
export function fieldsOf(input: z.ZodObject): InputField[] {
  return Object.entries(input.shape).map(([name, schema]) => fieldOf(name, schema as z.ZodType));
}

function fieldOf(name: string, schema: z.ZodType): InputField {
  const field: InputField = {
    name,
    type: schema,
    isRequired: true,
    default: undefined,
    description: schema.description,
    hints: fieldHints.get(schema) ?? {},
  };
  for (;;) {
    const { type } = field;
    if (type instanceof z.ZodDefault) {
      field.isRequired = false;
      field.default = type.def.defaultValue;
    } else if (type instanceof z.ZodOptional) field.isRequired = false;
    else if (!(type instanceof z.ZodNullable)) return field;
    field.type = (type as z.ZodOptional<z.ZodType>).unwrap();
    field.description ??= field.type.description;
    field.hints = { ...fieldHints.get(field.type), ...field.hints };
  }
}

/** The values that a field can have, if they are few. */
export function choicesOf({ type, hints }: InputField): string[] | undefined {
  if (hints.choices) return [...hints.choices];
  const inner = type instanceof z.ZodArray ? type.element : type;
  return inner instanceof z.ZodEnum ? inner.options.map(String) : undefined;
}

export function isSwitch({ type }: InputField): boolean {
  return type instanceof z.ZodBoolean;
}

export function isList({ type }: InputField): boolean {
  return type instanceof z.ZodArray;
}

/**
 * A field's value from the texts written for it in a form, a query or flags. What cannot be read is
 * left as text, for the schema to refuse with its own message.
 */
export function readField({ type }: Pick<InputField, "type">, texts: readonly string[]): unknown {
  if (type instanceof z.ZodArray) {
    const { element } = type as z.ZodArray<z.ZodType>;
    return texts.map((text) => readField({ type: element }, [text]));
  }
  const text = texts.at(-1) ?? "";
  if (type instanceof z.ZodBoolean) {
    return /^(true|on|yes|1|)$/i.test(text) || (/^(false|off|no|0)$/i.test(text) ? false : text);
  }
  if (type instanceof z.ZodNumber) {
    return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  }
  if (type instanceof z.ZodString || type instanceof z.ZodEnum) return text;
  if (type instanceof z.ZodUnion && type.options.some((option) => option instanceof z.ZodString)) {
    return text;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * An input from named texts. An empty text for an optional field leaves the field out, as a form's
 * empty input does; fields without a text keep their defaults.
 */
export function readTexts(
  input: z.ZodObject,
  texts: Iterable<[string, string]>,
): Record<string, unknown> {
  const given = Map.groupBy(texts, ([name]) => name);
  const read: Record<string, unknown> = {};
  const known = new Set<string>();
  for (const field of fieldsOf(input)) {
    const values = given.get(field.name)?.map(([, text]) => text);
    known.add(field.name);
    if (!values) continue;
    const isEmpty = values.every((text) => text === "") && !field.isRequired && !isSwitch(field);
    if (!isEmpty) read[field.name] = readField(field, values);
  }
  // For the schema to refuse.
  for (const [name, [first]] of given) if (!known.has(name)) read[name] = first?.[1];
  return read;
}
