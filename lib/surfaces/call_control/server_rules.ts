import { isObject } from "../../core/rpc.ts";
import { matcherOf } from "../../core/access.ts";
import type { CallMode, ServerSpec } from "../../core/server.ts";
import type { CatalogTool } from "../../catalog/catalog_tool.ts";

/** What a call of a tool does: it reads alone, it only adds, or it may overwrite and delete. */
export type ToolNature = "reads" | "adds" | "destroys";

/** What a server's entry says of calls to it. */
export interface ServerRules {
  mode?: CallMode | undefined;
  callsPerMinute?: number | undefined;
  maxConcurrent?: number | undefined;
  maxResultTokens?: number | undefined;
  /** What the owner says of a tool; undefined where its annotations count. */
  saidOf(name: string): "reads" | "writes" | undefined;
}

/** Undefined where the entry says nothing: then nothing has to be looked at. */
export function rulesOf(spec: ServerSpec): ServerRules | undefined {
  const { mode, readOnlyTools, writingTools, callsPerMinute, maxConcurrent, maxResultTokens } =
    spec;
  const said = [mode, readOnlyTools, writingTools, callsPerMinute, maxConcurrent, maxResultTokens];
  if (said.every((value) => value === undefined)) return undefined;
  const reads = named(readOnlyTools);
  const writes = named(writingTools);
  return {
    mode,
    callsPerMinute,
    maxConcurrent,
    maxResultTokens,
    // The stricter word counts where both are said.
    saidOf: (name) => writes(name) ? "writes" : reads(name) ? "reads" : undefined,
  };
}

/** By the owner's word, else by the annotations; by MCP, what these do not deny may be. */
export function natureOf(
  { name, definition: { annotations } }: Pick<CatalogTool, "name" | "definition">,
  rules: ServerRules | undefined,
): ToolNature {
  const said = rules?.saidOf(name);
  if (said !== undefined) return said === "reads" ? "reads" : "destroys";
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (readOnlyHint === true) return "reads";
  return destructiveHint === false ? "adds" : "destroys";
}

const STRICTNESS: Record<CallMode, number> = { all: 0, confirm: 1, "read-only": 2 };

/** Whether one mode lets fewer calls through than another. */
export function isStricter(mode: CallMode, than: CallMode): boolean {
  return STRICTNESS[mode] > STRICTNESS[than];
}

function named(patterns: readonly string[] | undefined): (name: string) => boolean {
  return patterns === undefined || patterns.length === 0 ? () => false : matcherOf(patterns);
}
