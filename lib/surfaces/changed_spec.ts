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

/** What its owner has decided about a server, which says nothing of how it is reached. */
const DECIDED = [
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
/** What stays where a change does not speak of it. */
export const KEPT = ["disabled", ...DECIDED] as const;

/** What a change does not speak of stays: limits, trust, and whether the server is off or lazy. */
export function withKept(wanted: ServerSpec, stored: ServerSpec): ServerSpec {
  const common = Object.fromEntries(
    KEPT.flatMap((key) => stored[key] === undefined ? [] : [[key, stored[key]]]),
  );
  if (wanted.type !== "stdio") return { ...common, ...wanted };
  const lazy = stored.type === "stdio" ? stored.lazy : undefined;
  return { ...common, ...(lazy === undefined ? {} : { lazy }), ...wanted };
}

/** Whether two entries differ in nothing but what was decided about the server, or that it is off. */
export function isReachedTheSame(spec: ServerSpec, stored: ServerSpec): boolean {
  const decided: ReadonlySet<string> = new Set([
    ...DECIDED,
    ...(spec.disabled ? ["disabled"] : []),
  ]);
  const [is, was] = [spec, stored].map((entry) =>
    JSON.stringify(
      // A switch that is off is as good as none.
      Object.entries(entry).filter(([key, value]) =>
        value !== undefined && value !== false && !decided.has(key)
      ).sort(),
    )
  );
  return is === was;
}

/** Whether two entries run the same program in the same way. */
export function runsTheSame(spec: ProgramSpec, stored: ServerSpec | undefined): boolean {
  return stored?.type === "stdio" &&
    JSON.stringify(programOf(spec)) === JSON.stringify(programOf(stored));
}

/** The program of an entry, without what was decided about the server. */
export function programAlone({ type, command, args, env, cwd }: ProgramSpec): ProgramSpec {
  return { type, command, args, env, ...(cwd === undefined ? {} : { cwd }) };
}

/** What decides what is run. */
export function programOf({ command, args, env, cwd }: ProgramSpec) {
  const variables = Object.entries(env).sort(([a], [b]) => a < b ? -1 : 1);
  return [command, args, variables, cwd ?? null];
}
