import { isProgram } from "../../../../lib/core/server.ts";
import { isRemote } from "../../../../lib/core/server.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import {
  CallMode,
  ChangePolicy,
  type ServerSpec,
  ServerTrust,
} from "../../../../lib/core/server.ts";

/** The limits of a server as form fields; empty is the default. */
export interface LimitFields {
  mode: string;
  callsPerMinute: string;
  maxConcurrent: string;
  maxResultTokens: string;
  trust: string;
  changes: string;
}

export const NO_LIMITS: LimitFields = {
  mode: "",
  callsPerMinute: "",
  maxConcurrent: "",
  maxResultTokens: "",
  trust: "",
  changes: "",
};

/** The limits in a form; undefined if it has no such fields, and then none is changed. */
export function readLimits(form: URLSearchParams): LimitFields | undefined {
  const text = (name: keyof LimitFields) => form.get(name)?.trim() ?? "";
  if (!Object.keys(NO_LIMITS).some((name) => form.has(name))) return undefined;
  return {
    mode: text("mode"),
    callsPerMinute: text("callsPerMinute"),
    maxConcurrent: text("maxConcurrent"),
    maxResultTokens: text("maxResultTokens"),
    trust: text("trust"),
    changes: text("changes"),
  };
}

export function limitFields(spec: ServerSpec): LimitFields {
  const { mode, trust, changes, callsPerMinute, maxConcurrent, maxResultTokens } = spec;
  return {
    mode: mode === undefined || mode === "all" ? "" : mode,
    callsPerMinute: callsPerMinute?.toString() ?? "",
    maxConcurrent: maxConcurrent?.toString() ?? "",
    maxResultTokens: maxResultTokens?.toString() ?? "",
    trust: trust === "untrusted" ? trust : "",
    changes: changes ?? "",
  };
}

/** An entry with the limits that were written beside it; what is empty stays as the entry has it. */
export function withLimits(spec: ServerSpec, limits: LimitFields | undefined): ServerSpec {
  if (limits === undefined) return spec;
  const given = Object.entries(limitsOf(limits)).filter(([, value]) => value !== undefined);
  return { ...spec, ...Object.fromEntries(given) };
}

/** A changed entry with exactly these limits. */
export function replaceLimits(spec: ServerSpec, limits: LimitFields | undefined): ServerSpec {
  // Undefined and not left out: what a change leaves out is kept.
  return limits === undefined ? spec : { ...spec, ...limitsOf(limits) };
}

function limitsOf(limits: LimitFields): Pick<ServerSpec, keyof LimitFields> {
  return {
    mode: choiceOf(limits.mode, "Calls that are let through", CallMode),
    callsPerMinute: numberOf(limits.callsPerMinute, "Calls a minute", 1, 1_000_000),
    maxConcurrent: numberOf(limits.maxConcurrent, "Calls at once", 1, 10_000),
    maxResultTokens: numberOf(limits.maxResultTokens, "Tokens of a result", 100, 10_000_000),
    trust: choiceOf(limits.trust, "Trust", ServerTrust),
    changes: choiceOf(limits.changes, "Changes of its tools", ChangePolicy),
  };
}

interface Choices<T extends string> {
  options: readonly T[];
}

function choiceOf<T extends string>(text: string, what: string, { options }: Choices<T>) {
  if (text === "") return undefined;
  const word = options.find((option) => option === text);
  if (word !== undefined) return word;
  throw invalid(`${what}: "${text.slice(0, 40)}" is none of ${options.join(", ")}`);
}

function numberOf(text: string, what: string, least: number, most: number): number | undefined {
  if (text === "") return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw invalid(`${what}: write a whole number from ${least} to ${most}, or nothing`);
}

function invalid(message: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message,
    recoveryAction: "Correct it under Limits, and send the form again",
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
      message: "A server with an address has no folder",
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
      message: `Line ${number} under headers and variables cannot be read`,
      recoveryAction: `Write it as ${written}`,
    });
  }));
}
