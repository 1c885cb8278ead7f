import type { Gateway } from "../compose.ts";
import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { ActivityFilter } from "../telemetry/activity_filter.ts";
import { filterParams, parseActivityQuery, readActivityQuery } from "./activity_query.ts";
import { PAGE_SIZE } from "./paging.ts";
import { compareText } from "./sorting.ts";

/** A choice of a filter, with how many of the last calls it has. */
export interface CallChoice {
  value: string;
  count: number;
}

export interface ActivityPage {
  rows: ActivityRecord[];
  hasOlder: boolean;
  /** Not the newest calls, but those before one. */
  isOlder: boolean;
  filter: ActivityFilter;
  /** The filter as addresses say it. */
  query: Record<string, string>;
  choices: Record<"server" | "tool" | "client" | "door", CallChoice[]>;
  /** Whether any call is known, whatever the filter. */
  hasCalls: boolean;
  keptDays: number;
  keptCalls: number;
}

export interface CallsAnswer {
  calls: ActivityRecord[];
  hasOlder: boolean;
}

type ActivityGateway = Pick<Gateway, "calls" | "options">;

/** Filters offer what the last calls had. */
const LOOKED_AT = 1_000;
const MOST_CHOICES = 100;

/** The list of calls as the address asks for it. */
export async function activityPage(
  gateway: ActivityGateway,
  query: URLSearchParams,
): Promise<ActivityPage> {
  const { filter, range } = readActivityQuery(query);
  const [{ calls, hasOlder }, recent] = await Promise.all([
    take(gateway.calls.calls(filter, range), PAGE_SIZE),
    take(gateway.calls.calls(), LOOKED_AT),
  ]);
  const { activityRetention, activityCalls } = gateway.options.options;
  const inServer = filter.server === undefined
    ? recent.calls
    : recent.calls.filter(({ server }) => server === filter.server);
  return {
    rows: calls,
    hasOlder,
    isOlder: range.before !== undefined,
    filter,
    query: filterParams(filter),
    choices: {
      server: choicesOf(recent.calls, "server", filter.server),
      tool: choicesOf(inServer, "tool", filter.tool),
      client: choicesOf(recent.calls, "client", filter.client),
      door: choicesOf(recent.calls, "door", filter.door),
    },
    hasCalls: recent.calls.length > 0,
    keptDays: activityRetention,
    keptCalls: activityCalls,
  };
}

/** The same for a program or an island, some at a time. */
export async function listCalls(
  gateway: Pick<Gateway, "calls">,
  query: URLSearchParams,
): Promise<CallsAnswer> {
  const { filter, range, limit } = parseActivityQuery(query);
  return await take(gateway.calls.calls(filter, range), limit);
}

async function take(calls: AsyncIterable<ActivityRecord>, most: number): Promise<CallsAnswer> {
  const taken: ActivityRecord[] = [];
  for await (const call of calls) {
    if (taken.length === most) return { calls: taken, hasOlder: true };
    taken.push(call);
  }
  return { calls: taken, hasOlder: false };
}

function choicesOf(
  calls: readonly ActivityRecord[],
  name: "server" | "tool" | "client" | "door",
  current: string | undefined,
): CallChoice[] {
  const counts = new Map<string, number>();
  for (const { [name]: value } of calls) {
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  // What the address asks for is shown even where nothing has it.
  if (current !== undefined && !counts.has(current)) counts.set(current, 0);
  return [...counts].map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_CHOICES)
    .sort((a, b) => compareText(a.value, b.value));
}
