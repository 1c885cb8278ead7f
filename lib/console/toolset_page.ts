import type { Gateway } from "../compose.ts";
import { nearestNames } from "../core/nearest.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ToolsetDetail, ToolsetToolDetail } from "../surfaces/toolsets_admin.ts";
import type { MissingName } from "./server_page.ts";
import { toolsetNotes } from "./toolset_notes.ts";

export interface ToolsetPageTool extends ToolsetToolDetail {
  server: string;
  /** The server's own name for it. */
  tool: string;
}

export interface ToolsetPage {
  toolset: Omit<ToolsetDetail, "tools" | "warnings">;
  notes: string[];
  tools: ToolsetPageTool[];
  isEquipped: boolean;
  /** What is equipped instead, if anything is. */
  equipped?: { name: string; toolCount: number };
  /** Where a client reaches exactly these tools. */
  door: string;
  /** Tools that are not as they were when it was saved. */
  changed: number;
  neighbors: string[];
}

/** Everything on one toolset's page, or the names that the reader may have meant. */
export async function toolsetPage(
  gateway: Pick<Gateway, "toolsets" | "address">,
  name: string,
): Promise<ToolsetPage | MissingName> {
  const { toolsets: admin, address } = gateway;
  const neighbors = admin.toolsets.list().map((toolset) => toolset.name).sort();
  const found = admin.toolsets.find(name);
  if (!found) return { missing: name, nearest: nearestNames(name, neighbors) };
  const { tools, warnings: _inOtherWords, ...toolset } = await admin.detail(found);
  const equipped = admin.toolsets.equippedBy(EVERYONE);
  const isEquipped = equipped?.name === name;
  return {
    toolset,
    notes: toolsetNotes(tools.map(({ state }) => state)),
    tools: tools.map((tool, index) => {
      const { server = "", tool: own = "" } = found.tools[index] ?? {};
      return { ...tool, server, tool: own };
    }),
    isEquipped,
    ...(equipped === undefined || isEquipped
      ? {}
      : { equipped: { name: equipped.name, toolCount: equipped.tools.length } }),
    door: `${address}/toolsets/${name}/mcp`,
    changed: tools.filter(({ change }) => change !== undefined).length,
    neighbors,
  };
}
