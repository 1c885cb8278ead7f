import * as z from "zod";
import { GatewayError } from "../../../../lib/core/errors.ts";
import { isProgram, isRemote, type ServerSpec } from "../../../../lib/core/server.ts";
import { choicesOf, fieldsOf, readField } from "../../../../lib/operations/fields.ts";
import { SERVER_LIMITS } from "../../../../lib/operations/server_entry.ts";

/** The limits that the form asks for. */
const LABELS = {
  mode: "Allowed calls",
  callsPerMinute: "Calls per minute",
  maxConcurrent: "Concurrent calls",
  maxResultTokens: "Tokens per result",
  answers: "Content guard",
  instance: "Instances",
  idleTimeoutMs: "Idle time in ms",
  trust: "Trust",
  changes: "Policy for changed tools",
} as const;
type LimitName = keyof typeof LABELS;

/** The limits of a server as form fields; empty is the default. */
export type LimitFields = Record<LimitName, string>;

const NAMES = Object.keys(LABELS) as LimitName[];
const DEFAULTS: Partial<ServerSpec> = { mode: "all", trust: "normal", instance: "shared" };

function eachLimit<T>(make: (name: LimitName) => T): Record<LimitName, T> {
  return Object.fromEntries(NAMES.map((name) => [name, make(name)])) as Record<LimitName, T>;
}

export const NO_LIMITS: LimitFields = eachLimit(() => "");

/** The limits in a form; undefined if it has no such fields, and then none is changed. */
export function readLimits(form: URLSearchParams): LimitFields | undefined {
  if (!NAMES.some((name) => form.has(name))) return undefined;
  return eachLimit((name) => form.get(name)?.trim() ?? "");
}

export function limitFields(spec: ServerSpec): LimitFields {
  return eachLimit((name) => spec[name] === DEFAULTS[name] ? "" : String(spec[name] ?? ""));
}

/** The limits as an operation takes them; null for what is empty. */
export function limitValues(limits: LimitFields): Record<LimitName, unknown> {
  return eachLimit((name) => limits[name] === "" ? null : limitValue(name, limits[name]));
}

function limitValue(name: LimitName, text: string): unknown {
  const [field] = fieldsOf(z.strictObject({ [name]: SERVER_LIMITS[name] }));
  const value = readField(field!, [text]);
  if (field!.type.safeParse(value).success) return value;
  const choices = choicesOf(field!)?.join(", ");
  const { minValue, maxValue } = field!.type as z.ZodNumber;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `${LABELS[name]}: ` +
      (choices === undefined
        ? `enter a whole number from ${minValue} to ${maxValue}, or leave it empty`
        : `"${text.slice(0, 40)}" is not one of ${choices}`),
    recoveryAction: "Correct it under Limits and submit again",
  });
}

/** How a program is isolated as form fields; the lists have one item a line. */
export type IsolationFields = Record<"kind" | (typeof LISTS)[number] | "image", string>;

const LISTS = ["read", "write", "net"] as const;
export const NOT_ISOLATED: IsolationFields = { kind: "", read: "", write: "", net: "", image: "" };
const linesOf = (text: string) => text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);

/** The isolation in a form; undefined if it has no such fields, and then it is not changed. */
export function readIsolation(form: URLSearchParams): IsolationFields | undefined {
  if (!form.has("isolation.kind")) return undefined;
  const names = Object.keys(NOT_ISOLATED).map((
    name,
  ) => [name, form.get(`isolation.${name}`)?.trim() ?? ""]);
  return Object.fromEntries(names) as IsolationFields;
}

export function isolationFields(spec: ServerSpec): IsolationFields {
  if (!isProgram(spec) || spec.isolation === undefined) return NOT_ISOLATED;
  const { kind, image = "", ...lists } = spec.isolation;
  const texts = LISTS.map((name) => [name, (lists[name] ?? []).join("\n")]);
  return {
    ...NOT_ISOLATED,
    ...Object.fromEntries(texts),
    kind: kind === "none" ? "" : kind,
    image,
  };
}

/** The isolation as an operation takes it; null for none. */
export function isolationValue(fields: IsolationFields): unknown {
  if (Object.values(fields).every((text) => text === "")) return null;
  const lists = LISTS.map((name) => [name, linesOf(fields[name])] as const);
  return {
    kind: fields.kind || "none",
    ...Object.fromEntries(lists.filter(([, lines]) => lines.length > 0)),
    ...fields.image === "" ? {} : { image: fields.image },
  };
}

/** A server's headers or variables, one a line, as a form shows them. */
export function settingsText(spec: ServerSpec): string {
  const [values, sign] = isProgram(spec)
    ? [spec.env, "="]
    : [isRemote(spec) ? spec.headers : {}, ": "];
  return Object.entries(values).map(([name, value]) => name + sign + value).join("\n");
}

/** An entry with the headers or variables that were written beside it. */
export function withSettings(spec: ServerSpec, text: string, folder = ""): ServerSpec {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "");
  if (isProgram(spec)) {
    return {
      ...spec,
      env: { ...spec.env, ...pairs(lines, /^([^=\s]+)=(.*)$/s, "NAME=value") },
      ...(folder === "" ? {} : { cwd: folder }),
    };
  }
  if (!isRemote(spec)) return spec;
  if (folder !== "") {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "A server with a URL has no working folder",
      recoveryAction: "Leave the folder empty",
    });
  }
  return {
    ...spec,
    headers: { ...spec.headers, ...pairs(lines, /^([^:\s]+):\s*(.*)$/s, "Name: value") },
  };
}

function pairs(
  lines: readonly { line: string; number: number }[],
  form: RegExp,
  written: string,
): Record<string, string> {
  return Object.fromEntries(lines.map(({ line, number }) => {
    const [, name, value] = form.exec(line) ?? [];
    if (name !== undefined && value !== undefined) return [name, value];
    // Not with the text itself: it may be a secret that is written wrongly.
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: `Line ${number} under headers and variables is invalid`,
      recoveryAction: `Write it as ${written}`,
    });
  }));
}
