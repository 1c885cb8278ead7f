import {
  type BrokenTool,
  type CatalogTool,
  describeProblem,
} from "../../../../lib/catalog/catalog_tool.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { compareText, paged, readSorting, type Sorting } from "../../../../lib/console/lists.ts";
import {
  countedCalls,
  knownTokens,
  matchesWords,
  searchWords,
  tokenCost,
  type ToolRow,
  type WaitingTool,
  waitingTools,
  waitsFor,
} from "../../../../lib/console/tool_rows.ts";
import { TOOL_WAITS, type ToolWait } from "../../../../lib/console/ui/tools.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import type { CallUse } from "../../../../lib/telemetry/call_stats.ts";
import { isStarting } from "../../../../lib/core/server.ts";

const TOOL_COLUMNS = ["server", "name", "calls", "errors", "tokens", "used"] as const;
export type ToolColumn = typeof TOOL_COLUMNS[number];

/** Filters; a tool can be both promoted and on or off. */
const TOOL_STATES = [
  "enabled",
  "disabled",
  "promoted",
  "held",
  "quarantined",
  "invalid",
] as const;

export interface ListedTool extends Omit<ToolRow, "title" | "isOff"> {
  category: string;
  /** Undefined until it has been counted. */
  tokens?: number;
  isEnabled: boolean;
  isPromoted: boolean;
  deprecated?: string | undefined;
  /** Missing for tools that no client gets. */
  use?: CallUse;
  /** Whether clients get it, in whichever version: what it costs is not known of others. */
  isServed: boolean;
  /** What is wrong with it, if it is not a valid tool. */
  problem?: string;
  match?: Match | undefined;
}

interface Match {
  relevance?: number;
  explanation: string;
  scores?: [field: string, score: number][];
}

type Wanted = { text: string; server: string | undefined; category: string | undefined };

type Found = { tool: CatalogTool; match?: Match };

/** The engine ranks at most this many; other tools with the letters follow. */
const MOST_RANKED = 100;
const MAX_QUERY = 500;

export type ToolsPage = Awaited<ReturnType<typeof toolsPage>>;

/** The list of tools as the address asks for it; only the rows shown are worked out. */
export async function toolsPage(gateway: Gateway, query: URLSearchParams) {
  const { toolDirectory, promotions } = gateway;
  const text = query.get("q")?.trim().slice(0, MAX_QUERY) ?? "";
  const server = query.get("server") || undefined;
  const category = query.get("category") || undefined;
  const wanted = { text, server, category };
  const state = TOOL_STATES.find((state) => state === query.get("state"));
  const sorting = readSorting(query, TOOL_COLUMNS);
  toolDirectory.warmUp();
  await toolDirectory.prepare();
  const all = toolDirectory.visible(EVERYONE, true);
  // Counted meanwhile.
  void gateway.tokens.prepare(all).catch(() => {});
  const isPromoted = ({ server, name }: CatalogTool) => promotions.of(server, name) !== undefined;
  const invalid = gateway.servers.invalid();
  const waiting = waitingTools(gateway);
  const waitOf = waitsFor(waiting);
  const inWait = (wanted: ToolWait) => waiting.filter(({ state }) => state === wanted);
  const admitted = all.filter((tool) =>
    (server === undefined || tool.server === server) &&
    (state === undefined || state === "enabled" && tool.enabled ||
      state === "disabled" && !tool.enabled || state === "promoted" && isPromoted(tool)) &&
    (category === undefined || toolDirectory.isIn(tool, category))
  );
  const { stats, isLoading, isComplete } = await countedCalls(gateway);
  const useOf = ({ server, name }: CatalogTool) => stats.use(server, name);
  const [{ found, degraded }, progress] = await Promise.all([
    text === ""
      ? { found: inOrder(admitted, sorting, toolDirectory, useOf), degraded: undefined }
      : search(toolDirectory, admitted, wanted),
    // Where the search cannot be had, the search itself says so.
    gateway.searchProgress().catch(() => undefined),
  ]);
  const unserved = state === "invalid"
    ? invalid.map(listedInvalid)
    : state === "held" || state === "quarantined"
    ? inWait(state).map(listedWaiting)
    : undefined;
  const served = paged(found, query.get("page"));
  return {
    list: unserved ? paged(unservedTools(unserved, wanted), query.get("page")) : {
      ...served,
      rows: served.rows.map(({ tool, match }): ListedTool => ({
        ...toolDirectory.metadata(tool),
        server: tool.server,
        name: tool.name,
        ...knownTokens(toolDirectory, tool),
        isEnabled: tool.enabled,
        isPromoted: isPromoted(tool),
        isServed: true,
        use: useOf(tool),
        match,
        ...waitOf(tool.server, tool.name),
      })),
    },
    /** All tools of all servers, before any filter. */
    total: all.length,
    disabled: all.filter(({ enabled }) => !enabled).length,
    promoted: all.filter(isPromoted).length,
    invalid: invalid.length,
    query: text,
    /** Whether each match tells how its rank came about. */
    showsScores: query.has("scores"),
    /** The record of calls is still being read. */
    isReadingCalls: isLoading || !isComplete,
    server,
    category,
    state,
    ...filterChoices(toolDirectory, all),
    sorting,
    /** Why the search is not as good as it could be. */
    degraded,
    reading: progress?.state === "working"
      ? { done: progress.done, total: progress.total }
      : undefined,
    tokens: tokenCost(toolDirectory, all),
    collisions: gateway.collisions(),
    promptCollisions: gateway.promptCollisions(),
    waiting: { quarantined: inWait("quarantined").length, held: inWait("held").length },
    starting: gateway.servers.list().filter(({ state }) => isStarting(state)),
  };
}

/**
 * What the engine finds, in its order; after that what only has the letters, because somebody who
 * is still typing has not written whole words yet, and the engine knows no disabled tools.
 */
async function search(
  toolDirectory: Gateway["toolDirectory"],
  admitted: readonly CatalogTool[],
  { text, server, category }: Wanted,
): Promise<{ found: Found[]; degraded: string | undefined }> {
  const wanted = new Set(admitted);
  const answer = await toolDirectory.find(EVERYONE, { text, server, category, limit: MOST_RANKED });
  const ranked = answer.found.filter(({ tool }) => wanted.has(tool));
  const known = new Set(ranked.map(({ tool }) => tool));
  const words = searchWords(text);
  const rest = admitted.filter((tool) => {
    const { server, name, definition: { title, description } } = tool;
    return !known.has(tool) && matchesWords(words, server, name, title, description);
  });
  return {
    found: [
      ...ranked.map(({ tool, relevance, explanation, scores }) => ({
        tool,
        match: {
          relevance: Math.min(1, Math.max(0, relevance)),
          explanation,
          ...(scores === undefined ? {} : { scores: largestFirst(scores) }),
        },
      })),
      ...rest.map((tool) => ({ tool, match: { explanation: "Contains these letters" } })),
    ],
    degraded: answer.degraded,
  };
}

function largestFirst(scores: Partial<Record<string, number>>): [string, number][] {
  return Object.entries(scores).flatMap(([field, score = 0]): [string, number][] =>
    score > 0 ? [[field, score]] : []
  ).sort(([, a], [, b]) => b - a);
}

export function filterChoices(
  toolDirectory: Gateway["toolDirectory"],
  tools: readonly CatalogTool[],
) {
  const counted = ([value, { length }]: [string, CatalogTool[]]) => ({ value, count: length });
  return {
    servers: [...Map.groupBy(tools, ({ server }) => server)].map(counted),
    categories: toolDirectory.categories(tools).map(counted),
  };
}

type Named = Pick<CatalogTool, "server" | "name">;

export function byName(a: Named, b: Named): number {
  return compareText(a.server, b.server) || compareText(a.name, b.name);
}

function inOrder(
  tools: readonly CatalogTool[],
  { column, descending }: Sorting<ToolColumn>,
  toolDirectory: Gateway["toolDirectory"],
  useOf: (tool: CatalogTool) => CallUse,
): Found[] {
  const sign = descending ? -1 : 1;
  if (column === "server" || column === "name") {
    return tools.toSorted((a, b) => sign * compareText(a[column], b[column]) || byName(a, b))
      .map((tool) => ({ tool }));
  }
  const value: Record<typeof column, (tool: CatalogTool) => number> = {
    calls: (tool) => useOf(tool).calls,
    errors: (tool) => useOf(tool).errors,
    tokens: (tool) => toolDirectory.tokensOf(tool),
    used: (tool) => useOf(tool).lastAt ?? 0,
  };
  return tools.map((tool) => ({ tool, value: value[column](tool) }))
    .sort((a, b) => sign * (a.value - b.value) || byName(a.tool, b.tool))
    .map(({ tool }) => ({ tool }));
}

/** Tools that servers list and no client is shown, by server and name. */
function unservedTools(unserved: readonly ListedTool[], wanted: Wanted): ListedTool[] {
  // Their category is not known.
  if (wanted.category !== undefined) return [];
  const words = searchWords(wanted.text);
  return unserved.filter(({ server, name }) =>
    (wanted.server === undefined || server === wanted.server) && matchesWords(words, server, name)
  ).sort(byName);
}

const UNSERVED = { summary: "", category: "", isPromoted: false, isServed: false };

function listedWaiting({ server, tool, state }: WaitingTool): ListedTool {
  const summary = TOOL_WAITS[state].meaning;
  return { ...UNSERVED, server, name: tool, summary, isEnabled: true, wait: state };
}

function listedInvalid(tool: BrokenTool): ListedTool {
  const { server, name } = tool;
  return { ...UNSERVED, server, name, isEnabled: false, problem: describeProblem(tool) };
}
