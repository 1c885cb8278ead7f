import type { Gateway } from "../../../../lib/gateway.ts";
import {
  compareText,
  type Paged,
  paged,
  readSorting,
  type Sorting,
} from "../../../../lib/console/lists.ts";
import { matchesWords, searchWords } from "../../../../lib/console/tool_rows.ts";
import type { ServerSource, ServerState, ServerStatus } from "../../../../lib/core/server.ts";

const SERVER_COLUMNS = [
  "name",
  "state",
  "type",
  "source",
  "tools",
  "since",
  "latency",
] as const;
type ServerColumn = typeof SERVER_COLUMNS[number];

/** What needs a person first. */
const STATE_ORDER: readonly ServerState[] = [
  "failed",
  "needs_login",
  "degraded",
  "installing",
  "starting",
  "ready",
  "paused",
  "disabled",
];

export interface StateCount {
  state: ServerState;
  count: number;
}

export interface ServersPage {
  list: Paged<ServerStatus>;
  /** How many there are in each state, before any filter. */
  states: StateCount[];
  total: number;
  query: string;
  state?: ServerState;
  sorting: Sorting<ServerColumn>;
  /** What was removed a moment ago and can come back. */
  removed?: { id: string; name: string };
}

/** The list of servers as the address asks for it. */
export function serversPage(
  gateway: Pick<Gateway, "servers"> & Partial<Pick<Gateway, "removedServers">>,
  query: URLSearchParams,
): ServersPage {
  const id = query.get("removed");
  const removed = id === null ? undefined : gateway.removedServers?.nameOf(id);
  const servers = gateway.servers.list();
  const text = query.get("q")?.trim() ?? "";
  const words = searchWords(text);
  const state = STATE_ORDER.find((state) => state === query.get("state"));
  const sorting = readSorting(query, SERVER_COLUMNS);
  const shown = servers.filter((server) =>
    (state === undefined || server.state === state) &&
    matchesWords(words, server.name, server.type, server.reason, sourceLabel(server.source))
  );
  const sign = sorting.descending ? -1 : 1;
  shown.sort((a, b) => sign * compareBy(sorting.column, a, b) || compareText(a.name, b.name));
  return {
    list: paged(shown, query.get("page")),
    states: countStates(servers),
    total: servers.length,
    query: text,
    ...(state === undefined ? {} : { state }),
    sorting,
    ...(id === null || removed === undefined ? {} : { removed: { id, name: removed } }),
  };
}

export function countStates(servers: readonly ServerStatus[]): StateCount[] {
  return STATE_ORDER
    .map((state) => ({ state, count: servers.filter((server) => server.state === state).length }))
    .filter(({ count }) => count > 0);
}

/** Where a server's entry is kept, in a word or a path. */
function sourceLabel(source: ServerSource): string {
  switch (source.kind) {
    case "file":
      return source.path;
    case "store":
      return "Added in the console";
    case "demo":
      return "Built in";
  }
}

function compareBy(column: ServerColumn, a: ServerStatus, b: ServerStatus): number {
  switch (column) {
    case "name":
      return compareText(a.name, b.name);
    case "state":
      return STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state);
    case "type":
      return compareText(a.type, b.type);
    case "source":
      return compareText(sourceLabel(a.source), sourceLabel(b.source));
    case "tools":
      return a.toolCount - b.toolCount;
    case "since":
      return a.since - b.since;
    case "latency":
      return (a.latencyMs ?? Infinity) === (b.latencyMs ?? Infinity)
        ? 0
        : (a.latencyMs ?? Infinity) - (b.latencyMs ?? Infinity);
  }
}
