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
