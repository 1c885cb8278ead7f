import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { ToolReference, Toolset } from "../core/toolset.ts";
import type { NameTable } from "../routing/name_table.ts";

/**
 * Whether a server can serve now: it can, it is being connected to, it cannot at the moment, or there
 * is none of that name.
 */
export type Availability = "available" | "coming" | "away" | "unknown";

/**
 * registered: it can be called; waiting: its server is away; disabled: its owner has switched it off;
 * gone: its server no longer has it, or is itself no longer there.
 */
export type ToolState = "registered" | "waiting" | "disabled" | "gone";

/** One tool of a toolset as it stands now. */
export interface ToolsetTool {
  reference: ToolReference;
  state: ToolState;
  /** As it is now, where it is known. */
  tool?: CatalogTool;
  /** It waits for a server that is being connected to; that is no news. */
  isComing: boolean;
  /** Its definition is another one than when the toolset was saved. */
  isChanged: boolean;
}

/** How each tool of a toolset stands. */
export function toolsetState(
  { tools }: Toolset,
  table: NameTable,
  availability: (server: string) => Availability,
): ToolsetTool[] {
  return tools.map((reference) => {
    const { server, tool: name, fingerprint } = reference;
    const tool = table.find(server, name);
    const available = availability(server);
    const state = stateOf(tool, available);
    return {
      reference,
      state,
      isComing: state === "waiting" && available === "coming",
      ...(tool ? { tool } : {}),
      isChanged: tool !== undefined && fingerprint !== undefined &&
        tool.fingerprint !== fingerprint,
    };
  });
}

function stateOf(tool: CatalogTool | undefined, availability: Availability): ToolState {
  if (availability === "unknown") return "gone";
  if (tool && !tool.enabled) return "disabled";
  if (availability !== "available") return "waiting";
  return tool ? "registered" : "gone";
}
