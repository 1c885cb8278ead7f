import type { CommandFlag } from "../config/command_line.ts";
import { CallMode, ChangePolicy, type ServerSpec, ServerTrust } from "../core/server.ts";
import type { CommandInput } from "./command.ts";
import { numberOf, timeOf, wordOf } from "./flag_values.ts";

type LimitKey =
  | "mode"
  | "callsPerMinute"
  | "maxConcurrent"
  | "maxResultTokens"
  | "timeoutMs"
  | "trust"
  | "changes";

export type ServerLimits = Pick<ServerSpec, LimitKey>;

/** What may be called of a server and how much, and what becomes of what it changes. */
export const LIMIT_FLAGS: CommandFlag[] = [
  {
    flag: "mode",
    placeholder: "MODE",
    meaning:
      "Calls that are let through: all, confirm (what changes things after a yes), read-only",
  },
  {
    flag: "calls-per-minute",
    placeholder: "N",
    meaning: "Calls begun within a minute by everybody together, at most",
  },
  {
    flag: "max-concurrent",
    placeholder: "N",
    meaning: "Calls under way at once by everybody together, at most",
  },
  {
    flag: "max-result-tokens",
    placeholder: "N",
    meaning: "A longer result is cut, and the rest is read page by page",
  },
  {
    flag: "timeout",
    placeholder: "TIME",
    meaning: "How long a call may take, such as 90s; progress starts the time anew",
  },
  { flag: "trust", placeholder: "WORD", meaning: "`trusted` (the default) or `untrusted`" },
  {
    flag: "changes",
    placeholder: "POLICY",
    meaning: "What becomes of tools that it changes: hold, notify or allow",
  },
];

/** Reads those flags; what is not given is left out. */
export function readLimits(flags: CommandInput["flags"]): ServerLimits {
  const read = {
    mode: wordOf(flags, "mode", CallMode.options),
    callsPerMinute: numberOf(flags, "calls-per-minute", 1, 1_000_000),
    maxConcurrent: numberOf(flags, "max-concurrent", 1, 10_000),
    maxResultTokens: numberOf(flags, "max-result-tokens", 100, 10_000_000),
    timeoutMs: timeOf(flags, "timeout", 100, 86_400_000),
    trust: wordOf(flags, "trust", ServerTrust.options),
    changes: wordOf(flags, "changes", ChangePolicy.options),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** Those that can be taken away again; the others have a word for it. */
const REMOVABLE = new Map<string, LimitKey>([
  ["calls-per-minute", "callsPerMinute"],
  ["max-concurrent", "maxConcurrent"],
  ["max-result-tokens", "maxResultTokens"],
  ["timeout", "timeoutMs"],
]);

/** The same of a change, where `none` takes a limit away. */
export function readChangedLimits(flags: CommandInput["flags"]): ServerLimits {
  const isRemoved = (flag: string) => REMOVABLE.has(flag) && flags.get(flag) === "none";
  const kept = new Map([...flags].filter(([flag]) => !isRemoved(flag)));
  const removed = [...REMOVABLE].filter(([flag]) => isRemoved(flag));
  return {
    ...readLimits(kept),
    // Undefined and not left out: what a change leaves out is kept.
    ...Object.fromEntries(removed.map(([, key]) => [key, undefined])),
  };
}
