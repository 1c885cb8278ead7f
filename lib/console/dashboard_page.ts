import type { Gateway } from "../compose.ts";
import type { Problem } from "../config/problem.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ServerStatus } from "../core/server.ts";
import {
  type AttentionItem,
  emptyToolset,
  type Fix,
  type FixLink,
  jobsToAttend,
  serverFix,
  stagedRestore,
  stalePromotions,
  toDecide,
  toolsToReview,
} from "./attention.ts";
import { type DashboardCalls, dashboardCalls } from "./dashboard_calls.ts";
import { type SavedDay, savedTokens } from "./saved_tokens.ts";
import { type ToolRow, toolRows } from "./server_page.ts";
import { countStates, type StateCount } from "./servers_page.ts";
import { countStatus, needsAttention } from "./status_counts.ts";
import { type Tour, tourOf } from "./tour.ts";
import type { StatusCounts } from "./ui/live.ts";

export interface DashboardPage {
  counts: StatusCounts;
  states: StateCount[];
  /** Tools that clients can find and call; the others are switched off. */
  exposed: number;
  /** The toolset whose tools are listed at the default door. */
  equipped?: { name: string; tools: number };
  toolsets: number;
  /** What searching in place of listing everything has spared today. */
  savedToday?: SavedDay;
  calls: DashboardCalls;
  /** The servers that need a person, with the place in their configuration that is the cause. */
  attention: { server: ServerStatus; problem?: Problem; fix?: Fix | FixLink }[];
  moreAttention: number;
  /** What else waits for a person. */
  items: AttentionItem[];
  moreItems: number;
  /** What else there is to correct in the configuration, errors first. */
  problems: Problem[];
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
    exposed: gateway.guide.visible(EVERYONE).length,
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

export type DashboardGateway =
  & Pick<
    Gateway,
    | "servers"
    | "problems"
    | "readiness"
    | "address"
    | "startedAt"
    | "version"
    | "options"
    | "guide"
    | "review"
  >
  & Parameters<typeof dashboardCalls>[0]
  & Parameters<typeof savedTokens>[0]
  & Parameters<typeof jobsToAttend>[0]
  & Parameters<typeof toDecide>[0]
  & Parameters<typeof stagedRestore>[0]
  & Parameters<typeof stalePromotions>[0]
  & Parameters<typeof tourOf>[0];

/** Servers and places in the configuration; what explains a server stands with it alone. */
function attentionOf(
  gateway: Pick<Gateway, "problems">,
  servers: readonly ServerStatus[],
): Pick<DashboardPage, "attention" | "moreAttention" | "problems" | "moreProblems"> {
  const attention = servers.filter(needsAttention).map((server) => {
    const problem = gateway.problems.find((problem) =>
      problem.server === server.name && problem.message.includes(server.reason)
    );
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
