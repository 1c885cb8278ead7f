import type { Gateway } from "../compose.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { type Paged, paged } from "./paging.ts";
import type { ToolRow } from "./server_page.ts";
import { compareText, readSorting, type Sorting } from "./sorting.ts";
import { matchesWords, searchWords, toolSummary } from "./tool_text.ts";

export const TOOL_COLUMNS = ["server", "name"] as const;
export type ToolColumn = typeof TOOL_COLUMNS[number];

export interface ToolsPage {
  list: Paged<ToolRow>;
  /** All tools of all servers, before any filter. */
  total: number;
  servers: number;
  query: string;
  server?: string;
  sorting: Sorting<ToolColumn>;
}

/** The list of tools as the address asks for it; only the rows shown are worked out. */
export function toolsPage(gateway: Pick<Gateway, "servers">, query: URLSearchParams): ToolsPage {
  const text = query.get("q")?.trim() ?? "";
  const words = searchWords(text);
  const only = query.get("server") ?? undefined;
  const sorting = readSorting(query, TOOL_COLUMNS);
  const servers = gateway.servers.list();
  const found: { server: string; tool: ToolDefinition }[] = [];
  let total = 0;
  for (const { name: server } of servers) {
    const tools = gateway.servers.tools(server);
    total += tools.length;
    if (only !== undefined && only !== server) continue;
    for (const tool of tools) {
      if (matchesWords(words, server, tool.name, tool.title, tool.description)) {
        found.push({ server, tool });
      }
    }
  }
  const sign = sorting.descending ? -1 : 1;
  found.sort((a, b) => {
    const byServer = compareText(a.server, b.server);
    const byName = compareText(a.tool.name, b.tool.name);
    return sorting.column === "server" ? sign * byServer || byName : sign * byName || byServer;
  });
  const page = paged(found, query.get("page"));
  const rows = page.rows.map(({ server, tool }) => ({
    server,
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    summary: toolSummary(tool),
  }));
  return {
    list: { ...page, rows },
    total,
    servers: servers.length,
    query: text,
    ...(only === undefined || only === "" ? {} : { server: only }),
    sorting,
  };
}
