import {
  CATEGORIES,
  type ClientView,
  JobOptions,
  type OptimizationJob,
  type SuccessCount,
  type Thresholds,
} from "../../../../lib/core/optimization.ts";
import type { OptimizationReport } from "../../../../lib/core/optimization_report.ts";
import { DEPTHS, roundsOf } from "../../../../lib/optimizer/evaluation/selection.ts";
import { dollars, isActive, jobProgress, type ShownJob } from "../../../../lib/console/ui/jobs.ts";
import { jobOutcome } from "../../../../lib/core/job_outcome.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import {
  gainOf,
  gainPoints,
  rateOf,
  settingTexts,
} from "../../../../lib/optimizer/evaluation/metrics.ts";
import { type DrawnScore, drawnScore, SCORE_LABELS } from "./comparison.ts";
import { formatCount, formatNumber } from "../../../../lib/console/ui/format.ts";
import { compareText, paged, readSorting, type Sorting } from "../../../../lib/console/lists.ts";
import { matchesWords, searchWords } from "../../../../lib/console/tool_rows.ts";
import { within } from "../../../../lib/core/async.ts";
import type { CallUse } from "../../../../lib/telemetry/call_stats.ts";
import type { ToolStandings } from "../../../../lib/operations/optimization/tool_details.ts";

type ReportedTool = Omit<OptimizationReport["tools"][number], "costUsd" | "costKnown">;

export interface ToolLine extends Pick<ReportedTool, "name" | "status"> {
  isStale: boolean;
  isEnabled: boolean;
  /** With the description that is in force; none where nothing was measured. */
  scores: (Pick<DrawnScore, "percent" | "text"> & { label: string })[];
  evidence: string | undefined;
}

type Standing = Awaited<ReturnType<ToolStandings["list"]>>[number];
export type OptimizationPage = Awaited<ReturnType<typeof optimizationPage>>;
export type OptimizationRow = ReturnType<typeof rowOf>;

export const COLUMNS = [
  "first",
  "tool",
  "server",
  "accuracy",
  "evaluated",
  "calls",
  "errors",
] as const;
export type OptimizationColumn = typeof COLUMNS[number];

const ROWS_A_PAGE = 25;
const JOBS_READ = 30;
const ENDED_SHOWN = 5;
/** A page that waits longer is worse than one that shows the rest a moment later. */
const PATIENCE_MS = 150;
/** An evaluator that works says so within a second or two, and then for half a minute at once. */
const EVALUATOR_MS = 3_000;

export async function optimizationPage(
  gateway: Pick<Gateway, "optimization" | "evaluator" | "options" | "callStats">,
  { searchParams: query }: URL,
) {
  const admin = await gateway.optimization();
  const { stats, loaded } = gateway.callStats();
  const [standings, jobs, problem, areCallsCounted = false] = await Promise.all([
    admin.standings.list(),
    admin.jobs.list(JOBS_READ),
    admin.enabled ? evaluatorProblem(gateway) : undefined,
    within(loaded.then(() => true), PATIENCE_MS),
  ]);
  const shown = jobs.map(shownJob);
  const rows = standings.map((tool) => rowOf(tool, stats.use(tool.server, tool.name)));
  const text = query.get("q")?.trim() ?? "";
  const server = query.get("server") ?? "";
  const state = query.get("state") ?? "";
  const sorting = readSorting(query, COLUMNS);
  const words = searchWords(text);
  const found = rows.filter((row) =>
    (server === "" || row.server === server) && (state === "" || row.state === state) &&
    matchesWords(words, row.server, row.name)
  );
  const count = (of: (row: OptimizationRow) => string) =>
    Array.from(Map.groupBy(rows, of), ([value, { length }]) => ({ value, count: length }));
  return {
    isOn: admin.enabled,
    /** Whether the start's own flag holds it on. */
    isFixed: gateway.options.options.enableOptimization,
    /** Why nothing can be evaluated now, if so. */
    problem,
    list: paged(inOrder(found, sorting), query.get("page"), ROWS_A_PAGE),
    sorting,
    filter: { q: text, server, state },
    servers: Array.from(Map.groupBy(rows, (row) => row.server), ([value, own]) => ({
      value,
      count: own.length,
      optimized: own.filter(({ status }) => status === "optimized").length,
    })).sort((a, b) => compareText(a.value, b.value)),
    states: count((row) => row.state),
    toolCount: rows.length,
    optimizedCount: standings.filter(({ status }) => status === "optimized").length,
    areCallsCounted,
    active: shown.filter(isActive),
    ended: shown.filter((job) => !isActive(job)).slice(0, ENDED_SHOWN),
  };
}

async function evaluatorProblem(gateway: Pick<Gateway, "evaluator">): Promise<string | undefined> {
  const { check } = await gateway.evaluator();
  const found = await within(check.run(), EVALUATOR_MS) ?? check.last;
  return found?.problem?.replace(/^Cannot evaluate: /, "").replace(/\.?$/, ".");
}

/** Fewer failed calls may be chance, or a server that was down for a moment. */
const LEAST_ERRORS = 3;
const LEAST_ERROR_SHARE = 0.1;
const GOOD_ENOUGH = JobOptions.parse({}).thresholds.minOverall;

/** Reasons to look at a tool, the one most worth doing first; the first that holds is shown. */
const REASONS: readonly ((tool: Standing, counted: CallUse) => string | false)[] = [
  ({ waiting }) =>
    waiting !== undefined &&
    `Better candidate: ${waiting.before ? `${fraction(waiting.before)} → ` : ""}${
      fraction(waiting.after)
    }`,
  ({ stale, staleReasons = [] }) => stale && `Stale: ${staleReasons.join("; ")}`,
  (_, { calls, errors }) =>
    errors >= LEAST_ERRORS && errors >= LEAST_ERROR_SHARE * calls &&
    `${errors} of ${formatCount(calls, "call")} failed`,
  (tool, { calls }) => calls > 0 && poorText(tool),
  (tool, { calls }) =>
    calls > 0 && tool.evaluatedAt === undefined && tool.status === "unoptimized" &&
    `Called ${calls === 1 ? "once" : `${formatNumber(calls)} times`}, never evaluated`,
  (tool) => poorText(tool),
  ({ voided, status }) =>
    voided !== undefined && status === "unoptimized" &&
    "The last evaluation was inconclusive",
  ({ evaluatedAt, status }) =>
    evaluatedAt !== undefined && status === "unoptimized" &&
    "Evaluated with an older description",
  ({ status }) => status === "unoptimized" && "Never evaluated",
];

function poorText({ status, before, after }: Standing): string | false {
  const score = (status === "optimized" ? after : before)?.overall;
  return score !== undefined && (rateOf(score) ?? 1) < GOOD_ENOUGH &&
    `Correct in only ${fraction(score)} runs`;
}

function fraction({ correct, total }: SuccessCount): string {
  return `${correct}/${total}`;
}

export function rowOf(tool: Standing, counted: CallUse = { calls: 0, errors: 0 }) {
  const { server, name, status, enabled, evaluatedAt } = tool;
  const rank = enabled ? REASONS.findIndex((reason) => reason(tool, counted) !== false) : -1;
  const scores = status === "optimized" ? tool.after : tool.before;
  return {
    server,
    name,
    status,
    ...counted,
    /** The lower, the more is it worth doing; tools that clients do not see come last. */
    rank: !enabled ? REASONS.length + 1 : rank === -1 ? REASONS.length : rank,
    isDone: rank === -1,
    reason: REASONS[rank]?.(tool, counted) ||
      (enabled ? "Nothing to do" : "Disabled: clients do not see it"),
    state: stateOf(tool),
    rate: scores && rateOf(scores.overall),
    score: scores && drawnScore(scores.overall),
    /** By category, and how much evidence there is. */
    details: [
      ...lineOfTool(tool).scores.map(({ label, text }) => `${label}: ${text}`),
      ...(lineOfTool(tool).evidence === undefined ? [] : [lineOfTool(tool).evidence]),
    ],
    /** "60 prompts", and what the promoted description gained. */
    evidence: evidenceOf(tool),
    evaluatedAt: evaluatedAt === undefined ? undefined : Date.parse(evaluatedAt),
  };
}

function evidenceOf(tool: Standing): string[] {
  const { status, prompts, gain, before, after } = tool;
  const found = status === "optimized"
    ? gain ?? gainOf(before?.overall, after?.overall)
    : undefined;
  return [
    ...(found === undefined ? [] : [gainPoints(found)]),
    ...(prompts === undefined ? [] : [formatCount(prompts, "prompt")]),
  ];
}

function stateOf({ enabled, waiting, stale, status, evaluatedAt }: Standing) {
  if (!enabled) return "disabled";
  if (waiting !== undefined) return "waiting";
  if (stale) return "stale";
  if (status === "optimized") return "promoted";
  return evaluatedAt === undefined && status === "unoptimized" ? "new" : "evaluated";
}

function inOrder(
  rows: readonly OptimizationRow[],
  { column, descending }: Sorting<OptimizationColumn>,
): OptimizationRow[] {
  const sign = descending ? -1 : 1;
  const compare: Record<
    OptimizationColumn,
    (a: OptimizationRow, b: OptimizationRow) => number
  > = {
    first: (a, b) => a.rank - b.rank,
    tool: (a, b) => compareText(a.name, b.name),
    server: (a, b) => compareText(a.server, b.server),
    // What was never measured is neither good nor bad.
    accuracy: (a, b) => (a.rate ?? 2) - (b.rate ?? 2),
    evaluated: (a, b) => (a.evaluatedAt ?? 0) - (b.evaluatedAt ?? 0),
    calls: (a, b) => a.calls - b.calls,
    errors: (a, b) => a.errors - b.errors,
  };
  return rows.toSorted((a, b) =>
    sign * compare[column](a, b) || b.calls - a.calls || compareText(a.server, b.server) ||
    compareText(a.name, b.name)
  );
}

export function lineOfTool(tool: ReportedTool): ToolLine {
  const { name, status, stale, enabled, depth, prompts } = tool;
  const metrics = status === "optimized" ? tool.after : tool.before;
  const evidence = depth === undefined || prompts === undefined
    ? []
    : [depth, formatCount(prompts, "prompt"), ...settingTexts(tool)];
  return {
    name,
    status,
    isStale: stale,
    isEnabled: enabled,
    scores: metrics === undefined
      ? []
      : CATEGORIES.map((kind) => ({ label: SCORE_LABELS[kind], ...drawnScore(metrics[kind]) })),
    evidence: evidence.join(", ") || undefined,
  };
}

const DEFAULTS = JobOptions.parse({});
const { quick, thorough } = DEPTHS;
export const PROMPTS_HINT =
  `Default: ${quick.promptsPerCategory} for quick, ${thorough.promptsPerCategory} for thorough`;

export const ROUNDS_HINT =
  `From the second on, candidates are written from what the best get wrong. Default: ${quick.rounds} ` +
  `for quick, ${thorough.rounds} for thorough`;

export type JobOption = ReturnType<typeof jobOptions>[number];

type OptionRow = [string, keyof JobOptions, value: string | number, ifNotSet?: string];

/** What a job works with: also what nobody has set has a value. */
export function jobOptions(options: JobOptions) {
  const { depth, generate, candidateIds, maxCostUsd } = options;
  const usual = DEPTHS[depth];
  const byDepth = `default for ${depth}`;
  const rows: OptionRow[] = [
    ["Depth", "depth", depth],
    candidateIds === undefined
      ? ["Candidates per tool", "candidatesPerTool", options.candidatesPerTool]
      : ["Candidates", "candidateIds", candidateIds.join(", ")],
    ...(roundsOf(options) === 0 ? [] : [
      ["Rounds of writing", "rounds", roundsOf(options), byDepth] satisfies OptionRow,
    ]),
    [
      "Prompts per category",
      "promptsPerCategory",
      options.promptsPerCategory ?? (generate ? usual.promptsPerCategory : "all saved prompts"),
      generate ? byDepth : "because nothing is generated",
    ],
    ["Runs per prompt", "repeats", options.repeats ?? usual.repeats, byDepth],
    ["Promotion thresholds", "thresholds", thresholdsText(options.thresholds)],
    [
      "Automatic promotion",
      "autoPromote",
      options.autoPromote ? "if the verdict allows it" : "off",
    ],
    [
      "Missing prompts and candidates",
      "generate",
      generate ? "generated by a model" : "not generated",
    ],
    [
      "Descriptions of parameters",
      "parameters",
      options.parameters ? "generated, too" : "not generated",
    ],
    [
      "Tools the model gets",
      options.withToolset ? "withToolset" : "surface",
      options.withToolset
        ? "the server's and the equipped toolset's"
        : SURFACES[options.surface] ?? options.surface,
    ],
    ["Client", "view", VIEWS[options.view]],
    ["Arguments and siblings", "strict", options.strict ? "counted" : "recorded, not counted"],
    ["Maximum runs", "maxRuns", options.maxRuns ?? "no limit"],
    ["Maximum cost", "maxCostUsd", maxCostUsd === undefined ? "no limit" : dollars(maxCostUsd)],
  ];
  return rows.map(([name, option, value, ifNotSet = "default"]) => {
    // A job keeps its defaults as if they had been set.
    const isSet = JSON.stringify(options[option]) !== JSON.stringify(DEFAULTS[option]);
    return { name, value: String(value), from: isSet ? "set for this job" : ifNotSet };
  });
}

export const VIEWS: Record<ClientView, string> = {
  inline: "shows the model all tools",
  deferred: "hides tools behind its own search, as Claude Code does",
};

export const SURFACES: Record<string, string> = {
  server: "the server's",
  equipped: "the equipped toolset's",
  discovery: "none: it searches for them, as at /mcp",
};

function thresholdsText(thresholds: Thresholds): string {
  const { minOverall, minNegative, minImprovement, maxRegression } = thresholds;
  const percent = (share: number) => Math.round(1_000 * share) / 10;
  return `${percent(minOverall)} % overall, ${percent(minNegative)} % of the negative prompts, ` +
    `${percent(minImprovement)} points better, no category more than ` +
    `${percent(maxRegression)} points worse`;
}

export type { ShownJob };

const ENDED = "This job has ended; its results are kept";
const LEADS: Record<OptimizationJob["status"], string> = {
  running: "This job continues if you close the page or restart the gateway",
  paused: "This job is paused until someone resumes it, even if the gateway restarts",
  completed: ENDED,
  cancelled: ENDED,
  failed: ENDED,
};

export function jobPage(job: OptimizationJob) {
  return { job: shownJob(job), lead: LEADS[job.status], options: jobOptions(job.options) };
}

export function shownJob(job: OptimizationJob): ShownJob {
  const { lines, note, ...progress } = jobProgress(job);
  const outcome = jobOutcome(job);
  const isUntested = ({ server, tool }: ShownJob["lines"][number]) =>
    job.tools.some((one) => one.untested && one.server === server && one.toolName === tool);
  return {
    ...progress,
    lines: lines.map((line) =>
      isUntested(line) ? { ...line, state: "queued", word: "Not tested" } : line
    ),
    // It counts the same tools as the outcome, without their reason.
    note: outcome === undefined ? note : undefined,
    outcome,
  };
}
