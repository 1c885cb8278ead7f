import { isObject } from "../../core/rpc.ts";
import { matcherOf } from "../../core/access.ts";
import { CallMode, type ServerSpec } from "../../core/server.ts";
import type { CatalogTool } from "../../catalog/catalog_tool.ts";
import { ToolsetSetting, type ToolsetSettingOptions } from "../toolset_setting.ts";
import type { PendingCall } from "./control.ts";

/** What a call of a tool does: it reads alone, it only adds, or it may overwrite and delete. */
type ToolNature = "reads" | "adds" | "destroys";

export interface ServerRules {
  mode?: CallMode | undefined;
  callsPerMinute?: number | undefined;
  maxConcurrent?: number | undefined;
  maxResultTokens?: number | undefined;
  /** What the owner declared of a tool; undefined if its annotations count. */
  overrideOf(name: string): "reads" | "writes" | undefined;
}

/** Undefined where the entry says nothing: then nothing has to be looked at. */
export function rulesOf(spec: ServerSpec): ServerRules | undefined {
  const { mode, readOnlyTools, writingTools, callsPerMinute, maxConcurrent, maxResultTokens } =
    spec;
  const rules = [mode, readOnlyTools, writingTools, callsPerMinute, maxConcurrent, maxResultTokens];
  if (rules.every((value) => value === undefined)) return undefined;
  const reads = named(readOnlyTools);
  const writes = named(writingTools);
  return {
    mode,
    callsPerMinute,
    maxConcurrent,
    maxResultTokens,
    // The stricter one wins if a tool is in both.
    overrideOf: (name) => writes(name) ? "writes" : reads(name) ? "reads" : undefined,
  };
}

/** By the owner's word, else by the annotations; by MCP, what these do not deny may be. */
export function natureOf(
  { name, definition: { annotations } }: Pick<CatalogTool, "name" | "definition">,
  rules: ServerRules | undefined,
): ToolNature {
  const override = rules?.overrideOf(name);
  if (override !== undefined) return override === "reads" ? "reads" : "destroys";
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (readOnlyHint === true) return "reads";
  return destructiveHint === false ? "adds" : "destroys";
}

/** The least strict first. */
const MODES = ["all", "confirm", "read-only"] as const satisfies readonly CallMode[];

export function isStricter(mode: CallMode, than: CallMode): boolean {
  return MODES.indexOf(mode) > MODES.indexOf(than);
}

function named(patterns: readonly string[] | undefined): (name: string) => boolean {
  return patterns === undefined || patterns.length === 0 ? () => false : matcherOf(patterns);
}

/** The modes of toolsets for calls. */
export class ToolsetModes extends ToolsetSetting<CallMode> {
  constructor(options: ToolsetSettingOptions) {
    const [name, action] = ["toolsetModes", "toolset.mode"];
    super({ name, action, member: "mode", schema: CallMode, modes: MODES }, options);
  }

  modeFor({ tool, client }: PendingCall): CallMode | undefined {
    return this.modeAt(
      client,
      ({ tools }) => tools.some((one) => one.server === tool.server && one.tool === tool.name),
    );
  }
}
