import { z } from "zod";
import type { AuditAsker, OnAudit } from "../../core/audit.ts";
import { GatewayError } from "../../core/errors.ts";
import { CallMode } from "../../core/server.ts";
import { type Toolset, ToolsetName } from "../../core/toolset.ts";
import type { Setting, SettingsRepository } from "../../storage/settings_repository.ts";
import type { GatedCall } from "../call_gate.ts";
import type { ClientPort } from "../surface.ts";
import { isStricter } from "./server_rules.ts";

/** By the toolset's name: one that is saved anew under its name keeps its mode. */
const MODES: Setting<Record<string, CallMode>> = {
  name: "toolsetModes",
  schema: z.record(ToolsetName, CallMode),
};
/** Another gateway may be faster this often in a row. */
const MAX_RACES = 20;

export interface ToolsetModesOptions {
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

  /** Takes up what the store has. */
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

  async set(toolset: string, mode: CallMode, by: AuditAsker = {}): Promise<void> {
    const before = await this.#save(toolset, mode);
    await this.load();
    this.#options.onAudit?.({
      ...by,
      action: "toolset.mode",
      subject: toolset,
      before: { mode: before },
      after: { mode },
    });
  }

  /**
   * At a toolset's own door its mode counts; at the default door that of the equipped one does, for
   * its tools. Where the door is not known, so does every toolset that has the tool.
   */
  modeFor({ tool, port }: GatedCall): CallMode | undefined {
    if (this.#modes.size === 0) return undefined;
    const door = doorOf(port);
    const [, own] = /^toolsets\/(.*)\?$/.exec(door ?? "") ?? [];
    if (own !== undefined) return this.#modes.get(own);
    const { find, equippedBy } = this.#options;
    const has = (toolset: Toolset | undefined) =>
      toolset?.tools.some((one) => one.server === tool.server && one.tool === tool.name) ?? false;
    if (door === undefined) {
      return strictest([...this.#modes].flatMap(([name, mode]) => has(find(name)) ? mode : []));
    }
    if (!door.startsWith("mcp?")) return undefined;
    const equipped = equippedBy(port.principal);
    return equipped && this.#modes.has(equipped.name) && has(equipped)
      ? this.#modes.get(equipped.name)
      : undefined;
  }

  /** Gives what was there before. */
  async #save(toolset: string, mode: CallMode): Promise<CallMode> {
    const { settings } = this.#options;
    for (let races = 1;; races++) {
      const before = await settings.find(MODES);
      const { [toolset]: _, ...others } = before?.value ?? {};
      const next = mode === "all" ? others : { ...others, [toolset]: mode };
      try {
        await settings.save(MODES, next, before?.versionstamp ?? null);
        return before?.value[toolset] ?? "all";
      } catch (error) {
        const isLost = error instanceof GatewayError && error.code === "CONFLICT";
        if (!isLost || races >= MAX_RACES) throw error;
      }
    }
  }
}

/** A session knows its door; what stands in for one may not. */
function doorOf(port: ClientPort): string | undefined {
  return "door" in port && typeof port.door === "string" ? port.door : undefined;
}

function strictest(modes: readonly CallMode[]): CallMode | undefined {
  return modes.length === 0
    ? undefined
    : modes.reduce((most, mode) => isStricter(mode, most) ? mode : most);
}
