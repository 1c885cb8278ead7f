import { pathParts } from "../../../lib/console/ui/paths.ts";

/** The tool that `/api/optimization/tools/SERVER/TOOL/...` names, and what follows it. */
export function namedTool(url: URL): { server: string; tool: string; rest: string[] } {
  const [, , , server = "", tool = "", ...rest] = pathParts(url.pathname) ?? [];
  return { server, tool, rest };
}
