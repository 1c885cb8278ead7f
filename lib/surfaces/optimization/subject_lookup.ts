import { GatewayError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Subject } from "../../optimizer/subjects.ts";
import type { CanonicalTool, OptimizationAdminOptions } from "./admin_options.ts";

type Lookup = Pick<OptimizationAdminOptions, "subjects" | "canonicalTools">;

/** By the server's own name for it, or with the server's name before that. */
export function findSubject({ subjects }: Lookup, server: string, tool: string) {
  const prefix = `${server}.`;
  return subjects.find(server, tool) ??
    (tool.startsWith(prefix) ? subjects.find(server, tool.slice(prefix.length)) : undefined);
}

export function resolveSubject(lookup: Lookup, server: string, tool: string): Subject {
  const found = findSubject(lookup, server, tool);
  if (found) return found;
  const near = nearestNames(tool, canonicalTools(lookup, server).map(({ name }) => name), 3);
  throw new GatewayError("TOOL_NOT_FOUND", {
    message: `Server "${server}" has no tool "${tool}"`,
    ...(near.length > 0 ? { hint: `Did you mean ${near.join(", ")}?` } : {}),
    recoveryAction: "Use the server's own name of one of its tools",
    recoverySteps: [`List the tools of "${server}" and use one of their names`],
    suggestedTools: ["get_canonical_tools"],
  });
}

/** The server's own name for a tool, also for one that is no longer there. */
export function ownName(lookup: Lookup, server: string, tool: string): string {
  return findSubject(lookup, server, tool)?.name ?? tool;
}

export function canonicalTools(lookup: Lookup, server: string): CanonicalTool[] {
  const tools = lookup.canonicalTools(server);
  if (tools.length > 0) return tools;
  throw new GatewayError("NOT_FOUND", {
    message: "No canonical tools found - have you connected to the server?",
    recoveryAction: `Connect to the server "${server}", then try again`,
    recoverySteps: [
      `Look in the list of servers at how "${server}" is`,
      "Restart it, then try again",
    ],
    suggestedTools: ["list_servers", "restart_server"],
  });
}
