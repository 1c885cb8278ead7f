import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { type ServerHistory, serverHistory, type ToolEvent } from "../catalog/tool_history.ts";
import type { Gateway } from "../gateway.ts";
import { within } from "../core/async.ts";
import { EVERYONE } from "../core/access.ts";
import type { ToolDefinition } from "../core/tool.ts";
import type { ReviewItem } from "../trust/review_items.ts";
import { compareText } from "./lists.ts";
import type { ToolWait } from "./ui/tools.ts";

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

const SUMMARY_LENGTH = 240;

/** The first paragraph of a tool's description, on one line and not too long for a list. */
export function toolSummary(tool: ToolDefinition): string {
  const text = (tool.description ?? tool.title ?? "").trim();
  const paragraph = text.slice(0, 4 * SUMMARY_LENGTH).split(/\n\s*\n/, 1)[0] ?? "";
  return cutText(paragraph.replaceAll(/\s+/g, " "), SUMMARY_LENGTH);
}

/** Cuts by whole characters and says so with an ellipsis. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${Array.from(text.slice(0, length * 2)).slice(0, length - 1).join("").trimEnd()}…`;
}

export function searchWords(query: string): string[] {
  return query.toLowerCase().slice(0, 200).split(/\s+/).filter((word) => word !== "");
}

export function matchesWords(words: readonly string[], ...texts: (string | undefined)[]): boolean {
  if (words.length === 0) return true;
  const haystack = texts.filter((text) => text !== undefined).join("\n").toLowerCase();
  return words.every((word) => haystack.includes(word));
}

/** A tool always costs something: nothing means that it has not been counted. */
export function knownTokens(
  toolDirectory: Gateway["toolDirectory"],
  tool: CatalogTool,
): { tokens?: number } {
  const tokens = toolDirectory.tokensOf(tool);
  return tokens === 0 ? {} : { tokens };
}

export interface ToolChanges {
  events: ToolEvent[];
  more: number;
  /** When the first of its tools was seen, if any was. */
  since?: number;
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

export interface WaitingTool {
  server: string;
  tool: string;
  kind: ReviewItem["kind"];
  state: ToolWait;
}

type WithReview = Pick<Gateway, "review">;

export function waitingTools({ review }: WithReview, only?: string): WaitingTool[] {
  const tools = new Map<string, WaitingTool>();
  for (const { server, tool, kind, state } of review.waiting(only)) {
    // What is in parentheses is a text of the server's and no tool.
    if (tool.startsWith("(") || (state !== "quarantined" && state !== "held")) continue;
    // Clients can be listed several versions of one tool.
    const key = JSON.stringify([server, tool, state]);
    if (!tools.has(key)) tools.set(key, { server, tool, kind, state });
  }
  return [...tools.values()];
}

/** Tells what a tool waits for; what looks like an attack counts more than a change. */
export function waitsFor(waiting: readonly WaitingTool[]) {
  const states = new Map<string, ToolWait>();
  for (const { server, tool, state } of waiting) {
    const key = JSON.stringify([server, tool]);
    if (states.get(key) !== "quarantined") states.set(key, state);
  }
  return (server: string, tool: string): { wait?: ToolWait } => {
    const wait = states.get(JSON.stringify([server, tool]));
    return wait === undefined ? {} : { wait };
  };
}

const COUNT_MS = 500;

/** Waits for what is quickly counted; thousands of new tools take longer, and a page does not. */
export async function countSoon(
  { toolDirectory, tokens }: Pick<Gateway, "toolDirectory" | "tokens">,
  limitMs = COUNT_MS,
): Promise<void> {
  const counted = tokens.prepare(toolDirectory.visible(EVERYONE, true)).catch(() => {});
  await within(counted, limitMs);
}

export interface TokenCost {
  counted: number;
  /** Some are not counted yet. */
  isCounting: boolean;
}

/** The cost of listing those of the tools that are on, as far as they are counted. */
export function tokenCost(
  toolDirectory: Gateway["toolDirectory"],
  tools: readonly CatalogTool[],
): TokenCost {
  const costs = tools.filter(({ enabled }) => enabled).map((tool) => toolDirectory.tokensOf(tool));
  return {
    counted: costs.reduce((sum, cost) => sum + cost, 0),
    isCounting: costs.includes(0),
  };
}

/** A page that waits longer is worse than one that shows the rest a moment later. */
const PATIENCE_MS = 150;

/** The counts of calls; they are loading after a start, while the record is read. */
export async function countedCalls({ callStats }: Pick<Gateway, "callStats">) {
  const { stats, loaded, complete } = callStats();
  const inTime = (work: Promise<void>) => within(work.then(() => true), PATIENCE_MS);
  const [isLoaded = false, isComplete = false] = await Promise.all([
    inTime(loaded),
    inTime(complete),
  ]);
  return { stats, isLoading: !isLoaded, isComplete };
}
