import type { Gateway } from "../../../lib/gateway.ts";
import {
  decisionItems,
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
import { countedCalls, tokenCost, toolRows, waitingTools } from "../../../lib/console/tool_rows.ts";
import { tourOf } from "../../../lib/console/tour.ts";
import type { ToolWait } from "../../../lib/console/ui/tools.ts";
import { EVERYONE } from "../../../lib/core/access.ts";
import { within } from "../../../lib/core/async.ts";
import type { ClientListing, ConnectedClient } from "../../../lib/mcp/clients.ts";
import { savedTokens } from "../../../lib/mcp/token_account.ts";
import { isStarting, type ServerStatus } from "../../../lib/core/server.ts";
import { countStates } from "../servers/(_page)/model.ts";
import { mapOf } from "./map.ts";

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
  const counted = await countedCalls(gateway);
  const calls = dashboardCalls(counted, query);
  const mayManage = gateway.access.grants(principal).may("manage");
  const clients = gateway.clients.list().filter(({ endedAt }) => endedAt === undefined);
  const [tokens, jobs, tour, toAnswer, restore] = await Promise.all([
    dashboardTokens(gateway, mayManage ? clients : []),
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
    withheld: withheldTools(gateway, servers),
    equipped: equipped && { name: equipped.name, tools: toolsets.registered(equipped).length },
    toolsets: toolsets.list().length,
    tokens,
    calls,
    /** Who is connected is only for those who manage the gateway. */
    clients: mayManage ? clients : [],
    map: mapOf({ clients, mayManage, servers, times: calls.servers }),
    decisions: decisionItems(gateway, counted),
    items: items.slice(0, MAX_LISTED),
    moreItems: Math.max(0, items.length - MAX_LISTED),
    storeTrouble: store.state === "ok" ? undefined : store.reason ?? "It is not writable",
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

/** Tools that servers list and no client sees: in quarantine, or new and not approved. */
function withheldTools(gateway: Gateway, servers: readonly ServerStatus[]) {
  const listing = new Set(servers.filter(({ toolCount }) => toolCount > 0).map(({ name }) => name));
  const tools = waitingTools(gateway).filter(({ server, kind, state }) =>
    listing.has(server) && (state === "quarantined" || kind === "added" || kind === "renamed")
  );
  const count = (state: ToolWait) => tools.filter((tool) => tool.state === state).length;
  return { quarantined: count("quarantined"), held: count("held") };
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

type CountedStats = Awaited<ReturnType<typeof countedCalls>>;

function dashboardCalls({ stats, isLoading }: CountedStats, query: URLSearchParams) {
  const asked = query.get("range");
  const range: Range = asked === "1h" || asked === "6h" ? asked : "24h";
  const { count, minutes } = RANGES[range];
  const points = stats.timeline(count, minutes);
  return {
    range,
    points,
    calls: points.reduce((sum, { calls }) => sum + calls, 0),
    errors: points.reduce((sum, { errors }) => sum + errors, 0),
    servers: stats.servers(),
    isLoading,
  };
}

const LISTINGS_MS = 150;
const DAYS = 7;

/** What listing every tool would cost, what clients are listed, and what their searches added. */
async function dashboardTokens(
  gateway: Gateway,
  clients: readonly ConnectedClient[],
) {
  const tools = gateway.toolDirectory.visible(EVERYONE);
  void gateway.tokens.prepare(tools).catch(() => {});
  const [listings = new Map<string, ClientListing>(), days] = await Promise.all([
    within(gateway.clients.listings(), LISTINGS_MS),
    // A store that fails says so itself, on every page.
    gateway.activityDays().catch(() => []),
  ]);
  // Sessions of one client that are listed the same are one row.
  const groups = Map.groupBy(clients, ({ id, name }) => `${name} ${listings.get(id)?.tokens}`);
  const given = [...groups.values()].flatMap((sessions) => {
    const { id, name } = sessions[0]!;
    const listing = listings.get(id);
    const answered = sessions.reduce((sum, { sent }) => sum + sent.answered, 0);
    return listing ? [{ id, name, sessions: sessions.length, listing, answered }] : [];
  }).sort((a, b) => b.listing.tokens - a.listing.tokens);
  const all = tokenCost(gateway.toolDirectory, tools);
  const sent = clients.map(({ sent }) => sent);
  const saved = sent.reduce((sum, each) => sum + savedTokens(each), 0);
  const inAll = sent.reduce((sum, { baseline }) => sum + baseline, 0);
  return {
    all,
    toolCount: tools.length,
    clients: given.slice(0, MAX_LISTED),
    more: Math.max(0, given.length - MAX_LISTED),
    isCounting: given.length < groups.size,
    /** Of connected clients: a list of every tool, less what each was listed and answered. */
    saved: inAll === 0
      ? undefined
      : { tokens: Math.max(0, saved), share: Math.max(0, saved / inAll) },
    /** The last days with searches or lists, newest first. */
    days: days.filter(({ searches, baselineTokens }) => searches > 0 || baselineTokens > 0)
      .slice(0, DAYS).map((day) => ({
        day: day.day,
        searches: day.searches,
        listed: day.listedTokens,
        answered: day.returnedTokens,
        baseline: day.baselineTokens,
      })),
  };
}
