import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { GatewayError } from "../core/errors.ts";
import { resolveTool, type View } from "../routing/resolve.ts";

/**
 * Somebody agreed to a call of a tool as it was then. Throws where it is another by now, is switched
 * off or in quarantine, or does not exist for the caller any more.
 */
export function checkUnchanged(
  tool: CatalogTool,
  { table, admits }: Pick<View, "table" | "admits">,
): void {
  const view: View = { table, naming: "original", server: tool.server };
  const found = resolveTool(admits ? { ...view, admits } : view, tool.name);
  if (found.fingerprint === tool.fingerprint) return;
  throw new GatewayError("CONFLICT", {
    message: `Not called: the server changed ${tool.server}.${tool.name} while the call waited`,
    recoveryAction: "List the tools again, and call it again if it is still the right one",
    recoverySteps: ["List the tools again", "Call it again if it is still the right one"],
  });
}
