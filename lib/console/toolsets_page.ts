import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ToolsetSummary } from "../surfaces/toolsets_admin.ts";
import { toolsetNotes } from "./toolset_notes.ts";

export interface ToolsetRow extends Omit<ToolsetSummary, "warnings"> {
  isEquipped: boolean;
  notes: string[];
}

export interface ToolsetsPage {
  rows: ToolsetRow[];
  /** The one whose tools are listed at the default door. */
  equipped?: ToolsetRow;
  /** How many tools there are to choose from. */
  available: number;
}

/** All toolsets, by name. */
export async function toolsetsPage(
  gateway: Pick<Gateway, "toolsets" | "guide">,
): Promise<ToolsetsPage> {
  const { toolsets: admin, guide } = gateway;
  const rows = await Promise.all(admin.toolsets.list().map((toolset) => rowOf(gateway, toolset)));
  const equipped = rows.find(({ isEquipped }) => isEquipped);
  return {
    rows: rows.sort((a, b) => a.name < b.name ? -1 : 1),
    ...(equipped === undefined ? {} : { equipped }),
    available: guide.visible(EVERYONE).length,
  };
}

type Toolset = ReturnType<Gateway["toolsets"]["toolsets"]["list"]>[number];

async function rowOf(
  { toolsets: admin }: Pick<Gateway, "toolsets">,
  toolset: Toolset,
): Promise<ToolsetRow> {
  const { warnings: _inOtherWords, ...summary } = await admin.summary(toolset);
  return {
    ...summary,
    isEquipped: admin.toolsets.equippedBy(EVERYONE)?.name === toolset.name,
    notes: toolsetNotes(admin.toolsets.tools(toolset).map(({ state }) => state)),
  };
}
