import { InertText } from "../../../../../components/text.tsx";
import { inertString } from "../../../../../lib/console/ui/format.ts";
import type { Parameter } from "../../../../../lib/core/parameters.ts";

/** One argument of a tool, as a form asks for it; its path is its name. */
export interface ArgumentField extends Omit<Parameter, "depth" | "choices"> {
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "json";
  /** The allowed values, as JSON. */
  choices?: string[] | undefined;
}

export interface TryForm {
  fields: ArgumentField[];
  /** The schema cannot be made into fields: the arguments are written as JSON. */
  isJsonOnly: boolean;
  /** Its effect, confirmed before the call. */
  risk?: "destroys" | "changes" | "asked" | undefined;
}

export interface TryValues {
  values: Record<string, string>;
  /** All arguments as JSON; where there is any, the fields do not count. */
  json: string;
}

export interface FieldProblem {
  /** Empty for the arguments as a whole. */
  name: string;
  message: string;
}

type TryArguments =
  | { args: Record<string, unknown> }
  | { problems: FieldProblem[] };

const PREFIX = "arg:";

export function fieldId(name: string): string {
  return PREFIX + name;
}

export function readTryForm(form: Iterable<[string, string]>): TryValues {
  const written: TryValues = { values: {}, json: "" };
  for (const [name, value] of form) {
    if (name === "json") written.json = value;
    else if (name.startsWith(PREFIX)) written.values[name.slice(PREFIX.length)] = value;
  }
  return written;
}

/** The arguments in a form, or its problems. Empty fields are left out. */
export function readArguments(
  fields: readonly ArgumentField[],
  { values, json }: TryValues,
): TryArguments {
  if (json.trim() !== "") return argumentsIn(json);
  const problems: FieldProblem[] = [];
  const args: Record<string, unknown> = Object.create(null);
  for (const { path: name, kind, isRequired } of fields) {
    const written = Object.hasOwn(values, name) ? values[name] ?? "" : "";
    if (written === "" && isRequired) problems.push({ name, message: "Required" });
    if (written === "") continue;
    const read = valueOf(kind, written);
    if ("value" in read) args[name] = read.value;
    else problems.push({ name, message: read.problem });
  }
  return problems.length > 0 ? { problems } : { args: { ...args } };
}

function valueOf(
  kind: ArgumentField["kind"],
  written: string,
): { value: unknown } | { problem: string } {
  if (kind === "text") return { value: written };
  if (kind === "boolean") return { value: written === "true" };
  if (kind === "number" || kind === "integer") {
    const value = Number(written);
    if (!Number.isFinite(value)) return { problem: "Enter a number" };
    const isFit = kind === "number" || Number.isInteger(value);
    return isFit ? { value } : { problem: "Enter a whole number" };
  }
  try {
    return { value: JSON.parse(written) };
  } catch {
    return { problem: "Enter valid JSON, with text in double quotes" };
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

interface TryFieldProps {
  field: ArgumentField;
  value: string;
  problem?: string | undefined;
}

export function TryField({ field, value, problem }: TryFieldProps) {
  const { path: name, type, isRequired, description, limits } = field;
  const id = fieldId(name);
  return (
    <div class="field try-field">
      <label for={id}>
        <InertText as="span" class="mono" text={name} />
        <span class="try-type">
          <InertText text={type} />
          {isRequired && <span class="try-required">required</span>}
        </span>
      </label>
      <Control field={field} value={value} problem={problem} />
      <p class="hint" id={`${id}-hint`}>
        {problem !== undefined && <strong class="try-problem" role="alert">{problem}.</strong>}
        {description !== undefined && <InertText text={description} />}
        {limits !== undefined && <InertText as="span" class="mono" text={limits} />}
      </p>
    </div>
  );
}

function Control({ field, value, problem }: TryFieldProps) {
  const { path, kind, isRequired, defaultValue, choices } = field;
  const id = fieldId(path);
  const common = {
    id,
    name: id,
    required: isRequired,
    "aria-describedby": `${id}-hint`,
    ...(problem === undefined ? {} : { "aria-invalid": "true" as const }),
  };
  const given = defaultValue === undefined ? "" : `Default: ${inertString(defaultValue)}`;
  if (kind === "boolean" || kind === "choice") {
    const values = kind === "boolean" ? ["true", "false"] : choices ?? [];
    return (
      <select {...common} class="select try-select">
        <option value="">{isRequired ? "Choose one" : given || "Not set"}</option>
        {values.map((choice) => (
          <option key={choice} value={choice} selected={choice === value}>
            {inertString(choice)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "number" || kind === "integer") {
    return (
      <input
        {...common}
        type="number"
        step={kind === "integer" ? 1 : "any"}
        class="input try-number"
        placeholder={given}
        defaultValue={value}
      />
    );
  }
  return (
    <textarea
      {...common}
      class={kind === "json" ? "input mono try-text" : "input try-text"}
      rows={kind === "json" ? 2 : 1}
      spellcheck={false}
      placeholder={given || (kind === "json" ? "JSON" : "")}
      defaultValue={value}
    />
  );
}
