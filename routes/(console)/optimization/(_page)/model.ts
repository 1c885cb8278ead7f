import {
  type JobOptions,
  type OptimizationJob,
  type OptimizationReport,
  Thresholds,
} from "../../../../lib/core/optimization.ts";
import { DEPTHS } from "../../../../lib/optimizer/evaluation/selection.ts";
import { dollars, isActive, jobProgress, type ShownJob } from "../../../../lib/console/ui/jobs.ts";
import { jobOutcome } from "../../../../lib/core/job_outcome.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { besideText, percent, scoreText } from "../../../../lib/optimizer/evaluation/metrics.ts";
import { labelOf, signedPoints } from "./comparison.ts";
import { type Paged, paged } from "../../../../lib/console/lists.ts";

type ReportedTool = OptimizationReport["tools"][number];

/** How one tool stands, in a line. */
export interface ToolLine {
  name: string;
  status: ReportedTool["status"];
  isStale: boolean;
  isEnabled: boolean;
  /** With the description that is in force; none where nothing was measured. */
  scores: { label: string; percent: string; text: string }[];
  /** "quick, 15 prompts" */
  evidence?: string;
}

export interface ServerCard {
  name: string;
  toolCount: number;
  optimizedCount: number;
  /** One for each tool, the optimized ones first; none where they would be too many to count. */
  dots: ("optimized" | "stale" | "open")[];
  gain?: string;
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

/** What is first looked for comes first. */
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
    ...(avgImprovement === null ? {} : { gain: signedPoints(avgImprovement) }),
    tools: tools.slice(0, TOOLS_A_CARD).map(lineOfTool),
    more: Math.max(0, tools.length - TOOLS_A_CARD),
  };
}

export function lineOfTool(tool: ReportedTool): ToolLine {
  const { name, status, stale, enabled, depth, prompts, beside } = tool;
  const metrics = status === "optimized" ? tool.after : tool.before;
  return {
    name,
    status,
    isStale: stale,
    isEnabled: enabled,
    scores: metrics === undefined
      ? []
      : (["direct", "indirect", "negative"] as const).map((kind) => ({
        label: labelOf(kind),
        percent: percent(metrics[kind]),
        text: scoreText(metrics[kind]),
      })),
    ...(depth === undefined || prompts === undefined ? {} : {
      evidence: [
        depth,
        `${prompts} ${prompts === 1 ? "prompt" : "prompts"}`,
        ...(beside === undefined ? [] : [besideText(beside)]),
      ].join(", "),
    }),
  };
}

/** One option as it is in effect. */
export interface JobOption {
  name: string;
  value: string;
  /** Where it is from. */
  from: string;
}

/** What a job works with: also what nobody has set has a value. */
export function jobOptions(options: JobOptions): JobOption[] {
  const { depth, generate, autoPromote, withToolset, thresholds } = options;
  const usual = DEPTHS[depth];
  const byDepth = `as ${depth} has it`;
  return [
    { name: "Depth", value: depth, from: from(depth === "quick") },
    options.candidateIds === undefined
      ? {
        name: "Candidates per tool",
        value: String(options.candidatesPerTool),
        from: from(options.candidatesPerTool === 4),
      }
      : { name: "Candidates", value: options.candidateIds.join(", "), from: from(false) },
    {
      name: "Prompts per category",
      ...setOr(
        options.promptsPerCategory,
        generate
          ? { value: String(usual.promptsPerCategory), from: byDepth }
          : { value: "all that are saved", from: "as no text is written" },
      ),
    },
    {
      name: "Repeats of each prompt",
      ...setOr(options.repeats, { value: String(usual.repeats), from: byDepth }),
    },
    { name: "To be promoted", ...thresholdsOf(thresholds) },
    {
      name: "Promotes",
      value: autoPromote ? "what the verdict allows" : "nothing",
      from: from(autoPromote),
    },
    {
      name: "Missing texts",
      value: generate ? "written by a model" : "not written",
      from: from(generate),
    },
    {
      name: "Tools shown to the model",
      value: withToolset ? "the server's and the equipped toolset's" : "the server's",
      from: from(!withToolset),
    },
    { name: "Most runs", ...setOr(options.maxRuns, NO_LIMIT) },
    {
      name: "Most dollars",
      ...setOr(
        options.maxCostUsd === undefined ? undefined : dollars(options.maxCostUsd),
        NO_LIMIT,
      ),
    },
  ];
}

type Effective = Omit<JobOption, "name">;
const NO_LIMIT: Effective = { value: "no limit", from: from(true) };

function setOr(value: number | string | undefined, otherwise: Effective): Effective {
  return value === undefined ? otherwise : { value: String(value), from: from(false) };
}

/** A job keeps its defaults as if they had been set. */
function from(isDefault: boolean): string {
  return isDefault ? "the default" : "set for this job";
}

function thresholdsOf(thresholds: Thresholds): Effective {
  const { minOverall, minNegative, minImprovement, maxRegression } = thresholds;
  const percent = (share: number) => Math.round(1_000 * share) / 10;
  const usual = Thresholds.parse({});
  const isUsual = minOverall === usual.minOverall && minNegative === usual.minNegative &&
    minImprovement === usual.minImprovement && maxRegression === usual.maxRegression;
  return {
    value: `${percent(minOverall)} % overall, ${percent(minNegative)} % of the negative prompts, ` +
      `${percent(minImprovement)} points better, no category more than ` +
      `${percent(maxRegression)} points worse`,
    from: from(isUsual),
  };
}

export type { ShownJob };

interface JobPage {
  job: ShownJob;
  lead: string;
  options: JobOption[];
}

const ENDED = "It has ended; what came of each tool is kept";
const LEADS: Record<OptimizationJob["status"], string> = {
  running: "It goes on when this page is closed, and after a restart of the gateway",
  paused: "It waits until somebody resumes it, also after a restart of the gateway",
  completed: ENDED,
  cancelled: ENDED,
  failed: ENDED,
};

export function jobPage(job: OptimizationJob): JobPage {
  return { job: shownJob(job), lead: LEADS[job.status], options: jobOptions(job.options) };
}

export function shownJob(job: OptimizationJob): ShownJob {
  const { lines, note, ...progress } = jobProgress(job);
  const outcome = jobOutcome(job);
  const untested = new Set(
    job.tools.filter((tool) => tool.untested).map(({ server, toolName }) =>
      `${server}.${toolName}`
    ),
  );
  return {
    ...progress,
    lines: lines.map((line) => ({
      ...line,
      ...(untested.has(`${line.server}.${line.tool}`)
        ? { state: "queued", word: "Not tested" } as const
        : {}),
    })),
    // It counts the same tools as the outcome, without their reason.
    ...(note === undefined || outcome !== undefined ? {} : { note }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}
