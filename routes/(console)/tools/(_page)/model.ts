import type { CatalogTool } from "../../../../lib/catalog/catalog_tool.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import {
  compareText,
  type Paged,
  paged,
  readSorting,
  type Sorting,
} from "../../../../lib/console/lists.ts";
import {
  knownTokens,
  matchesWords,
  searchWords,
  waitingTools,
  waitsFor,
} from "../../../../lib/console/tool_rows.ts";
import type { FilterChoice, ToolWait } from "../../../../lib/console/ui/tools.ts";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { isStarting, type ServerStatus } from "../../../../lib/core/server.ts";
import {
  isInState,
  listedInvalid,
  listedWaiting,
  promotedOnes,
  readState,
  type ToolListState,
  unservedTools,
} from "./states.ts";

const TOOL_COLUMNS = ["server", "name", "category", "tokens"] as const;
export type ToolColumn = typeof TOOL_COLUMNS[number];

/** A tool in the list of all. */
export interface ListedTool {
  server: string;
  name: string;
  summary: string;
  category: string;
  /** What listing it costs a model; undefined until it has been counted. */
  tokens?: number;
  isEnabled: boolean;
  /** Whether clients read a description that was promoted. */
  isPromoted: boolean;
  deprecated?: string;
  /** Whether clients get it, in whichever version: what it costs is not known of others. */
  isServed: boolean;
  /** Clients do not get it as its server lists it, until somebody has decided. */
  wait?: ToolWait;
  /** What is wrong with it, if it is not a valid tool. */
  problem?: string;
  /** Why it was found, and how well it fits. */
  match?: { relevance?: number; explanation: string; scores?: [field: string, score: number][] };
}

export interface ToolsPage {
  list: Paged<ListedTool>;
  /** All tools of all servers, before any filter. */
  total: number;
  disabled: number;
  promoted: number;
  /** What servers list besides, and no client is shown. */
  invalid: number;
  query: string;
  server?: string;
  category?: string;
  state?: ToolListState;
  servers: FilterChoice[];
  categories: FilterChoice[];
  sorting: Sorting<ToolColumn>;
  /** Why the search is not as good as it could be. */
  degraded?: string;
  /** How far the reading of what tools mean has come, where that is not done. */
  reading?: { done: number; total: number };
  /** Of all tools that are on, as far as they are counted. */
  tokens: { counted: number; isCounting: boolean };
  saved: SavedDay[];
  collisions: ReturnType<Gateway["collisions"]>;
  promptCollisions: ReturnType<Gateway["promptCollisions"]>;
  /** What no client gets as its server lists it, until somebody has decided. */
  waiting: { quarantined: number; held: number };
  /** The servers that are starting: some of their tools may be missing. */
  starting: ServerStatus[];
}

type ToolsGateway = Pick<
  Gateway,
  | "toolDirectory"
  | "tokens"
  | "activityDays"
  | "collisions"
  | "promptCollisions"
  | "searchProgress"
  | "promotions"
  | "servers"
  | "review"
>;

interface Found {
  tool: CatalogTool;
  match?: ListedTool["match"];
}

/** The engine ranks no more than that; what else has the letters follows. */
const MOST_RANKED = 100;
const MAX_QUERY = 500;

/** The list of tools as the address asks for it; only the rows shown are worked out. */
export async function toolsPage(
  gateway: ToolsGateway,
  query: URLSearchParams,
): Promise<ToolsPage> {
  const { toolDirectory } = gateway;
  const text = query.get("q")?.trim().slice(0, MAX_QUERY) ?? "";
  const server = query.get("server") || undefined;
  const category = query.get("category") || undefined;
  const state = readState(query.get("state"));
  const sorting = readSorting(query, TOOL_COLUMNS);
  toolDirectory.warmUp();
  const all = toolDirectory.visible(EVERYONE, true);
  const isPromoted = promotedOnes(gateway);
  const invalid = gateway.servers.invalid();
  const waiting = waitingTools(gateway);
  const waitOf = waitsFor(waiting);
  const inWait = (wanted: ToolWait) => waiting.filter(({ state }) => state === wanted);
  const admitted = all.filter((tool) =>
    (server === undefined || tool.server === server) && isInState(tool, state, isPromoted) &&
    (category === undefined || toolDirectory.metadata(tool).category === category)
  );
  const [{ found, degraded }, saved, reading] = await Promise.all([
    text === ""
      ? { found: inOrder(admitted, sorting, toolDirectory), degraded: undefined }
      : search(toolDirectory, admitted, { text, server, category }),
    savedTokens(gateway),
    readingOf(gateway),
  ]);
  const unserved = state === "invalid"
    ? invalid.map(listedInvalid)
    : state === "held" || state === "quarantined"
    ? inWait(state).map(listedWaiting)
    : undefined;
  const page = query.get("page");
  const list = unserved
    ? paged(unservedTools(unserved, { text, server, category }), page)
    : mapped(paged(found, page), (entry) => ({
      ...listed(entry, toolDirectory, isPromoted(entry.tool)),
      ...waitOf(entry.tool.server, entry.tool.name),
    }));
  return {
    list,
    total: all.length,
    disabled: all.filter(({ enabled }) => !enabled).length,
    promoted: all.filter(isPromoted).length,
    invalid: invalid.length,
    query: text,
    ...(server === undefined ? {} : { server }),
    ...(category === undefined ? {} : { category }),
    ...(state === undefined ? {} : { state }),
    servers: [...Map.groupBy(all, (tool) => tool.server)]
      .map(([value, tools]) => ({ value, count: tools.length })),
    categories: toolDirectory.categories(all).map(([value, tools]) => ({
      value,
      count: tools.length,
    })),
    sorting,
    ...(degraded === undefined ? {} : { degraded }),
    ...reading,
    tokens: countTokens(gateway, all),
    saved,
    collisions: gateway.collisions(),
    promptCollisions: gateway.promptCollisions(),
    waiting: { quarantined: inWait("quarantined").length, held: inWait("held").length },
    starting: gateway.servers.list().filter(({ state }) => isStarting(state)),
  };
}

function mapped<T>(list: Paged<T>, row: (item: T) => ListedTool): Paged<ListedTool> {
  return { ...list, rows: list.rows.map(row) };
}

interface Wanted {
  text: string;
  server: string | undefined;
  category: string | undefined;
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
  const rest = admitted.filter((tool) => !known.has(tool) && hasLetters(tool, words));
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
      ...rest.map((tool) => ({ tool, match: { explanation: "Has these letters" } })),
    ],
    degraded: answer.degraded,
  };
}

function largestFirst(scores: Partial<Record<string, number>>): [string, number][] {
  return Object.entries(scores).flatMap(([field, score = 0]): [string, number][] =>
    score > 0 ? [[field, score]] : []
  ).sort(([, a], [, b]) => b - a);
}

function hasLetters({ server, name, definition }: CatalogTool, words: readonly string[]): boolean {
  return matchesWords(words, server, name, definition.title, definition.description);
}

function inOrder(
  tools: readonly CatalogTool[],
  { column, descending }: Sorting<ToolColumn>,
  toolDirectory: Gateway["toolDirectory"],
): Found[] {
  const sign = descending ? -1 : 1;
  const byName = (a: CatalogTool, b: CatalogTool) =>
    compareText(a.server, b.server) || compareText(a.name, b.name);
  const compare: Record<ToolColumn, (a: CatalogTool, b: CatalogTool) => number> = {
    server: (a, b) => compareText(a.server, b.server),
    name: (a, b) => compareText(a.name, b.name),
    category: (a, b) =>
      compareText(toolDirectory.metadata(a).category, toolDirectory.metadata(b).category),
    tokens: (a, b) => toolDirectory.tokensOf(a) - toolDirectory.tokensOf(b),
  };
  return tools.toSorted((a, b) => sign * compare[column](a, b) || byName(a, b))
    .map((tool) => ({ tool }));
}

function listed(
  { tool, match }: Found,
  toolDirectory: Gateway["toolDirectory"],
  isPromoted: boolean,
): ListedTool {
  const { summary, category, deprecated } = toolDirectory.metadata(tool);
  return {
    server: tool.server,
    name: tool.name,
    summary,
    category,
    ...knownTokens(toolDirectory, tool),
    isEnabled: tool.enabled,
    isPromoted,
    isServed: true,
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(match === undefined ? {} : { match }),
  };
}

async function readingOf({ searchProgress }: ToolsGateway): Promise<Pick<ToolsPage, "reading">> {
  // Where the search cannot be had, the search itself says so.
  const progress = await searchProgress().catch(() => undefined);
  if (progress?.state !== "working") return {};
  return { reading: { done: progress.done, total: progress.total } };
}

/** What is known of the cost of all tools; the rest is counted while the page is read. */
function countTokens({ toolDirectory, tokens }: ToolsGateway, all: readonly CatalogTool[]) {
  void tokens.prepare(all).catch(() => {});
  const costs = all.filter(({ enabled }) => enabled).map((tool) => toolDirectory.tokensOf(tool));
  return {
    counted: costs.reduce((sum, cost) => sum + cost, 0),
    isCounting: costs.includes(0),
  };
}

/** What lazy loading spared models in one day. */
export interface SavedDay {
  /** As 2026-01-31. */
  day: string;
  searches: number;
  saved: number;
  /** What all tools would have cost. */
  baseline: number;
}

const DAYS = 7;

/** The last days with searches, newest first; empty where the store does not give them. */
export async function savedTokens(gateway: Pick<Gateway, "activityDays">): Promise<SavedDay[]> {
  // A store that fails says so itself, on every page.
  const days = await gateway.activityDays().catch(() => []);
  return days.filter(({ searches }) => searches > 0).slice(0, DAYS).map((day) => ({
    day: day.day,
    searches: day.searches,
    saved: Math.max(0, day.baselineTokens - day.returnedTokens),
    baseline: day.baselineTokens,
  }));
}
