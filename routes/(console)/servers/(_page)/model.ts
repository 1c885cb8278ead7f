import type { Gateway } from "../../../../lib/gateway.ts";
import { compareText, paged, readSorting } from "../../../../lib/console/lists.ts";
import { matchesWords, searchWords } from "../../../../lib/console/tool_rows.ts";
import type { ServerState, ServerStatus } from "../../../../lib/core/server.ts";

const SERVER_COLUMNS = [
  "name",
  "state",
  "type",
  "source",
  "tools",
  "since",
  "latency",
] as const;

/** States that need a person come first. */
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

export type ServersPage = ReturnType<typeof serversPage>;

export function serversPage(gateway: Gateway, query: URLSearchParams) {
  const id = query.get("removed") ?? "";
  const removed = gateway.removedServers.nameOf(id);
  const servers = gateway.servers.list();
  const text = query.get("q")?.trim() ?? "";
  const words = searchWords(text);
  const state = STATE_ORDER.find((state) => state === query.get("state"));
  const sorting = readSorting(query, SERVER_COLUMNS);
  const shown = servers.filter((server) =>
    (state === undefined || server.state === state) &&
    matchesWords(words, server.name, server.type, server.reason, sourceLabel(server))
  );
  const sign = sorting.descending ? -1 : 1;
  const compare = COMPARE[sorting.column];
  shown.sort((a, b) => sign * compare(a, b) || compareText(a.name, b.name));
  return {
    list: paged(shown, query.get("page")),
    /** Before any filter. */
    states: countStates(servers),
    total: servers.length,
    query: text,
    state,
    sorting,
    /** A server that was just removed and can be restored. */
    removed: removed === undefined ? undefined : { id, name: removed },
  };
}

export function countStates(servers: readonly ServerStatus[]) {
  return STATE_ORDER
    .map((state) => ({ state, count: servers.filter((server) => server.state === state).length }))
    .filter(({ count }) => count > 0);
}

function sourceLabel({ source }: ServerStatus): string {
  if (source.kind === "file") return source.path;
  return source.kind === "store" ? "Added in the console" : "Built in";
}

type Compare = (a: ServerStatus, b: ServerStatus) => number;

const COMPARE: Record<typeof SERVER_COLUMNS[number], Compare> = {
  name: (a, b) => compareText(a.name, b.name),
  state: (a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state),
  type: (a, b) => compareText(a.type, b.type),
  source: (a, b) => compareText(sourceLabel(a), sourceLabel(b)),
  tools: (a, b) => a.toolCount - b.toolCount,
  since: (a, b) => a.since - b.since,
  latency: ({ latencyMs: a = Number.MAX_VALUE }, { latencyMs: b = Number.MAX_VALUE }) => a - b,
};
