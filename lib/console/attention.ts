import type { Gateway } from "../gateway.ts";
import type { ConfigProblem } from "../config/files.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { EVERYONE } from "../core/access.ts";
import { failureCause } from "../core/failure_cause.ts";
import type { ServerStatus } from "../core/server.ts";
import type { CallUse, ServerTimes } from "../telemetry/call_stats.ts";
import type { ConsoleAction } from "./actions.ts";
import { waitingCounts, type WaitingGateway } from "./frame.ts";
import { type countedCalls, tokenCost } from "./tool_rows.ts";
import { toolsetNotes } from "./ui/tools.ts";
import { formatCount, formatLatency, formatNumber, formatShare } from "./ui/format.ts";
import { jobPath } from "./ui/jobs.ts";
import {
  optimizationPath,
  RESTORE_BACKUP,
  reviewPath,
  serverPath,
  serverStep,
  toolsetPath,
} from "./ui/pages.ts";

export interface Fix {
  verb: string;
  action: ConsoleAction;
  /** What it costs or undoes, asked about first. */
  warning?: string;
}

export interface FixLink {
  verb: string;
  href: string;
  advice: string;
}

export interface AttentionItem {
  kind:
    | "empty-toolset"
    | "stale-promotion"
    | "job-waiting"
    | "job-failed"
    | "changed-tools"
    | "quarantined"
    | "approval-waiting"
    | "consent-waiting"
    | "restore-waiting"
    | "failing"
    | "slow"
    | "missed"
    | "unused";
  subject: string;
  isName: boolean;
  href: string;
  detail: string;
  at?: number;
  fixes: Fix[];
}

const FAILING_ERRORS = 3;
const FAILING_SHARE = 0.1;
const SLOW_CALLS = 5;
const SLOW_MS = 5_000;
const UNUSED_TOKENS = 1_000;
const MOST_OF_A_KIND = 3;
const DAY_MS = 24 * 60 * 60_000;

export function isFailing({ calls, errors }: CallUse): boolean {
  return errors >= FAILING_ERRORS && errors / calls >= FAILING_SHARE;
}

export function isSlow({ calls, p95 }: ServerTimes): boolean {
  return calls >= SLOW_CALLS && p95 >= SLOW_MS;
}

/** What works and still asks for a decision, by what it costs: errors, time, misses, tokens. */
export function decisionItems(
  gateway: Pick<Gateway, "toolDirectory" | "servers">,
  { stats, isComplete }: Pick<Awaited<ReturnType<typeof countedCalls>>, "stats" | "isComplete">,
): AttentionItem[] {
  const tools = gateway.toolDirectory.visible(EVERYONE);
  const activity = (filter: Record<string, string>) => `/activity?${new URLSearchParams(filter)}`;
  const item = (
    kind: AttentionItem["kind"],
    subject: string,
    href: string,
    detail: string,
  ): AttentionItem => ({ kind, subject, isName: kind !== "missed", href, detail, fixes: [] });
  const failing = tools.map(({ server, name }) => ({ server, name, use: stats.use(server, name) }))
    .filter(({ use }) => isFailing(use)).sort((a, b) => b.use.errors - a.use.errors)
    .map(({ server, name, use: { calls, errors } }) => {
      const share = `${errors} of ${formatCount(calls, "call")} failed in 24 h`;
      const href = activity({ server, tool: name, status: "error" });
      return item(
        "failing",
        `${server}.${name}`,
        href,
        `${share} (${formatShare(errors / calls)})`,
      );
    });
  const slow = stats.servers().filter(isSlow).sort((a, b) => b.p95 - a.p95)
    .map(({ server, calls, p95 }) => {
      const detail = `1 in 20 of ${formatCount(calls, "call")} in 24 h took over `;
      return item("slow", server, activity({ server }), detail + formatLatency(p95));
    });
  // Searches by people say nothing about what models need.
  const queries = stats.missed("mcp");
  const missed = queries.slice(0, MOST_OF_A_KIND).map(({ query, count }) => {
    const detail = `${formatCount(count, "search", "searches")} in 24 h found no tool that fits`;
    return item("missed", `“${query}”`, activity({ kind: "missed" }), detail);
  });
  const more = queries.length - missed.length;
  const moreMissed = more === 0 ? [] : [
    item(
      "missed",
      `and ${formatNumber(more)} more`,
      activity({ kind: "missed" }),
      "Other queries in 24 h that found no tool that fits",
    ),
  ];
  const known = stats.oldest === undefined ? 0 : Math.floor((Date.now() - stats.oldest) / DAY_MS);
  // A record of less than a day says nothing about what is never used.
  const unused = !isComplete || known === 0 ? [] : gateway.servers.list()
    .filter(({ name, state }) => state === "ready" && stats.use(name).lastAt === undefined)
    .map(({ name }) => {
      const own = tools.filter(({ server }) => server === name);
      return { name, count: own.length, tokens: tokenCost(gateway.toolDirectory, own).counted };
    })
    .filter(({ tokens }) => tokens >= UNUSED_TOKENS).sort((a, b) => b.tokens - a.tokens)
    .map(({ name, count, tokens }) => {
      const cost = `its ${formatCount(count, "tool")} cost ${
        formatNumber(tokens)
      } tokens if listed`;
      const detail = `Not called in ${formatCount(known, "day")}; ${cost}`;
      return item("unused", name, serverPath(name), detail);
    });
  const most = (items: AttentionItem[]) => items.slice(0, MOST_OF_A_KIND);
  return [...most(failing), ...most(slow), ...missed, ...moreMissed, ...most(unused)];
}

const JOBS = 20;

export function entryProblem(
  problems: readonly ConfigProblem[],
  { name, reason }: ServerStatus,
): ConfigProblem | undefined {
  return problems.find(({ server, file, line, column }) =>
    server === name && reason.includes(`${file}:${line}:${column}`)
  );
}

export function serverFix({ name, state, source, reason }: ServerStatus): Fix | FixLink {
  if (state === "failed" && failureCause(reason) === "broken_cache") {
    return { verb: "Repair", action: { action: "repair-server", server: name } };
  }
  if (state !== "needs_login") {
    return { verb: "Restart", action: { action: "restart-server", server: name } };
  }
  // A restart cannot log in: that takes a person, or a credential.
  const place = source.kind === "file" ? `in ${source.path}` : "under Edit";
  return {
    verb: "Log in",
    href: serverStep(name, "login"),
    advice: `Log in, or add a credential header, such as Authorization, ${place}`,
  };
}

export function emptyToolset(
  { toolsets: { toolsets } }: Pick<Gateway, "toolsets">,
  principal = EVERYONE,
): AttentionItem[] {
  const toolset = toolsets.equippedBy(principal);
  if (toolset === undefined) return [];
  const tools = toolsets.tools(toolset);
  // What is being connected to may be there in a moment.
  if (tools.some(({ state, isComing }) => state === "registered" || isComing)) return [];
  const notes = toolsetNotes(tools.map(({ state }) => state));
  return [{
    kind: "empty-toolset",
    subject: toolset.name,
    isName: true,
    href: toolsetPath(toolset.name),
    detail: `Clients see none of its tools: ${notes.join(", ") || "the toolset is empty"}`,
    fixes: [{ verb: "Unequip", action: { action: "unequip-toolset" } }],
  }];
}

/** Something that only a page can settle. */
function linked(
  item: Pick<AttentionItem, "kind" | "subject" | "href" | "detail"> & { isName?: boolean },
): AttentionItem {
  return { isName: false, ...item, fixes: [] };
}

export function toolsToReview({ review }: Pick<Gateway, "review">): AttentionItem[] {
  const { held, quarantined } = review.count();
  const item = (state: "quarantined" | "held", count: number, one: string, many: string) => {
    if (count === 0) return [];
    const only = count === 1 ? review.waiting().find((each) => each.state === state) : undefined;
    return [linked({
      kind: state === "held" ? "changed-tools" : state,
      subject: only === undefined ? formatCount(count, "tool") : `${only.server}.${only.tool}`,
      isName: only !== undefined,
      href: reviewPath(only?.server, only?.tool),
      detail: count === 1 ? one : many,
    })];
  };
  return [
    ...item(
      "quarantined",
      quarantined,
      "Its definition looks like an attack, so clients cannot see it",
      "Their definitions look like attacks, so clients cannot see them",
    ),
    ...item(
      "held",
      held,
      "Its server changed it; clients do not see the change until you approve it",
      "Their servers changed them; clients do not see the changes until you approve them",
    ),
  ];
}

export async function toDecide(gateway: WaitingGateway): Promise<AttentionItem[]> {
  const { approvals, consents } = await waitingCounts(gateway);
  const calls = linked({
    kind: "approval-waiting",
    subject: formatCount(approvals, "call"),
    href: "/security/approvals",
    detail: "Calls that are not approved within two minutes are refused",
  });
  const programs = linked({
    kind: "consent-waiting",
    subject: formatCount(consents, "request"),
    href: "/security/consents",
    detail: "A client wants to add a server on this machine: nothing starts until you approve",
  });
  return [...(approvals === 0 ? [] : [calls]), ...(consents === 0 ? [] : [programs])];
}

export async function stagedRestore(
  { restore }: Pick<Gateway, "restore">,
): Promise<AttentionItem[]> {
  const { staged } = await restore.staged?.find() ?? {};
  if (staged === undefined) return [];
  return [linked({
    kind: "restore-waiting",
    subject: "A backup",
    href: RESTORE_BACKUP,
    detail: "It will replace all data when the gateway next starts",
  })];
}

/** Promotions whose ground has changed since: the server's text, a sibling, the model. */
export function stalePromotions({ promotions }: Pick<Gateway, "promotions">): AttentionItem[] {
  return promotions.list().flatMap(({ server, toolName: tool }): AttentionItem[] => {
    const staleness = promotions.staleness(server, tool);
    if (staleness === undefined) return [];
    return [{
      kind: "stale-promotion",
      subject: `${server}.${tool}`,
      isName: true,
      href: optimizationPath(server, tool),
      detail: `Since it was promoted, ${
        staleness.reasons.join("; ")
      }. Test it again, keep it or revert it`,
      fixes: [
        { verb: "Keep", action: { action: "keep-promotion", server, tool } },
        {
          verb: "Revert",
          action: { action: "revert-promotion", server, tool },
          warning: "Clients see the server's own description again immediately.",
        },
      ],
    }];
  });
}

export async function jobsToAttend(
  gateway: Pick<Gateway, "isOptimizing" | "optimization">,
): Promise<AttentionItem[]> {
  if (!gateway.isOptimizing()) return [];
  // A store that fails says so itself, on every page.
  const jobs = await gateway.optimization().then(({ jobs }) => jobs.list(JOBS)).catch(() => []);
  const seen = new Set<string>();
  return jobs.flatMap((job) => {
    const names = job.tools.map(({ server, toolName }) => `${server}.${toolName}`);
    const isNews = names.some((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return isNews ? jobItem(job) ?? [] : [];
  });
}

function jobItem(job: OptimizationJob): AttentionItem | undefined {
  if (job.status !== "paused" && job.status !== "failed") return undefined;
  const isWaiting = job.status === "paused";
  const [first] = job.tools;
  return {
    kind: isWaiting ? "job-waiting" : "job-failed",
    subject: job.tools.length === 1 && first
      ? `${first.server}.${first.toolName}`
      : formatCount(job.tools.length, "tool"),
    isName: job.tools.length === 1,
    href: jobPath(job.id),
    detail: job.note ?? (isWaiting ? "Paused" : "The job failed before it finished"),
    at: Date.parse(job.updatedAt),
    fixes: [
      isWaiting ? { verb: "Resume", action: { action: "resume-job", job: job.id } } : {
        verb: "Run again",
        action: { action: "retry-job", job: job.id },
        warning:
          "Unfinished tools are retried with the same options. This uses model calls, which may cost money.",
      },
    ],
  };
}
