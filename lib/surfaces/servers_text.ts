import type { CatalogTool } from "../catalog/catalog_tool.ts";

/** A list that names more of them says less, and costs whoever reads it. */
const NAMED_SERVERS = 12;
const NAMED_CHARS = 300;

/** The tools of each server, the server with most of them first. */
export function byServer(tools: readonly CatalogTool[]): [string, CatalogTool[]][] {
  return [...Map.groupBy(tools, (tool) => tool.server)]
    .sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1));
}

/** Which servers there are, and how many tools each has: "git (12), docker (3), and 4 more". */
export function serversText(tools: readonly CatalogTool[]): string {
  const servers = byServer(tools);
  const named: string[] = [];
  let chars = 0;
  for (const [name, own] of servers.slice(0, NAMED_SERVERS)) {
    chars += name.length;
    if (chars > NAMED_CHARS) break;
    named.push(`${name} (${own.length})`);
  }
  const more = servers.length - named.length;
  return named.join(", ") + (more > 0 ? `, and ${more} more` : "");
}
