import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import type { NameTable } from "../routing/name_table.ts";
import { resolveTool } from "../routing/resolve.ts";

/** What was written for a tool and cannot be found as such. */
export interface Unmatched {
  written: string;
  reason: string;
  /** What may have been meant. */
  nearest: string[];
}

export interface ChosenTools {
  /** Each once, in the order they were named. */
  tools: CatalogTool[];
  unmatched: Unmatched[];
}

/** The tools that are meant: by any of their names, or all enabled ones of a server by `server.*`. */
export function chooseTools(
  table: NameTable,
  written: Iterable<string>,
  admits: (tool: CatalogTool) => boolean = () => true,
): ChosenTools {
  const tools = new Set<CatalogTool>();
  const unmatched: Unmatched[] = [];
  for (const name of written) {
    try {
      for (const tool of matching(table, name.trim(), admits)) tools.add(tool);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      unmatched.push({
        written: name,
        reason: error.message,
        nearest: error.code === "TOOL_NOT_FOUND" ? error.details.suggestedTools ?? [] : [],
      });
    }
  }
  return { tools: [...tools], unmatched };
}

function matching(
  table: NameTable,
  name: string,
  admits: (tool: CatalogTool) => boolean,
): CatalogTool[] {
  if (!name.endsWith(".*")) return [resolveTool({ table, naming: "namespaced", admits }, name)];
  const server = name.slice(0, -2);
  const toolsOf = (name: string) => [...table.server(name)?.original.values() ?? []].filter(admits);
  const tools = toolsOf(server);
  if (tools.length === 0) {
    const others = [...table.serverNames()].filter((name) => toolsOf(name).length > 0);
    const near = nearestNames(server, others, 3).map((known) => `${known}.*`);
    throw new GatewayError("TOOL_NOT_FOUND", {
      message: `There is no server "${server.slice(0, 100)}" with tools`,
      suggestedTools: near,
    });
  }
  const enabled = tools.filter((tool) => tool.enabled);
  if (enabled.length > 0) return enabled;
  throw new GatewayError("TOOL_NOT_FOUND", { message: `Server "${server}" has no enabled tools` });
}
