import type { Toolset } from "../core/toolset.ts";
import { namespacedName } from "../routing/names.ts";
import type { ToolsetTool } from "./toolset_state.ts";

/** "git server unavailable, skipping tools: git.status" */
function skippingWords(server: string, tools: readonly ToolsetTool[]): string {
  const names = tools.map(({ reference }) => namespacedName(reference.server, reference.tool));
  return `${server} server unavailable, skipping tools: ${names.join(", ")}`;
}

/** One line for each server whose tools are skipped. */
export function skippedServers(tools: readonly ToolsetTool[]): string[] {
  const waiting = tools.filter(({ state }) => state === "waiting");
  return [...Map.groupBy(waiting, ({ reference }) => reference.server)]
    .map(([server, away]) => skippingWords(server, away));
}

export interface ToolsetNewsOptions {
  flatName(tool: ToolsetTool): string;
  tell(level: "info" | "warn", message: string): void;
}

/** Says once when tools of an equipped toolset wait for their server, and when it is back. */
export class ToolsetNews {
  readonly #options: ToolsetNewsOptions;
  /** By toolset id: servers whose tools wait for them. */
  #waiting = new Map<string, Set<string>>();

  constructor(options: ToolsetNewsOptions) {
    this.#options = options;
  }

  /** Has all that is waited for told again. */
  forget({ id }: Toolset): void {
    this.#waiting.delete(id);
  }

  check(equipped: ReadonlyMap<Toolset, readonly ToolsetTool[]>): void {
    const waiting = new Map<string, Set<string>>();
    for (const [{ id }, tools] of equipped) waiting.set(id, this.#check(id, tools));
    this.#waiting = waiting;
  }

  #check(id: string, tools: readonly ToolsetTool[]): Set<string> {
    const before = this.#waiting.get(id);
    const waiting = new Set<string>();
    for (const [server, own] of Map.groupBy(tools, ({ reference }) => reference.server)) {
      const away = own.filter(({ state }) => state === "waiting");
      if (away.some(({ isComing }) => isComing)) {
        // Neither away nor back yet: what was told of it still holds.
        if (before?.has(server)) waiting.add(server);
        continue;
      }
      if (away.length > 0) {
        waiting.add(server);
        if (!before?.has(server)) this.#options.tell("warn", skippingWords(server, away));
        continue;
      }
      const back = own.filter(({ state }) => state === "registered");
      if (!before?.has(server) || back.length === 0) continue;
      const names = back.map((tool) => this.#options.flatName(tool)).join(", ");
      this.#options.tell("info", `${server} server reconnected, registering tools: ${names}`);
    }
    return waiting;
  }
}
