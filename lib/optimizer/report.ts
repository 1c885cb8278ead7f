import {
  CANONICAL,
  CATEGORIES,
  type CategoryScores,
  type Evaluation,
  type ModelResult,
  type PromotedTool,
  type RunCost,
  type SuccessCount,
} from "../core/optimization.ts";
import type { ModelFamily } from "../core/model_family.ts";
import type { OptimizationReport } from "../core/optimization_report.ts";
import {
  averageGain,
  gainOf,
  gainPoints,
  gainTextOf,
  modelText,
  promptsIn,
  type RateGain,
  rateOf,
  SCORES,
  scoreText,
  settingTexts,
  shortScore,
} from "./evaluation/metrics.ts";
import { defined } from "../core/defined.ts";
import { counted, csvField } from "../core/text.ts";
import { costText, knownCost } from "./cost.ts";

export const RESTART_NOTE =
  "A client process that is already running may keep the old description until it restarts " +
  "(Claude Code does).";

/** What is known of a tool without its runs. */
export interface ToolRecordFacts {
  tool: string;
  enabled: boolean;
  promotion?: PromotedTool;
  /** The server's own description is another one than when it was promoted. */
  stale: boolean;
  staleReasons?: string[];
  /** For which something of their own is promoted. */
  families?: ModelFamily[];
  /** Live A/B: percent of sessions that get the promoted description. */
  share?: number;
  /** The server's own description; where it is not known, any evaluation counts. */
  canonical?: string;
  /** Newest first. */
  evaluations: readonly Evaluation[];
  candidates: number;
  goldenPrompts: number;
}

export interface ToolReportInput extends ToolRecordFacts {
  /** What callers reported of today's description, if they did. */
  reported?: CategoryScores;
  /** A candidate that waits for a person's decision. */
  waitingCandidate?: string;
  runs: number;
  costs: readonly RunCost[];
}

type ReportedTool = OptimizationReport["tools"][number];

export function reportOf(
  serverName: string,
  tools: readonly ToolReportInput[],
): OptimizationReport {
  const reported = tools.map((tool) => ({ ...reportedStanding(tool), ...knownCost(tool.costs) }));
  return {
    serverName,
    toolCount: tools.length,
    optimizedCount: reported.filter(({ status }) => status === "optimized").length,
    totalEvals: sumOf(tools.map(({ runs }) => runs)),
    ...improvementOf(reported),
    ...knownCost(reported),
    tools: reported,
  };
}

type ReportTotal = Omit<OptimizationReport, "serverName" | "tools">;

function totalOf(reports: readonly OptimizationReport[]): ReportTotal {
  return {
    toolCount: sumOf(reports.map(({ toolCount }) => toolCount)),
    optimizedCount: sumOf(reports.map(({ optimizedCount }) => optimizedCount)),
    totalEvals: sumOf(reports.map(({ totalEvals }) => totalEvals)),
    ...improvementOf(reports.flatMap(({ tools }) => tools)),
    ...knownCost(reports),
  };
}

export function reportData(reports: readonly OptimizationReport[]) {
  return { reports, total: totalOf(reports), note: RESTART_NOTE };
}

export function reportMarkdown(reports: readonly OptimizationReport[]): string {
  const parts = [
    "# Tool descriptions",
    reports.length === 0 ? "No server has tools." : summaryLine(totalOf(reports)),
    ...reports.flatMap((report) => [
      `## ${cellText(report.serverName)}`,
      summaryLine(report),
      report.tools.length === 0 ? "This server has no tools." : toolTable(report.tools),
      ...modelLines(report.tools),
    ]),
    "Scores are correct runs out of all counted runs: server's own description → promoted " +
    "description. Status: optimized (promoted), baseline (evaluated, the server's own " +
    "description kept), unoptimized. Cost covers evaluation runs that report one; the cost of " +
    "generating candidates and prompts is shown with each job.",
    RESTART_NOTE,
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Counts have columns of their own: a spreadsheet would read "3/5" as a date. */
const COLUMNS: [
  name: string,
  value: (tool: ReportedTool, server: string) => string | number | null | undefined,
][] = [
  ["server", (_, server) => server],
  ["tool", ({ name }) => name],
  ["status", ({ status }) => status],
  ["enabled", ({ enabled }) => enabled ? "yes" : "no"],
  ["stale", ({ stale }) => stale ? "yes" : "no"],
  ["depth", ({ depth }) => depth],
  ["prompts", ({ prompts }) => prompts],
  ["promoted_at", ({ promotedAt }) => promotedAt],
  ["families", ({ families = [] }) => families.join(" ")],
  ["ab_share", ({ share }) => share],
  ...(["before", "after"] as const).flatMap((time) =>
    SCORES.flatMap((score) =>
      (["correct", "total"] as const).map((count): typeof COLUMNS[number] => [
        `${time}_${score}_${count}`,
        (tool) => tool[time]?.[score][count],
      ])
    )
  ),
  ["before_overall_rate", ({ before }) => before && rateOf(before.overall)],
  ["after_overall_rate", ({ after }) => after && rateOf(after.overall)],
  ["candidates", ({ candidates }) => candidates],
  ["golden_prompts", ({ goldenPrompts }) => goldenPrompts],
  ["cost_usd", ({ costUsd }) => costUsd],
  ["cost_known", ({ costKnown }) => costKnown === false ? "no" : "yes"],
  ["tools_beside", ({ beside }) => beside ?? 0],
  ["setting", ({ setting }) => setting ?? ""],
  ["models", ({ models = [] }) => models.map(modelText).join("; ")],
];

/** As in RFC 4180. */
export function reportCsv(reports: readonly OptimizationReport[]): string {
  const rows = reports.flatMap(({ serverName, tools }) =>
    tools.map((tool) => COLUMNS.map(([, value]) => value(tool, serverName)))
  );
  return [COLUMNS.map(([name]) => name), ...rows]
    .map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

/** How a tool stands, but for what that cost. */
export function toolStanding(facts: ToolRecordFacts): Omit<ReportedTool, "costUsd" | "costKnown"> {
  const { tool: name, enabled, stale, candidates, goldenPrompts } = facts;
  const base = {
    name,
    enabled,
    stale,
    candidates,
    goldenPrompts,
    ...defined({
      staleReasons: facts.staleReasons,
      families: facts.families,
      share: facts.share,
    }),
  };
  const { promotion } = facts;
  if (promotion) {
    const evaluation = facts.evaluations.find(({ id }) => id === promotion.evaluationId);
    const { promotedAt, baseline, metrics } = promotion;
    return {
      ...base,
      status: "optimized",
      promotedAt,
      ...defined({
        before: baseline,
        after: metrics,
        gain: promotion.verdict?.gain,
        gainOver: promotion.verdict?.gainOver,
        depth: promotion.depth ?? evaluation?.depth,
        prompts: metrics ? promptsIn(metrics.overall) : promotion.prompts,
        beside: evaluation?.beside?.length,
        setting: evaluation?.setting,
        models: evaluation && modelsIn(evaluation, promotion.candidateId),
      }),
    };
  }
  const found = baselineOf(facts.evaluations, facts.canonical);
  if (!found) return { ...base, status: "unoptimized" };
  const { metrics: before, prompts, evaluation } = found;
  const beside = evaluation.beside?.length;
  const { depth, setting } = evaluation;
  const models = modelsIn(evaluation, CANONICAL);
  const how = defined({ beside, setting, models });
  return { ...base, status: "baseline", before, depth, prompts, ...how };
}

function modelsIn({ results }: Evaluation, id: string): ModelResult[] | undefined {
  return results.find(({ candidateId }) => candidateId === id)?.models;
}

/** What callers measured is a baseline too, where the gateway has measured none. */
export function reportedStanding(
  tool: ToolRecordFacts & Pick<ToolReportInput, "reported" | "waitingCandidate">,
): ReturnType<typeof toolStanding> {
  const standing = {
    ...toolStanding(tool),
    ...defined({ waitingCandidate: tool.waitingCandidate }),
  };
  const before = tool.reported;
  const prompts = before && promptsIn(before.overall);
  if (standing.status !== "unoptimized" || !before || !prompts) return standing;
  return { ...standing, status: "baseline", before, prompts, reported: true };
}

export interface Baseline {
  evaluation: Evaluation;
  metrics: CategoryScores;
  prompts: number;
}

/** Of today's description: the newest whole evaluation, thorough first, else the largest. */
export function baselineOf(
  evaluations: readonly Evaluation[],
  canonical: string | undefined,
): Baseline | undefined {
  const all = evaluations.flatMap((evaluation): Baseline[] => {
    const own = evaluation.results.find(({ candidateId }) => candidateId === CANONICAL);
    const isOlder = canonical !== undefined && own?.description !== canonical;
    if (evaluation.void !== undefined || !own || isOlder) return [];
    const { metrics } = own;
    const prompts = promptsIn(metrics.overall);
    return prompts === 0 ? [] : [{ evaluation, metrics, prompts }];
  });
  const byDepth = ["thorough", "quick"].flatMap((depth) =>
    all.filter(({ evaluation }) => evaluation.depth === depth)
  );
  return byDepth.find(isWhole) ?? byDepth.toSorted((one, other) => other.prompts - one.prompts)[0];
}

function isWhole({ evaluation, prompts }: Baseline): boolean {
  return prompts >= CATEGORIES.reduce((sum, category) => sum + evaluation.prompts[category], 0);
}

function improvementOf(
  tools: readonly ReportedTool[],
): Pick<OptimizationReport, "avgImprovement" | "avgImprovementInterval"> {
  const gain = averageGain(tools.flatMap(({ status, before, after }): RateGain[] => {
    const gain = status === "optimized" ? gainOf(before?.overall, after?.overall) : undefined;
    return gain ? [gain] : [];
  }));
  return gain
    ? { avgImprovement: gain.mean, avgImprovementInterval: { low: gain.low, high: gain.high } }
    : { avgImprovement: null };
}

function summaryLine(report: ReportTotal): string {
  const { avgImprovement: mean, avgImprovementInterval: interval } = report;
  const gain = mean === null || !interval
    ? "no improvement data"
    : `average improvement ${gainPoints({ mean, ...interval })}`;
  const cost = report.costUsd === null ? "cost not known" : costText(report);
  return `${report.optimizedCount} of ${counted(report.toolCount, "tool")} optimized, ${gain}, ` +
    `${counted(report.totalEvals, "run")}, ${cost}`;
}

function toolTable(tools: readonly ReportedTool[]): string {
  const rows = tools.map((tool) => [
    codeSpan(tool.name),
    [
      tool.status,
      tool.waitingCandidate !== undefined && "a candidate waits for a decision",
      ...servedTexts(tool),
      tool.stale && "stale",
      !tool.enabled && "disabled",
    ].filter(Boolean).join(", "),
    ...SCORES.map((score) => {
      const text = score === "overall" ? scoreText : shortScore;
      return change(tool.before?.[score], tool.after?.[score], text);
    }),
    improvementCell(tool),
    evidenceCell(tool),
    costText(tool),
  ]);
  const header = ["Tool", "Status", "Direct", "Indirect", "Negative", "Overall", "Improvement"];
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const columns = [...header, "Evidence", "Cost"];
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

/** To whom a promoted description is served, if not to all. */
export function servedTexts(
  { families, share }: Pick<ReportedTool, "families" | "share">,
): string[] {
  return [
    ...(families ? [`own text for ${families.join(", ")}`] : []),
    ...(share === undefined ? [] : [`live A/B, ${share} % of sessions`]),
  ];
}

/** A list of the tools that several models were asked about. */
function modelLines(tools: readonly ReportedTool[]): string[] {
  const lines = tools.flatMap(({ name, models = [] }) =>
    models.map((one) => `- ${codeSpan(name)} with ${cellText(modelText(one))}`)
  );
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function change(
  before: SuccessCount | undefined,
  after: SuccessCount | undefined,
  text: (score: SuccessCount) => string,
): string {
  if (!before && !after) return "";
  const start = before ? text(before) : "not measured";
  return after ? `${start} → ${text(after)}` : start;
}

function improvementCell({ before, after, ...found }: ReportedTool): string {
  return after === undefined ? "" : gainTextOf(found, before?.overall, after.overall) ?? "";
}

function evidenceCell({ depth, prompts, before, after, ...shown }: ReportedTool): string {
  if (!before && !after) return "none";
  const count = prompts === undefined ? "number of prompts not known" : counted(prompts, "prompt");
  const others = settingTexts(shown).map((text) => `, ${text}`).join("");
  return `${depth ?? (after ? "depth not known" : "reported")}, ${count}${others}`;
}

function cellText(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\|<]/g, "\\$&");
}

/** In a code span, where only backticks and a table's bars mean anything. */
function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, " ").replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
