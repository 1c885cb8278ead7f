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
import type { ReviewItem } from "../surfaces/review_item.ts";
import type { StatePeriod } from "../downstream/state_history.ts";
import type { ServerLine } from "../telemetry/server_lines.ts";
import { type ClientSnippet, clientSnippets } from "./client_snippets.ts";
import { type Paged, paged } from "./paging.ts";
import { compareText } from "./sorting.ts";
import { toolSummary } from "./tool_text.ts";

export interface ToolRow {
  server: string;
  name: string;
  title?: string;
  summary: string;
  /** Not exposed to clients. */
  isOff?: true;
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
  /** What it last wrote to its error output, oldest first. */
  log: { time: number; line: string }[];
  /** What the gateway's own log has of it, newest first. */
  logged: ServerLine[];
  /** Undefined where the data store does not give them. */
  changes: ToolChanges | undefined;
  /** What it lists that is no valid tool. */
  invalid: { entries: InvalidEntry[]; more: number };
  /** Tools that no client gets as the server lists them, until somebody has decided. */
  waiting: WaitingTool[];
  /** Whether somebody has logged in to it. */
  hasLogin: boolean;
}

export type WaitingTool = Pick<ReviewItem, "tool" | "kind"> & { state: "quarantined" | "held" };

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
  const isOn = (tool: string) => gateway.guide.table.find(name, tool)?.enabled ?? true;
  const rows = toolRows(gateway, name).map((row): ToolRow =>
    isOn(row.name) ? row : { ...row, isOff: true }
  );
  return {
    server,
    tools: paged(rows, query.get("page")),
    exposed: rows.filter(({ isOff }) => !isOff).length,
    snippets: clientSnippets(gateway, { kind: "server", name }),
    usedBy: gateway.toolsets.toolsets.list()
      .filter(({ tools }) => tools.some((tool) => tool.server === name))
      .map((toolset) => toolset.name).sort(compareText),
    states: gateway.servers.states(name),
    neighbors: stretchAround(servers, at, NEIGHBORS),
    total: servers.length,
    problems: gateway.problems.filter((problem) => problem.server === name),
    door: `${gateway.address}/servers/${name}/mcp`,
    log: gateway.servers.log(name).slice(-LOG_LINES),
    logged: gateway.servers.logged(name),
    changes: history && changesIn(history),
    invalid: {
      entries: history?.invalid.slice(0, INVALID) ?? [],
      more: Math.max(0, (history?.invalid.length ?? 0) - INVALID),
    },
    waiting: waitingTools(gateway, name),
    hasLogin,
  };
}

/** The tools of a server that wait for somebody to decide. */
export function waitingTools({ review }: Pick<Gateway, "review">, server: string): WaitingTool[] {
  // The list compares definitions, which takes time: most often there is nothing to compare.
  const { held, quarantined } = review.count();
  if (held + quarantined === 0) return [];
  return review.list().items.flatMap((item) => {
    const { tool, kind, state } = item;
    // What is in parentheses is a text of the server's and no tool.
    const isMeant = item.server === server && !tool.startsWith("(");
    return isMeant && (state === "quarantined" || state === "held") ? [{ tool, kind, state }] : [];
  });
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

/** The stretch of a long list that a place is in; the same for its neighbors, so it stands still. */
export function stretchAround<T>(items: readonly T[], at: number, size: number): T[] {
  const start = Math.floor(at / size) * size;
  return items.slice(start, start + size);
}
