import type { Gateway } from "../compose.ts";
import type { ServerStatus } from "../core/server.ts";
import { nearestNames } from "../core/nearest.ts";
import { type Paged, paged } from "./paging.ts";
import { compareText } from "./sorting.ts";
import { toolSummary } from "./tool_text.ts";

export interface ToolRow {
  server: string;
  name: string;
  title?: string;
  summary: string;
}

export interface ServerPage {
  server: ServerStatus;
  tools: Paged<ToolRow>;
  /** The servers around this one, for the list beside it. */
  neighbors: ServerStatus[];
  total: number;
  problems: Gateway["problems"];
  /** Where an MCP client reaches this server. */
  door: string;
  /** What it last wrote to its error output, a line each. */
  log: string;
}

export interface MissingName {
  missing: string;
  nearest: string[];
}

const NEIGHBORS = 100;
const LOG_LINES = 200;

/** Everything on one server's page, or the names that the reader may have meant. */
export function serverPage(
  gateway: Pick<Gateway, "address" | "servers" | "problems">,
  name: string,
  query: URLSearchParams,
): ServerPage | MissingName {
  const servers = gateway.servers.list().sort((a, b) => compareText(a.name, b.name));
  const at = servers.findIndex((server) => server.name === name);
  const server = servers[at];
  if (server === undefined) {
    return { missing: name, nearest: nearestNames(name, servers.map(({ name }) => name)) };
  }
  return {
    server,
    tools: paged(toolRows(gateway, name), query.get("page")),
    neighbors: stretchAround(servers, at, NEIGHBORS),
    total: servers.length,
    problems: gateway.problems.filter((problem) => problem.server === name),
    door: `${gateway.address}/servers/${name}/mcp`,
    log: gateway.servers.log(name).slice(-LOG_LINES).map(logLine).join("\n"),
  };
}

function logLine({ time, line }: { time: number; line: string }): string {
  return `${new Date(time).toISOString().slice(11, 19)}  ${line}`;
}

export function toolRows(gateway: Pick<Gateway, "servers">, server: string): ToolRow[] {
  return gateway.servers.tools(server)
    .map((tool) => ({
      server,
      name: tool.name,
      ...(tool.title === undefined ? {} : { title: tool.title }),
      summary: toolSummary(tool),
    }))
    .sort((a, b) => compareText(a.name, b.name));
}

/** The stretch of a long list that a place is in; the same for its neighbors, so it stands still. */
export function stretchAround<T>(items: readonly T[], at: number, size: number): T[] {
  const start = Math.floor(at / size) * size;
  return items.slice(start, start + size);
}
