import type { Gateway } from "../../../lib/gateway.ts";
import {
  emptyToolset,
  entryProblem,
  jobsToAttend,
  serverFix,
  stagedRestore,
  stalePromotions,
  toDecide,
  toolsToReview,
} from "../../../lib/console/attention.ts";
import { countStatus, needsAttention } from "../../../lib/console/frame.ts";
import { countedCalls, toolRows } from "../../../lib/console/tool_rows.ts";
import { tourOf } from "../../../lib/console/tour.ts";
import { EVERYONE } from "../../../lib/core/access.ts";
import { isStarting, type ServerStatus } from "../../../lib/core/server.ts";
import { countStates } from "../servers/(_page)/model.ts";
import { savedTokens } from "../tools/(_page)/model.ts";

const MAX_LISTED = 8;

export type DashboardPage = Awaited<ReturnType<typeof dashboardPage>>;

export async function dashboardPage(
  gateway: Gateway,
  query = new URLSearchParams(),
  principal = EVERYONE,
) {
  const servers = gateway.servers.list();
  const { store } = gateway.readiness();
  const [only] = servers;
  const [calls, [lastSaved], jobs, tour, toAnswer, restore] = await Promise.all([
    dashboardCalls(gateway, query),
    savedTokens(gateway),
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
    /** Tools that clients can find and call; the others are switched off. */
    exposed: gateway.toolDirectory.visible(EVERYONE).length,
    equipped: equipped && { name: equipped.name, tools: toolsets.registered(equipped).length },
    toolsets: toolsets.list().length,
    savedToday: lastSaved?.day === new Date().toISOString().slice(0, 10) ? lastSaved : undefined,
    calls,
    items: items.slice(0, MAX_LISTED),
    moreItems: Math.max(0, items.length - MAX_LISTED),
    storeTrouble: store.state === "ok" ? undefined : store.reason ?? "It cannot be written",
    largest: servers.toSorted((a, b) => b.toolCount - a.toolCount).slice(0, 6),
    /** Only if there is no other server. */
    demo: servers.length === 1 && only?.source.kind === "demo"
      ? { server: only, tools: toolRows(gateway, only.name) }
      : undefined,
    tour,
    address: gateway.address,
    startedAt: gateway.startedAt,
    version: gateway.version,
    dataDir: gateway.options.options.dataDir,
  };
}

/** Servers, and problems in the configuration that explain none of them. */
function attentionOf(gateway: Gateway, servers: readonly ServerStatus[]) {
  const attention = servers.filter(needsAttention).map((server) => {
    const problem = entryProblem(gateway.problems, server);
    // An entry that is wrong in its file is not set right by starting it again.
    return { server, problem, fix: problem ? undefined : serverFix(server) };
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

export const RANGES = {
  "1h": { label: "1 hour", last: "hour", count: 60, minutes: 1 },
  "6h": { label: "6 hours", last: "6 hours", count: 72, minutes: 5 },
  "24h": { label: "24 hours", last: "24 hours", count: 96, minutes: 15 },
} as const;
export type Range = keyof typeof RANGES;

const MAX_SERVERS = 8;

async function dashboardCalls(gateway: Gateway, query: URLSearchParams) {
  const { stats, isLoading } = await countedCalls(gateway);
  const asked = query.get("range");
  const range: Range = asked === "1h" || asked === "6h" ? asked : "24h";
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
