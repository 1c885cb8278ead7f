import * as z from "zod";
import type { OnAudit } from "../core/access.ts";
import { retryStale } from "../core/async.ts";
import type { Client } from "../core/client.ts";
import { type Toolset, ToolsetName } from "../core/tool.ts";
import type { Setting, SettingsRepository } from "../storage/settings_repository.ts";

/** Another gateway may be faster this often in a row. */
const MAX_RACES = 20;

interface ModeKind<Mode extends string> {
  /** The setting's name in the store. */
  name: string;
  /** What the audit log calls a change, and the member that changed. */
  action: string;
  member: string;
  schema: z.ZodType<Mode>;
  /** The least strict first; that one is not stored. */
  modes: readonly [Mode, ...Mode[]];
}

export interface ToolsetSettingOptions {
  settings: SettingsRepository;
  find(toolset: string): Toolset | undefined;
  equippedBy(principal: string): Toolset | undefined;
  onAudit?: OnAudit | undefined;
}

/**
 * A mode of toolsets, by their names: a toolset that is saved again keeps it. Kept in the store; asking
 * for it costs next to nothing as long as no toolset has one.
 */
export class ToolsetSetting<Mode extends string> {
  readonly #kind: ModeKind<Mode>;
  readonly #setting: Setting<Record<string, Mode>>;
  readonly #options: ToolsetSettingOptions;
  #modes = new Map<string, Mode>();
  #versionstamp = "";

  constructor(kind: ModeKind<Mode>, options: ToolsetSettingOptions) {
    this.#kind = kind;
    this.#setting = { name: kind.name, schema: z.record(ToolsetName, kind.schema) };
    this.#options = options;
  }

  async load(): Promise<void> {
    const { value = {}, versionstamp = "" } = await this.#options.settings.find(this.#setting) ??
      {};
    // What was read before something was set may come after it.
    if (versionstamp < this.#versionstamp) return;
    this.#versionstamp = versionstamp;
    this.#modes = new Map(Object.entries(value));
  }

  of(toolset: string): Mode {
    return this.#modes.get(toolset) ?? this.#kind.modes[0];
  }

  async set(toolset: string, mode: Mode): Promise<void> {
    const { action, member } = this.#kind;
    const before = await this.#save(toolset, mode);
    await this.load();
    this.#options.onAudit?.({
      action,
      subject: toolset,
      before: { [member]: before },
      after: { [member]: mode },
    });
  }

  /**
   * At a toolset's own endpoint its mode applies; at the default endpoint that of the equipped toolset
   * does, if `has` says that it has what is used. Without an endpoint, the strictest of all that have it.
   */
  protected modeAt(
    { endpoint, principal }: Pick<Client, "endpoint" | "principal">,
    has: (toolset: Toolset) => boolean,
  ): Mode | undefined {
    if (this.#modes.size === 0) return undefined;
    const [, own] = /^toolsets\/(.*)\?$/.exec(endpoint ?? "") ?? [];
    if (own !== undefined) return this.#modes.get(own);
    const { find, equippedBy } = this.#options;
    if (endpoint === undefined) {
      const { modes } = this.#kind;
      const found = new Set([...this.#modes].flatMap(([name, mode]) => {
        const toolset = find(name);
        return toolset && has(toolset) ? mode : [];
      }));
      return modes.findLast((mode) => found.has(mode));
    }
    const equipped = endpoint.startsWith("mcp?") ? equippedBy(principal) : undefined;
    return equipped && has(equipped) ? this.#modes.get(equipped.name) : undefined;
  }

  #save(toolset: string, mode: Mode): Promise<Mode> {
    const { settings } = this.#options;
    const [none] = this.#kind.modes;
    return retryStale(async () => {
      const before = await settings.find(this.#setting);
      const { [toolset]: known = none, ...others } = before?.value ?? {};
      const next = mode === none ? others : { ...others, [toolset]: mode };
      await settings.save(this.#setting, next, before?.versionstamp ?? null);
      return known;
    }, MAX_RACES);
  }
}
