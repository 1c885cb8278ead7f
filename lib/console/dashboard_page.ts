import type { Gateway } from "../compose.ts";
import type { Problem } from "../config/problem.ts";
import type { ServerStatus } from "../core/server.ts";
import { type ToolRow, toolRows } from "./server_page.ts";
import { countStates, type StateCount } from "./servers_page.ts";
import { countStatus, needsAttention } from "./status_counts.ts";
import type { StatusCounts } from "./ui/live.ts";

export interface DashboardPage {
  counts: StatusCounts;
  states: StateCount[];
  /** The servers that need a person, with the place in their configuration that is the cause. */
  attention: { server: ServerStatus; problem?: Problem }[];
  moreAttention: number;
  /** What else there is to correct in the configuration, errors first. */
  problems: Problem[];
  moreProblems: number;
  /** Why the data store does not work as it should. */
  storeTrouble?: string;
  /** The servers with most tools. */
  largest: ServerStatus[];
  /** Set on a first run, where only the built-in demo is there. */
  demo?: { server: ServerStatus; tools: ToolRow[] };
  address: string;
  startedAt: number;
  version: string;
  dataDir?: string;
}

const MAX_LISTED = 8;

/** What the dashboard tells at a glance. */
export function dashboardPage(
  gateway: Pick<
    Gateway,
    "servers" | "problems" | "readiness" | "address" | "startedAt" | "version" | "options"
  >,
): DashboardPage {
  const servers = gateway.servers.list();
  const attention = servers.filter(needsAttention).map((server) => {
    const problem = gateway.problems.find((problem) =>
      problem.server === server.name && problem.message.includes(server.reason)
    );
    return { server, ...(problem === undefined ? {} : { problem }) };
  });
  const explained = new Set(attention.map(({ problem }) => problem));
  const problems = gateway.problems.filter((problem) => !explained.has(problem)).sort((a, b) =>
    Number(b.severity === "error") - Number(a.severity === "error")
  );
  const { store } = gateway.readiness();
  const { dataDir } = gateway.options.options;
  const [only] = servers;
  const isFirstRun = servers.length === 1 && only?.source.kind === "demo";
  return {
    counts: countStatus(servers, gateway.problems),
    states: countStates(servers),
    attention: attention.slice(0, MAX_LISTED),
    moreAttention: Math.max(0, attention.length - MAX_LISTED),
    problems: problems.slice(0, MAX_LISTED),
    moreProblems: Math.max(0, problems.length - MAX_LISTED),
    ...(store.state === "ok" ? {} : { storeTrouble: store.reason ?? "It cannot be written" }),
    largest: servers.toSorted((a, b) => b.toolCount - a.toolCount).slice(0, 6),
    ...(isFirstRun ? { demo: { server: only, tools: toolRows(gateway, only.name) } } : {}),
    address: gateway.address,
    startedAt: gateway.startedAt,
    version: gateway.version,
    ...(dataDir === undefined ? {} : { dataDir }),
  };
}
