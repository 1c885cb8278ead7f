import * as z from "zod";
import { isObject } from "../../core/rpc.ts";
import { matcherOf, type OnAudit } from "../../core/access.ts";
import { CallMode, type ServerSpec } from "../../core/server.ts";
import type { CatalogTool } from "../../catalog/catalog_tool.ts";
import { retryStale } from "../../core/async.ts";
import { type Toolset, ToolsetName } from "../../core/tool.ts";
import type { Setting, SettingsRepository } from "../../storage/settings_repository.ts";
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

const STRICTNESS: Record<CallMode, number> = { all: 0, confirm: 1, "read-only": 2 };

export function isStricter(mode: CallMode, than: CallMode): boolean {
  return STRICTNESS[mode] > STRICTNESS[than];
}

function named(patterns: readonly string[] | undefined): (name: string) => boolean {
  return patterns === undefined || patterns.length === 0 ? () => false : matcherOf(patterns);
}

/** By the toolset's name: a toolset that is saved again keeps its mode. */
const MODES: Setting<Record<string, CallMode>> = {
  name: "toolsetModes",
  schema: z.record(ToolsetName, CallMode),
};
/** Another gateway may be faster this often in a row. */
const MAX_RACES = 20;

interface ToolsetModesOptions {
  settings: SettingsRepository;
  find(toolset: string): Toolset | undefined;
  equippedBy(principal: string): Toolset | undefined;
  onAudit?: OnAudit | undefined;
}

/** The modes of toolsets, as the store has them; a call costs a look at whether there are any. */
export class ToolsetModes {
  readonly #options: ToolsetModesOptions;
  #modes = new Map<string, CallMode>();
  /** Which version of the store's they are. */
  #versionstamp = "";

  constructor(options: ToolsetModesOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const { value = {}, versionstamp = "" } = await this.#options.settings.find(MODES) ?? {};
    // What was read before something was set may come after it.
    if (versionstamp < this.#versionstamp) return;
    this.#versionstamp = versionstamp;
    this.#modes = new Map(Object.entries(value));
  }

  of(toolset: string): CallMode {
    return this.#modes.get(toolset) ?? "all";
  }

  async set(toolset: string, mode: CallMode): Promise<void> {
    const before = await this.#save(toolset, mode);
    await this.load();
    this.#options.onAudit?.({
      action: "toolset.mode",
      subject: toolset,
      before: { mode: before },
      after: { mode },
    });
  }

  /**
   * At a toolset's own endpoint its mode applies; at the default endpoint the mode of the equipped
   * toolset does, for its tools. Without an endpoint, the modes of all toolsets with the tool do.
   */
  modeFor({ tool, client }: PendingCall): CallMode | undefined {
    if (this.#modes.size === 0) return undefined;
    const { endpoint } = client;
    const [, own] = /^toolsets\/(.*)\?$/.exec(endpoint ?? "") ?? [];
    if (own !== undefined) return this.#modes.get(own);
    const { find, equippedBy } = this.#options;
    const has = (toolset: Toolset | undefined) =>
      toolset?.tools.some((one) => one.server === tool.server && one.tool === tool.name) ?? false;
    if (endpoint === undefined) {
      const modes = [...this.#modes].flatMap(([name, mode]) => has(find(name)) ? mode : []);
      return modes.sort((a, b) => STRICTNESS[b] - STRICTNESS[a])[0];
    }
    if (!endpoint.startsWith("mcp?")) return undefined;
    const equipped = equippedBy(client.principal);
    return equipped && this.#modes.has(equipped.name) && has(equipped)
      ? this.#modes.get(equipped.name)
      : undefined;
  }

  #save(toolset: string, mode: CallMode): Promise<CallMode> {
    const { settings } = this.#options;
    return retryStale(async () => {
      const before = await settings.find(MODES);
      const { [toolset]: known = "all", ...others } = before?.value ?? {};
      const next = mode === "all" ? others : { ...others, [toolset]: mode };
      await settings.save(MODES, next, before?.versionstamp ?? null);
      return known;
    }, MAX_RACES);
  }
}
