import type { Gateway } from "../../../lib/gateway.ts";
import type { ConfigProblem } from "../../../lib/config/files.ts";
import {
  type AttentionItem,
  emptyToolset,
  entryProblem,
  type Fix,
  type FixLink,
  jobsToAttend,
  serverFix,
  stagedRestore,
  stalePromotions,
  toDecide,
  toolsToReview,
} from "../../../lib/console/attention.ts";
import { countStatus, needsAttention } from "../../../lib/console/frame.ts";
import { type ToolRow, toolRows } from "../../../lib/console/tool_rows.ts";
import { type Tour, tourOf } from "../../../lib/console/tour.ts";
import type { StatusCounts } from "../../../lib/console/ui/live.ts";
import { EVERYONE } from "../../../lib/core/access.ts";
import { isStarting, type ServerStatus } from "../../../lib/core/server.ts";
import type { CallBucket, ServerTimes } from "../../../lib/telemetry/call_stats.ts";
import { countStates, type StateCount } from "../servers/(_page)/model.ts";
import { type SavedDay, savedTokens } from "../tools/(_page)/model.ts";

export interface DashboardPage {
  counts: StatusCounts;
  states: StateCount[];
  /** The servers that are starting or installing. */
  starting: ServerStatus[];
  /** Tools that clients can find and call; the others are switched off. */
  exposed: number;
  /** The toolset whose tools are listed at the default endpoint. */
  equipped?: { name: string; tools: number };
  toolsets: number;
  /** What searching in place of listing everything has spared today. */
  savedToday?: SavedDay;
  calls: DashboardCalls;
  /** The servers that need a person, with the place in their configuration that is the cause. */
  attention: { server: ServerStatus; problem?: ConfigProblem; fix?: Fix | FixLink }[];
  moreAttention: number;
  /** What else waits for a person. */
  items: AttentionItem[];
  moreItems: number;
  /** What else there is to correct in the configuration, errors first. */
  problems: ConfigProblem[];
  moreProblems: number;
  /** Why the data store does not work as it should. */
  storeTrouble?: string;
  /** The servers with most tools. */
  largest: ServerStatus[];
  /** Set where only the built-in demo is there. */
  demo?: { server: ServerStatus; tools: ToolRow[] };
  tour?: Tour;
  address: string;
  startedAt: number;
  version: string;
  dataDir?: string;
}

type DashboardGateway =
  & Pick<
    Gateway,
    | "servers"
    | "problems"
    | "readiness"
    | "address"
    | "startedAt"
    | "version"
    | "options"
    | "toolDirectory"
    | "review"
  >
  & Parameters<typeof dashboardCalls>[0]
  & Parameters<typeof savedTokens>[0]
  & Parameters<typeof jobsToAttend>[0]
  & Parameters<typeof toDecide>[0]
  & Parameters<typeof stagedRestore>[0]
  & Parameters<typeof stalePromotions>[0]
  & Parameters<typeof tourOf>[0];

const MAX_LISTED = 8;

/** What the dashboard tells at a glance. */
export async function dashboardPage(
  gateway: DashboardGateway,
  query = new URLSearchParams(),
  principal = EVERYONE,
): Promise<DashboardPage> {
  const servers = gateway.servers.list();
  const { store } = gateway.readiness();
  const { dataDir } = gateway.options.options;
  const [only] = servers;
  const isFirstRun = servers.length === 1 && only?.source.kind === "demo";
  const [calls, savedToday, jobs, tour, toAnswer, restore] = await Promise.all([
    dashboardCalls(gateway, query),
    savedOfToday(gateway),
    jobsToAttend(gateway),
    tourOf(gateway),
    toDecide(gateway),
    stagedRestore(gateway),
  ]);
  const items = [
    // A call waits for minutes, all else for days.
    ...toAnswer,
    ...toolsToReview(gateway),
    ...restore,
    ...emptyToolset(gateway, principal),
    ...jobs,
    ...stalePromotions(gateway),
  ];
  const { toolsets } = gateway.toolsets;
  const equipped = toolsets.equippedBy(principal);
  return {
    ...attentionOf(gateway, servers),
    counts: countStatus(servers, gateway.problems),
    states: countStates(servers),
    starting: servers.filter(({ state }) => isStarting(state)),
    exposed: gateway.toolDirectory.visible(EVERYONE).length,
    ...(equipped === undefined
      ? {}
      : { equipped: { name: equipped.name, tools: toolsets.registered(equipped).length } }),
    toolsets: toolsets.list().length,
    ...(savedToday === undefined ? {} : { savedToday }),
    calls,
    items: items.slice(0, MAX_LISTED),
    moreItems: Math.max(0, items.length - MAX_LISTED),
    ...(store.state === "ok" ? {} : { storeTrouble: store.reason ?? "It cannot be written" }),
    largest: servers.toSorted((a, b) => b.toolCount - a.toolCount).slice(0, 6),
    ...(isFirstRun ? { demo: { server: only, tools: toolRows(gateway, only.name) } } : {}),
    ...(tour === undefined ? {} : { tour }),
    address: gateway.address,
    startedAt: gateway.startedAt,
    version: gateway.version,
    ...(dataDir === undefined ? {} : { dataDir }),
  };
}

/** Servers and places in the configuration; what explains a server stands with it alone. */
function attentionOf(
  gateway: Pick<Gateway, "problems">,
  servers: readonly ServerStatus[],
): Pick<DashboardPage, "attention" | "moreAttention" | "problems" | "moreProblems"> {
  const attention = servers.filter(needsAttention).map((server) => {
    const problem = entryProblem(gateway.problems, server);
    // An entry that is wrong in its file is not set right by starting it again.
    return problem === undefined ? { server, fix: serverFix(server) } : { server, problem };
  });
  const explained = new Set(attention.map(({ problem }) => problem));
  const problems = gateway.problems.filter((problem) => !explained.has(problem)).sort((a, b) =>
    Number(b.severity === "error") - Number(a.severity === "error")
  );
  return {
    attention: attention.slice(0, MAX_LISTED),
    moreAttention: Math.max(0, attention.length - MAX_LISTED),
    problems: problems.slice(0, MAX_LISTED),
    moreProblems: Math.max(0, problems.length - MAX_LISTED),
  };
}

async function savedOfToday(
  gateway: Pick<Gateway, "activityDays">,
): Promise<SavedDay | undefined> {
  const [latest] = await savedTokens(gateway);
  const today = new Date().toISOString().slice(0, 10);
  return latest?.day === today ? latest : undefined;
}

/** How far back the chart goes, and how fine it is. */
export const RANGES = {
  "1h": { label: "1 hour", last: "hour", count: 60, minutes: 1 },
  "6h": { label: "6 hours", last: "6 hours", count: 72, minutes: 5 },
  "24h": { label: "24 hours", last: "24 hours", count: 96, minutes: 15 },
} as const;
export type Range = keyof typeof RANGES;

export interface DashboardCalls {
  range: Range;
  /** Oldest first, one after the other. */
  points: CallBucket[];
  calls: number;
  errors: number;
  /** The most called servers of the last 24 hours. */
  servers: ServerTimes[];
  moreServers: number;
  /** Whether calls from before are still being read. */
  isLoading: boolean;
}

const MAX_SERVERS = 8;
/** A page that waits longer is worse than one that shows the rest a moment later. */
const PATIENCE_MS = 150;

/** What was called, how it went and how long it took. */
async function dashboardCalls(
  gateway: Pick<Gateway, "callStats">,
  query: URLSearchParams,
): Promise<DashboardCalls> {
  const { stats, loaded } = gateway.callStats();
  const isLoading = await isSlow(loaded);
  const asked = query.get("range");
  const range = asked === "1h" || asked === "6h" ? asked : "24h";
  const { count, minutes } = RANGES[range];
  const points = stats.timeline(count, minutes);
  const servers = stats.servers();
  return {
    range,
    points,
    calls: points.reduce((sum, { calls }) => sum + calls, 0),
    errors: points.reduce((sum, { errors }) => sum + errors, 0),
    servers: servers.slice(0, MAX_SERVERS),
    moreServers: Math.max(0, servers.length - MAX_SERVERS),
    isLoading,
  };
}

async function isSlow(work: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), PATIENCE_MS);
  const isLate = await Promise.race([work.then(() => false), promise]);
  clearTimeout(timer);
  return isLate;
}
