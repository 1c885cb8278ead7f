import * as z from "zod/mini";
import type { JobTool, OptimizationJob } from "../../core/optimization.ts";
import { formatCount } from "./format.ts";
import type { JobOutcome } from "../../core/job_outcome.ts";

const JobLine = z.object({
  server: z.string(),
  tool: z.string(),
  state: z.enum(["done", "failed", "working", "queued"]),
  word: z.string(),
  text: z.string(),
  isPromoted: z.boolean(),
});
export type JobLine = z.infer<typeof JobLine>;

const JobNews = z.object({
  id: z.string(),
  status: z.enum(["running", "paused", "completed", "cancelled", "failed"]),
  title: z.string(),
  depth: z.enum(["quick", "thorough"]),
  tools: z.number(),
  done: z.number(),
  percent: z.number(),
  message: z.string(),
  current: z.optional(z.object({
    phase: z.enum(["queued", "generating", "evaluating", "promoting", "complete"]),
    categories: z.array(z.object({ category: z.string(), done: z.number(), total: z.number() })),
  })),
  /** Runs, failures, cost and what it may spend. */
  spent: z.string(),
  note: z.optional(z.string()),
  startedAt: z.string(),
  endedAt: z.optional(z.string()),
  /** Changes where a page that shows more than the job's own progress has to look again. */
  mark: z.string(),
  line: z.optional(JobLine),
});
/** What the live channel tells of a job: how far it is, without the list of its tools. */
type JobNews = z.infer<typeof JobNews>;

/** A job as pages show it: plain data, small however many tools it has. */
export interface ShownJob extends Omit<JobNews, "line"> {
  lines: JobLine[];
  earlier: number;
  later: number;
  /** What it came to where that is less than was asked for. */
  outcome?: JobOutcome | undefined;
}

const MAX_LINES = 30;
const LINES_BEFORE = 10;

const PHASES: Record<JobTool["phase"], string> = {
  queued: "Queued",
  generating: "Generating",
  evaluating: "Evaluating",
  promoting: "Promoting",
  complete: "Complete",
};

export const STEPS = ["generating", "evaluating", "promoting", "complete"] as const;

/** Where a job's page is; no server can be called so. */
export function jobPath(id: string): string {
  return `/optimization/~jobs/${encodeURIComponent(id)}`;
}

export function isActive({ status }: Pick<ShownJob, "status">): boolean {
  return status === "running" || status === "paused";
}

export function jobProgress(job: OptimizationJob): ShownJob {
  const { id, status, tools, options } = job;
  const done = tools.filter(({ phase }) => phase === "complete").length;
  const at = tools.findIndex(({ phase }) => phase !== "complete");
  const current = isActive(job) ? tools[at] : undefined;
  const first = Math.max(0, Math.min(Math.max(0, at) - LINES_BEFORE, tools.length - MAX_LINES));
  const lines = tools.slice(first, first + MAX_LINES);
  const share = tools.length === 0 ? 1 : (done + (current ? partOf(current) : 0)) / tools.length;
  return {
    id,
    status,
    title: titleOf(tools),
    depth: options.depth,
    tools: tools.length,
    done,
    percent: status === "completed" ? 100 : Math.floor(100 * share),
    message: messageOf(job, current, at),
    current: current && {
      phase: current.phase,
      categories: Object.entries(current.byCategory ?? {})
        .map(([category, counts]) => ({ category, ...counts })),
    },
    lines: lines.map((tool) => lineOf(tool, job)),
    earlier: first,
    later: tools.length - first - lines.length,
    spent: spentText(job),
    note: job.note,
    startedAt: job.createdAt,
    endedAt: job.endedAt,
    mark: `${id} ${status} ${done}`,
  };
}

/** "$0.0120", "$1.25": a run may cost less than a cent, and must not look free. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}

function titleOf(tools: readonly JobTool[]): string {
  const servers = [...new Set(tools.map(({ server }) => server))];
  const [first] = tools;
  if (first === undefined) return "nothing";
  if (tools.length === 1) return `${first.server}.${first.toolName}`;
  if (servers.length === 1) return `${first.server} (${formatCount(tools.length, "tool")})`;
  return `${formatCount(servers.length, "server")} (${formatCount(tools.length, "tool")})`;
}

/** How much of one tool is done; the runs are nearly all of the work. */
function partOf({ phase, runsDone, runsTotal }: JobTool): number {
  if (phase === "promoting") return 0.95;
  if (phase !== "evaluating" || runsTotal === 0) return 0;
  return 0.1 + 0.85 * Math.min(1, runsDone / runsTotal);
}

const STOPPED = {
  completed: "Complete",
  cancelled: "Canceled",
  failed: "Failed",
  paused: "Paused",
};

function messageOf(job: OptimizationJob, current: JobTool | undefined, at: number): string {
  if (job.status !== "running") return STOPPED[job.status];
  if (current === undefined) return "Finishing";
  const place = job.tools.length === 1 ? "" : ` (tool ${at + 1} of ${job.tools.length})`;
  const name = current.toolName;
  if (current.phase === "queued") return `Waiting to start ${name}${place}`;
  if (current.phase === "generating") {
    const what = current.round === undefined ? "prompts" : `candidates (round ${current.round})`;
    return `Writing ${what} for ${name}${place}`;
  }
  if (current.phase === "promoting") return `Deciding on ${name}${place}`;
  const which = current.candidates === 0
    ? "the server's own description"
    : `candidate ${current.currentCandidate ?? 1}/${current.candidates}`;
  return `Testing ${which} for ${name}${place}`;
}

function lineOf(tool: JobTool, job: OptimizationJob): JobLine {
  const { server, toolName, phase, runsDone, runsTotal, outcome = "", failed } = tool;
  const line = { server, tool: toolName, isPromoted: tool.promotedCandidateId !== undefined };
  if (phase === "complete") {
    const word = failed ? "Failed" : "Complete";
    return { ...line, state: failed ? "failed" : "done", word, text: outcome };
  }
  if (!isActive(job)) return { ...line, state: "queued", word: "Not finished", text: outcome };
  if (phase === "queued") return { ...line, state: "queued", word: PHASES.queued, text: "" };
  const text = phase === "evaluating" && runsTotal > 0
    ? `${runsDone}/${runsTotal} runs done`
    : outcome;
  return { ...line, state: "working", word: PHASES[phase], text };
}

function spentText({ runs, errors, cost, options }: OptimizationJob): string {
  const { maxRuns, maxCostUsd } = options;
  // Of a part of the runs it is not known.
  const atLeast = cost.costKnown === false ? "at least " : "";
  return [
    `${formatCount(runs, "run")}${maxRuns === undefined ? "" : ` of at most ${maxRuns}`}`,
    ...(errors === 0 ? [] : [`${errors} failed and not counted`]),
    ...(cost.costUsd === undefined ? [] : [`${atLeast}${dollars(cost.costUsd)}`]),
    ...(maxCostUsd === undefined ? [] : [`budget ${dollars(maxCostUsd)}`]),
  ].join(", ");
}

export function jobNews(job: OptimizationJob): JobNews {
  const { lines, earlier: _earlier, later: _later, ...progress } = jobProgress(job);
  return { ...progress, line: lines.find(({ state }) => state === "working") };
}

export function isJobNews(data: unknown): data is JobNews {
  return JobNews.safeParse(data).success;
}

export function withNews(shown: ShownJob, { line, ...progress }: JobNews): ShownJob {
  const { lines, earlier, later } = shown;
  const isSame = (other: JobLine) => other.server === line?.server && other.tool === line.tool;
  return {
    ...progress,
    lines: line === undefined ? lines : lines.map((other) => isSame(other) ? line : other),
    earlier,
    later,
  };
}
