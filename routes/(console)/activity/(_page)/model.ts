import type { Gateway } from "../../../../lib/gateway.ts";
import { compareText, PAGE_SIZE } from "../../../../lib/console/lists.ts";
import { formatDuration } from "../../../../lib/console/ui/format.ts";
import type { FilterChoice } from "../../../../lib/console/ui/tools.ts";
import { optimizationPath } from "../../../../lib/console/ui/pages.ts";
import { defined } from "../../../../lib/core/defined.ts";
import { shortened } from "../../../../lib/core/text.ts";
import type { ActivityRecord } from "../../../../lib/storage/activity_repository.ts";
import {
  ActivityFilter,
  type ActivityRange,
  type CallView,
} from "../../../../lib/telemetry/activity_reader.ts";
import type { MissedQuery } from "../../../../lib/telemetry/call_stats.ts";
import { NAMES } from "./browser.ts";

export interface ActivityPage {
  rows: ActivityRecord[];
  hasOlder: boolean;
  isOlder: boolean;
  filter: ActivityFilter;
  query: Record<string, string>;
  choices: Record<Exclude<typeof NAMES[number], "session">, FilterChoice[]>;
  /** Searches of the last 24 hours that found nothing. */
  missed: MissedQuery[];
  hasCalls: boolean;
  keptDays: number;
  keptCalls: number;
}

/** Filters offer what the last calls had. */
const LOOKED_AT = 1_000;
const MOST_CHOICES = 100;
const MAX_TEXT = 500;

export async function activityPage(
  gateway: Pick<Gateway, "calls" | "options" | "callStats">,
  query: URLSearchParams,
): Promise<ActivityPage> {
  const { filter, range } = readActivityQuery(query);
  const { stats, loaded } = gateway.callStats();
  const [{ calls, hasOlder }, recent] = await Promise.all([
    take(gateway.calls.calls(filter, range), PAGE_SIZE),
    take(gateway.calls.calls(), LOOKED_AT),
    loaded,
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
      endpoint: choicesOf(recent.calls, "endpoint", filter.endpoint),
    },
    missed: stats.missed(),
    hasCalls: recent.calls.length > 0,
    keptDays: activityRetention,
    keptCalls: activityCalls,
  };
}

/** The calls that an address asks for; what it says of no use is left out. */
function readActivityQuery(
  query: URLSearchParams,
): { filter: ActivityFilter; range: ActivityRange } {
  const text = (query.get("q") ?? query.get("text") ?? "").trim().slice(0, MAX_TEXT);
  const status = ActivityFilter.shape.status.safeParse(query.get("status")).data;
  const kind = ActivityFilter.shape.kind.safeParse(query.get("kind")).data;
  const named = NAMES.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value]] : [];
  });
  return {
    filter: {
      ...Object.fromEntries(named),
      ...defined({ status, kind }),
      ...(text === "" ? {} : { text }),
    },
    range: { before: query.get("before") || undefined, after: query.get("after") || undefined },
  };
}

function filterParams({ text, ...names }: ActivityFilter): Record<string, string> {
  const all = Object.entries({ ...names, q: text });
  return Object.fromEntries(
    all.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
}

async function take(calls: AsyncIterable<ActivityRecord>, most: number) {
  const taken: ActivityRecord[] = [];
  for await (const call of calls) {
    if (taken.length === most) return { calls: taken, hasOlder: true };
    taken.push(call);
  }
  return { calls: taken, hasOlder: false };
}

function choicesOf(
  calls: readonly ActivityRecord[],
  name: typeof NAMES[number],
  current: string | undefined,
): FilterChoice[] {
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

/** Who had a call, and when: each stretch lies in the whole from 0 to 1. */
export interface CallTurn {
  who: "Client" | "Gateway" | "Server";
  stretches: { start: number; share: number }[];
  text: string;
}

export interface CallPage {
  call: ActivityRecord;
  /** Request and response; undefined once they are forgotten. */
  view: CallView | undefined;
  detailsKept: number;
  timeline: CallTurn[];
  /** Missing for a search. */
  judge?: {
    rightTool: string;
    /** The same for one that it should not, with what its caller could have chosen in its place. */
    wrongTool: { action: string; fields: Record<string, string>; others: string[] };
  };
}

const PROMPT_LENGTH = 600;
const VALUE_LENGTH = 200;
/** More are a search and no choice; the prompt's own form takes any name. */
const MOST_OTHERS = 500;

export async function callPage(
  gateway: Pick<Gateway, "calls" | "toolDirectory">,
  id: string,
): Promise<CallPage | undefined> {
  const found = await gateway.calls.find(id);
  if (!found) return undefined;
  const { call, view } = found;
  const page = { call, view, detailsKept: gateway.calls.detailsKept, timeline: timelineOf(call) };
  if (call.search) return page;
  const action = optimizationPath(call.server, call.tool);
  const rightTool = `${action}?${new URLSearchParams(promptFields(view, "direct"))}`;
  const fields = promptFields(view, "negative");
  const wrongTool = { action, fields, others: otherTools(gateway, call) };
  return { ...page, judge: { rightTool, wrongTool } };
}

/** The client waits the whole time; the gateway works before and after the server. */
export function timelineOf(call: ActivityRecord): CallTurn[] {
  const { ms, beforeMs = 0, serverMs } = call;
  const whole = Math.max(ms, 0.1);
  const all = [{ start: 0, share: 1 }];
  const client: CallTurn = {
    who: "Client",
    stretches: all,
    text: `waited ${formatDuration(ms)}`,
  };
  if (serverMs === undefined) {
    // Earlier versions noted neither.
    const isNoted = call.requestBytes !== undefined;
    const text = isNoted ? "answered without the server" : "server time unknown";
    return [client, { who: "Gateway", stretches: all, text }];
  }
  const server = Math.min(serverMs, whole);
  const before = Math.min(beforeMs, whole - server);
  const after = whole - server - before;
  return [
    client,
    {
      who: "Gateway",
      stretches: [
        { start: 0, share: before / whole },
        { start: (before + server) / whole, share: after / whole },
      ],
      text: `${formatDuration(before)} before the server, ${formatDuration(after)} after`,
    },
    {
      who: "Server",
      stretches: [{ start: before / whole, share: server / whole }],
      text: `took ${formatDuration(serverMs)}`,
    },
  ];
}

function promptFields(
  view: CallView | undefined,
  category: "direct" | "negative",
): Record<string, string> {
  const prompt = promptOf(view?.request.arguments ?? {});
  // The tab that has the form, also where there is no prompt to begin with.
  return { tab: "prompts", ...(prompt === "" ? {} : { prompt }), category };
}

/** A description is measured among the tools of its server: one of these can be named. */
function otherTools(
  { toolDirectory }: Pick<Gateway, "toolDirectory">,
  call: ActivityRecord,
): string[] {
  return toolDirectory.visible(call.principal)
    .filter(({ server, name }) => server === call.server && name !== call.tool)
    .map(({ name }) => name)
    .sort(compareText)
    .slice(0, MOST_OTHERS);
}

/** The arguments in words, for a person to make a request of: `path: README.md, limit: 5`. */
export function promptOf(given: Record<string, unknown>): string {
  const parts = Object.entries(given).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    return `${name}: ${shortened(text.replace(/\s+/g, " ").trim(), VALUE_LENGTH)}`;
  });
  return shortened(parts.join(", "), PROMPT_LENGTH);
}
