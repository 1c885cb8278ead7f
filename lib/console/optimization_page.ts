import type { Gateway } from "../compose.ts";
import type { OptimizationReport } from "../core/optimization.ts";
import { besideText } from "../optimizer/beside.ts";
import { percent, scoreText } from "../optimizer/metrics.ts";
import { type ShownJob, shownJob } from "./optimization_page_job.ts";
import { labelOf, signedPoints } from "./optimization_scores.ts";
import { type Paged, paged } from "./paging.ts";
import { isActive } from "./ui/job_progress.ts";

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
    tools: tools.slice(0, TOOLS_A_CARD).map(toolLine),
    more: Math.max(0, tools.length - TOOLS_A_CARD),
  };
}

export function toolLine(tool: ReportedTool): ToolLine {
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
