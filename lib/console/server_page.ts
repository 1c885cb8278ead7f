import {
  type InvalidEntry,
  type ServerHistory,
  serverHistory,
  type ToolEvent,
  toolEvents,
} from "../catalog/tool_history.ts";
import type { Gateway } from "../compose.ts";
import type { ServerStatus } from "../core/server.ts";
import { nearestNames } from "../core/nearest.ts";
import type { StatePeriod } from "../downstream/state_history.ts";
import type { ServerLine } from "../telemetry/server_lines.ts";
import { type ClientSnippet, clientSnippets } from "./client_snippets.ts";
import { type Paged, paged } from "./paging.ts";
import { compareText } from "./sorting.ts";
import { toolSummary } from "./tool_text.ts";
import { TOOL_WAITS, type ToolWait } from "./ui/tool_wait.ts";
import { type WaitingTool, waitingTools, waitsFor } from "./waiting_tools.ts";

export interface ToolRow {
  server: string;
  name: string;
  title?: string;
  summary: string;
  /** Not exposed to clients. */
  isOff?: true;
  /** Clients do not get it as the server lists it, until somebody has decided. */
  wait?: ToolWait;
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
  /** What each client is told to reach it. */
  snippets: ClientSnippet[];
  /** Toolsets with tools of this server. */
  usedBy: string[];
  /** How many of its tools clients get. */
  exposed: number;
  /** The states it was in, newest first. */
  states: StatePeriod[];
  /** What is logged of it; undefined for a reader who may not manage. */
  logs: ServerLogs | undefined;
  /** Undefined where the data store does not give them. */
  changes: ToolChanges | undefined;
  /** What it lists that is no valid tool. */
  invalid: { entries: InvalidEntry[]; more: number };
  /** Tools that no client gets as the server lists them, until somebody has decided. */
  waiting: WaitingTool[];
  /** Whether somebody has logged in to it. */
  hasLogin: boolean;
}

export interface ServerLogs {
  /** What it last wrote to its error output, oldest first. */
  written: { time: number; line: string }[];
  /** What the gateway's own log has of it, newest first. */
  noted: ServerLine[];
}

/** What happened to a server's tools, newest first. */
export interface ToolChanges {
  events: ToolEvent[];
  more: number;
  /** When the first of its tools was seen, if any was. */
  since?: number;
}

export interface MissingName {
  missing: string;
  nearest: string[];
}

const NEIGHBORS = 100;
const LOG_LINES = 200;
const EVENTS = 20;
const INVALID = 50;

/** Everything on one server's page, or the names that the reader may have meant. */
export async function serverPage(
  gateway: Pick<
    Gateway,
    | "address"
    | "options"
    | "servers"
    | "problems"
    | "guide"
    | "toolsets"
    | "review"
    | "serverLogins"
  >,
  name: string,
  query: URLSearchParams,
  mayManage = false,
): Promise<ServerPage | MissingName> {
  const servers = gateway.servers.list().sort((a, b) => compareText(a.name, b.name));
  const at = servers.findIndex((server) => server.name === name);
  const server = servers[at];
  if (server === undefined) {
    return { missing: name, nearest: nearestNames(name, servers.map(({ name }) => name)) };
  }
  const [history, hasLogin] = await Promise.all([
    historyOf(gateway, name, EVENTS),
    hasLoginTo(gateway, server),
  ]);
  const waiting = waitingTools(gateway, name);
  const waitOf = waitsFor(waiting);
  const isOn = (tool: string) => gateway.guide.table.find(name, tool)?.enabled ?? true;
  const served = toolRows(gateway, name).map((row): ToolRow => ({
    ...row,
    ...(isOn(row.name) ? {} : { isOff: true }),
    ...waitOf(name, row.name),
  }));
  const rows = [...served, ...keptBackRows(waiting, served)]
    .sort((a, b) => compareText(a.name, b.name));
  return {
    server,
    tools: paged(rows, query.get("page")),
    exposed: served.filter(({ isOff }) => !isOff).length,
    snippets: clientSnippets(gateway, { kind: "server", name }),
    usedBy: gateway.toolsets.toolsets.list()
      .filter(({ tools }) => tools.some((tool) => tool.server === name))
      .map((toolset) => toolset.name).sort(compareText),
    states: gateway.servers.states(name),
    neighbors: stretchAround(servers, at, NEIGHBORS),
    total: servers.length,
    problems: gateway.problems.filter((problem) => problem.server === name),
    door: `${gateway.address}/servers/${name}/mcp`,
    logs: mayManage
      ? {
        written: gateway.servers.log(name).slice(-LOG_LINES),
        noted: gateway.servers.logged(name),
      }
      : undefined,
    changes: history && changesIn(history),
    invalid: {
      entries: history?.invalid.slice(0, INVALID) ?? [],
      more: Math.max(0, (history?.invalid.length ?? 0) - INVALID),
    },
    waiting,
    hasLogin,
  };
}

async function hasLoginTo(
  { serverLogins }: Pick<Gateway, "serverLogins">,
  { name, type }: ServerStatus,
): Promise<boolean> {
  if (type !== "http" && type !== "sse") return false;
  try {
    return await (await serverLogins()).describe(name) !== undefined;
  } catch {
    // A store that fails says so itself, on every page.
    return false;
  }
}

/** A store that fails says so itself, on every page: the rest of this one can be shown. */
export async function historyOf(
  gateway: Pick<Gateway, "servers">,
  server: string,
  diffs: number,
  tool?: string,
): Promise<ServerHistory | undefined> {
  try {
    return serverHistory(server, await gateway.servers.history(server, tool), diffs);
  } catch {
    return undefined;
  }
}

function changesIn(history: ServerHistory): ToolChanges {
  const events = toolEvents(history);
  const seen = history.tools.flatMap(({ versions }) => versions.at(-1)?.seenAt ?? []);
  return {
    events: events.slice(0, EVENTS),
    more: Math.max(0, events.length - EVENTS),
    ...(seen.length === 0 ? {} : { since: seen.reduce((a, b) => Math.min(a, b)) }),
  };
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

/** What the server lists and no client gets at all. */
function keptBackRows(waiting: readonly WaitingTool[], served: readonly ToolRow[]): ToolRow[] {
  const known = new Set(served.map(({ name }) => name));
  const rows = waiting.filter(({ tool }) => !known.has(tool)).map(({ server, tool, state }) => ({
    server,
    name: tool,
    summary: TOOL_WAITS[state].meaning,
    wait: state,
  }));
  return [...new Map(rows.toReversed().map((row) => [row.name, row])).values()];
}

/** The stretch of a long list that a place is in; the same for its neighbors, so it stands still. */
export function stretchAround<T>(items: readonly T[], at: number, size: number): T[] {
  const start = Math.floor(at / size) * size;
  return items.slice(start, start + size);
}
