import type { ServerSpec } from "../core/server.ts";
import { maskSpec } from "./masked_spec.ts";

export type ProgramSpec = Extract<ServerSpec, { type: "stdio" }>;

/** Both sides as they may be shown; says so where only what is masked differs. */
export function maskedChange(before: ServerSpec, after: ServerSpec): [ServerSpec, object] {
  const [was, is] = [maskSpec(before), maskSpec(after)];
  const isHidden = JSON.stringify(was) === JSON.stringify(is) &&
    JSON.stringify(before) !== JSON.stringify(after);
  return [was, isHidden ? { ...is, hiddenValues: "changed" } : is];
}

/** What its owner has decided about a server, wherever it is. */
const KEPT = [
  "disabled",
  "timeoutMs",
  "trust",
  "changes",
  "mode",
  "readOnlyTools",
  "writingTools",
  "callsPerMinute",
  "maxConcurrent",
  "maxResultTokens",
] as const;

/** What a change does not speak of stays: limits, trust, and whether the server is off or lazy. */
export function withKept(wanted: ServerSpec, stored: ServerSpec): ServerSpec {
  const common = Object.fromEntries(
    KEPT.flatMap((key) => stored[key] === undefined ? [] : [[key, stored[key]]]),
  );
  if (wanted.type !== "stdio") return { ...common, ...wanted };
  const lazy = stored.type === "stdio" ? stored.lazy : undefined;
  return { ...common, ...(lazy === undefined ? {} : { lazy }), ...wanted };
}

/** Whether two entries run the same program in the same way. */
export function runsTheSame(spec: ProgramSpec, stored: ServerSpec | undefined): boolean {
  return stored?.type === "stdio" &&
    JSON.stringify(programOf(spec)) === JSON.stringify(programOf(stored));
}

/** What decides what is run. */
export function programOf({ command, args, env, cwd }: ProgramSpec) {
  const variables = Object.entries(env).sort(([a], [b]) => a < b ? -1 : 1);
  return [command, args, variables, cwd ?? null];
}
