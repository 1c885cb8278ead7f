import {
  CATEGORIES,
  JobOptions,
  type OptimizationJob,
  type OptimizationReport,
  type Thresholds,
} from "../../../../lib/core/optimization.ts";
import { DEPTHS } from "../../../../lib/optimizer/evaluation/selection.ts";
import { dollars, isActive, jobProgress, type ShownJob } from "../../../../lib/console/ui/jobs.ts";
import { jobOutcome } from "../../../../lib/core/job_outcome.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { besideText, signedPoints } from "../../../../lib/optimizer/evaluation/metrics.ts";
import { type DrawnScore, drawnScore, SCORE_LABELS } from "./comparison.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";
import { type Paged, paged } from "../../../../lib/console/lists.ts";

type ReportedTool = OptimizationReport["tools"][number];

export interface ToolLine extends Pick<ReportedTool, "name" | "status"> {
  isStale: boolean;
  isEnabled: boolean;
  /** With the description that is in force; none where nothing was measured. */
  scores: (Pick<DrawnScore, "percent" | "text"> & { label: string })[];
  evidence: string | undefined;
}

export interface ServerCard extends Pick<OptimizationReport, "toolCount" | "optimizedCount"> {
  name: string;
  /** One for each tool, the optimized ones first; none where they would be too many to count. */
  dots: ("optimized" | "stale" | "open")[];
  gain: string | undefined;
  tools: ToolLine[];
  more: number;
}

export interface OptimizationPage {
  isOn: boolean;
  /** Whether the start's own flag holds it on. */
  isFixed: boolean;
  servers: Paged<ServerCard>;
  serverCount: number;
  toolCount: number;
  optimizedCount: number;
  query: string;
  active: ShownJob[];
  ended: ShownJob[];
}

type PageGateway = Pick<Gateway, "optimization" | "options" | "servers" | "promotions">;

const SERVERS_A_PAGE = 12;
const TOOLS_A_CARD = 8;
const MOST_DOTS = 40;
const JOBS_READ = 30;
const ENDED_SHOWN = 5;

const ORDER: Record<ReportedTool["status"], number> = { optimized: 0, baseline: 1, unoptimized: 2 };

/** Reads what is shown and no more: there may be hundreds of servers. */
export async function optimizationPage(
  { optimization, options, servers, promotions }: PageGateway,
  url: URL,
): Promise<OptimizationPage> {
  const admin = await optimization();
  const all = servers.list().filter(({ toolCount }) => toolCount > 0);
  const names = new Set(all.map(({ name }) => name));
  const query = url.searchParams.get("q")?.trim() ?? "";
  const wanted = query.toLowerCase();
  const found = [...names].filter((name) => name.toLowerCase().includes(wanted)).sort();
  const { rows, ...place } = paged(found, url.searchParams.get("page"), SERVERS_A_PAGE);
  const [reports, jobs] = await Promise.all([
    Promise.all(rows.map((name) => admin.report(name))),
    admin.jobs.list(JOBS_READ),
  ]);
  const shown = jobs.map(shownJob);
  return {
    isOn: admin.enabled,
    isFixed: options.options.enableOptimization,
    servers: { rows: reports.flat().map(serverCard), ...place },
    serverCount: all.length,
    toolCount: all.reduce((sum, { toolCount }) => sum + toolCount, 0),
    optimizedCount: promotions.list().filter(({ server }) => names.has(server)).length,
    query,
    active: shown.filter(isActive),
    ended: shown.filter((job) => !isActive(job)).slice(0, ENDED_SHOWN),
  };
}

export function serverCard(report: OptimizationReport): ServerCard {
  const { serverName, toolCount, optimizedCount, avgImprovement } = report;
  const tools = report.tools.toSorted((one, other) => ORDER[one.status] - ORDER[other.status]);
  return {
    name: serverName,
    toolCount,
    optimizedCount,
    dots: tools.length > MOST_DOTS
      ? []
      : tools.map(({ status, stale }) =>
        status !== "optimized" ? "open" : stale ? "stale" : "optimized"
      ),
    gain: avgImprovement === null ? undefined : signedPoints(avgImprovement),
    tools: tools.slice(0, TOOLS_A_CARD).map(lineOfTool),
    more: Math.max(0, tools.length - TOOLS_A_CARD),
  };
}

export function lineOfTool(tool: ReportedTool): ToolLine {
  const { name, status, stale, enabled, depth, prompts, beside } = tool;
  const metrics = status === "optimized" ? tool.after : tool.before;
  const evidence = depth === undefined || prompts === undefined
    ? []
    : [depth, formatCount(prompts, "prompt"), beside === undefined ? [] : besideText(beside)];
  return {
    name,
    status,
    isStale: stale,
    isEnabled: enabled,
    scores: metrics === undefined
      ? []
      : CATEGORIES.map((kind) => ({ label: SCORE_LABELS[kind], ...drawnScore(metrics[kind]) })),
    evidence: evidence.flat().join(", ") || undefined,
  };
}

const DEFAULTS = JobOptions.parse({});
const { quick, thorough } = DEPTHS;
export const PROMPTS_HINT =
  `Empty: ${quick.promptsPerCategory}, or ${thorough.promptsPerCategory} where thorough`;

export type JobOption = ReturnType<typeof jobOptions>[number];

/** What a job works with: also what nobody has set has a value. */
export function jobOptions(options: JobOptions) {
  const { depth, generate, candidateIds, maxCostUsd } = options;
  const usual = DEPTHS[depth];
  const byDepth = `as ${depth} has it`;
  const rows: [string, keyof JobOptions, value: string | number, ifNotSet?: string][] = [
    ["Depth", "depth", depth],
    candidateIds === undefined
      ? ["Candidates per tool", "candidatesPerTool", options.candidatesPerTool]
      : ["Candidates", "candidateIds", candidateIds.join(", ")],
    [
      "Prompts per category",
      "promptsPerCategory",
      options.promptsPerCategory ?? (generate ? usual.promptsPerCategory : "all that are saved"),
      generate ? byDepth : "as no text is written",
    ],
    ["Repeats of each prompt", "repeats", options.repeats ?? usual.repeats, byDepth],
    ["To be promoted", "thresholds", thresholdsText(options.thresholds)],
    ["Promotes", "autoPromote", options.autoPromote ? "what the verdict allows" : "nothing"],
    ["Missing texts", "generate", generate ? "written by a model" : "not written"],
    [
      "Tools shown to the model",
      "withToolset",
      options.withToolset ? "the server's and the equipped toolset's" : "the server's",
    ],
    ["Most runs", "maxRuns", options.maxRuns ?? "no limit"],
    ["Most dollars", "maxCostUsd", maxCostUsd === undefined ? "no limit" : dollars(maxCostUsd)],
  ];
  return rows.map(([name, option, value, ifNotSet = "the default"]) => {
    // A job keeps its defaults as if they had been set.
    const isSet = JSON.stringify(options[option]) !== JSON.stringify(DEFAULTS[option]);
    return { name, value: String(value), from: isSet ? "set for this job" : ifNotSet };
  });
}

function thresholdsText(thresholds: Thresholds): string {
  const { minOverall, minNegative, minImprovement, maxRegression } = thresholds;
  const percent = (share: number) => Math.round(1_000 * share) / 10;
  return `${percent(minOverall)} % overall, ${percent(minNegative)} % of the negative prompts, ` +
    `${percent(minImprovement)} points better, no category more than ` +
    `${percent(maxRegression)} points worse`;
}

export type { ShownJob };

const ENDED = "It has ended; what came of each tool is kept";
const LEADS: Record<OptimizationJob["status"], string> = {
  running: "It goes on when this page is closed, and after a restart of the gateway",
  paused: "It waits until somebody resumes it, also after a restart of the gateway",
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
