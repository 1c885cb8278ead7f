import type { Gateway } from "../compose.ts";
import { EVERYONE } from "../core/principal.ts";
import { type Audience, equippedAudience } from "./audience.ts";
import { type Paged, paged } from "./paging.ts";
import { summaryOf, type ToolsetSummary } from "./toolset_summary.ts";

export interface ToolsetRow extends ToolsetSummary {
  isEquipped: boolean;
}

export interface ToolsetsPage {
  list: Paged<ToolsetRow>;
  /** The one whose tools are listed at the default door. */
  equipped?: { name: string; registered: number };
  /** The clients that see what is equipped. */
  audience: Audience;
  /** How many tools there are to choose from. */
  available: number;
}

/** All toolsets, by name. */
export function toolsetsPage(
  gateway: Pick<Gateway, "toolsets" | "guide" | "tokens" | "doors">,
  query: URLSearchParams,
  principal = EVERYONE,
): ToolsetsPage {
  const { toolsets } = gateway.toolsets;
  const all = toolsets.list().sort((a, b) => a.name < b.name ? -1 : 1);
  const list = paged(all, query.get("page"));
  const equipped = toolsets.equippedBy(principal);
  return {
    list: {
      ...list,
      rows: list.rows.map((toolset) => ({
        ...summaryOf(gateway, toolset),
        isEquipped: toolset.name === equipped?.name,
      })),
    },
    ...(equipped === undefined ? {} : {
      equipped: { name: equipped.name, registered: toolsets.registered(equipped).length },
    }),
    audience: equippedAudience(gateway, principal),
    available: gateway.guide.visible(EVERYONE).length,
  };
}
