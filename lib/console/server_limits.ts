import { GatewayError } from "../core/errors.ts";
import { CallMode, ChangePolicy, type ServerSpec, ServerTrust } from "../core/server.ts";

/** What a server may do, as a form has it; empty is what holds where nothing is said. */
export interface LimitWords {
  mode: string;
  callsPerMinute: string;
  maxConcurrent: string;
  maxResultTokens: string;
  trust: string;
  changes: string;
}

export const NO_LIMITS: LimitWords = {
  mode: "",
  callsPerMinute: "",
  maxConcurrent: "",
  maxResultTokens: "",
  trust: "",
  changes: "",
};

/** What a form says of it; undefined for one that does not ask, which then changes none of it. */
export function readLimits(form: URLSearchParams): LimitWords | undefined {
  const text = (name: keyof LimitWords) => form.get(name)?.trim() ?? "";
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

export function limitWords(spec: ServerSpec): LimitWords {
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
export function withLimits(spec: ServerSpec, words: LimitWords | undefined): ServerSpec {
  if (words === undefined) return spec;
  const given = Object.entries(limitsOf(words)).filter(([, value]) => value !== undefined);
  return { ...spec, ...Object.fromEntries(given) };
}

/** A changed entry with exactly these limits. */
export function replaceLimits(spec: ServerSpec, words: LimitWords | undefined): ServerSpec {
  // Undefined and not left out: what a change leaves out is kept.
  return words === undefined ? spec : { ...spec, ...limitsOf(words) };
}

function limitsOf(words: LimitWords): Pick<ServerSpec, keyof LimitWords> {
  return {
    mode: wordOf(words.mode, "Calls that are let through", CallMode),
    callsPerMinute: numberOf(words.callsPerMinute, "Calls a minute", 1, 1_000_000),
    maxConcurrent: numberOf(words.maxConcurrent, "Calls at once", 1, 10_000),
    maxResultTokens: numberOf(words.maxResultTokens, "Tokens of a result", 100, 10_000_000),
    trust: wordOf(words.trust, "Trust", ServerTrust),
    changes: wordOf(words.changes, "Changes of its tools", ChangePolicy),
  };
}

interface Words<T extends string> {
  options: readonly T[];
}

function wordOf<T extends string>(text: string, what: string, { options }: Words<T>) {
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
