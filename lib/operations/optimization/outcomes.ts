import { counted } from "../../core/text.ts";
import { type JobEstimate, jobOutcome } from "../../core/job_outcome.ts";
import { CategoryScores, type OptimizationJob } from "../../core/optimization.ts";
import {
  argumentsText,
  missedText,
  modelText,
  percent,
  scoreText,
  settingTexts,
} from "../../optimizer/evaluation/metrics.ts";
import { NONE } from "../../optimizer/evaluation/confusion.ts";
import type { CandidateResults } from "./schemas.ts";
import { progressMessage } from "../../optimizer/jobs/progress.ts";
import { costText, knownCost, spentBy } from "../../optimizer/cost.ts";

export function metricsText(metrics: CategoryScores): string {
  const { direct, indirect, negative, overall } = metrics;
  return `direct ${percent(direct)}, indirect ${percent(indirect)}, negative ${
    percent(negative)
  }, overall ${scoreText(overall)}`;
}

/** What is known of one description, in a few lines. */
export function resultLines({ candidateId, counts, ...more }: CandidateResults): string[] {
  const { tool, evidence, confusion, ranks, missed } = more;
  const misfits = argumentsText(more.arguments);
  if (!evidence) return [`${candidateId}: no data`];
  const { source, depth, errors, problem, verdict } = evidence;
  const words = problem ?? verdict?.words;
  return [
    `${candidateId} (${depth}, ${source === "measured" ? "measured" : "reported by the caller"}${
      settingTexts(evidence).map((text) => `, ${text}`).join("")
    }${errors === 0 ? "" : `, ${counted(errors, "run")} failed and not counted`}): ${
      metricsText(counts)
    }`,
    ...(evidence.models ?? []).map((one) => `  ${modelText(one)}`),
    ...(words === undefined ? [] : [`  ${words}`]),
    ...(missed === undefined ? [] : [`  not called: ${missedText(missed)}`]),
    ...(misfits === "" ? [] : [`  calls: ${misfits}`]),
    ...mistakeLines(confusion, tool),
    ...rankLines(ranks),
  ];
}

/** What was called in the place of what should have been. */
function mistakeLines(confusion: CandidateResults["confusion"], tool: string): string[] {
  return Object.entries(confusion).flatMap(([should, row]) => {
    // Where none is named, any other tool is as right as none.
    const others = Object.entries(row)
      .filter(([called]) => should === NONE ? called === tool : called !== should)
      .map(([called, count]) => `${called} ${counted(count, "time")}`);
    return others.length === 0 ? [] : [`  instead of ${should}: ${others.join(", ")}`];
  });
}

function rankLines(ranks: CandidateResults["ranks"]): string[] {
  if (ranks.length === 0) return [];
  const firstOf = (isNegative: boolean) => {
    const asked = ranks.filter(({ category }) => (category === "negative") === isNegative);
    return `${asked.filter(({ rank }) => rank === 1).length} of ${asked.length}`;
  };
  return [
    `  the gateway's search ranks it first for ${
      firstOf(false)
    } prompts that should call it, and for ${firstOf(true)} that should not`,
  ];
}

/** A long list of tools says less than its end. */
const MOST_TOOLS = 50;

/** How far a job is, and what it came to. */
export function jobLine(job: OptimizationJob): string {
  const { id, status, tools, runs, errors, note } = job;
  const outcome = jobOutcome(job);
  const done = outcome?.tested ?? tools.filter(({ phase }) => phase === "complete").length;
  const promoted = tools.filter((tool) => tool.promotedCandidateId !== undefined).length;
  const failed = errors === 0 ? "" : ` (${errors} failed and not counted)`;
  const cost = knownCost(spentBy(job));
  const facts = [
    `${done} of ${counted(tools.length, "tool")} done`,
    `${promoted} promoted`,
    `${counted(runs, "run")}${failed}`,
    cost.costUsd === null ? "cost not known" : costText(cost),
  ];
  // If nothing came of a tool, its own line says why.
  const why = note === undefined || outcome ? "" : ` ${note}`;
  const words = outcome ? ` (${outcome.words})` : "";
  return `Job ${id} ${STATUS[status]}${words}: ${facts.join(", ")}.${why}`;
}

const STATUS: Record<OptimizationJob["status"], string> = {
  running: "is running",
  paused: "is paused",
  completed: "has completed",
  cancelled: "was cancelled",
  failed: "has failed",
};

/** The same, and a line for each of its tools. */
export function jobLines(job: OptimizationJob): string[] {
  const { status, tools } = job;
  return [
    jobLine(job),
    ...(status === "running" ? [progressMessage(job)] : []),
    ...tools.slice(0, MOST_TOOLS).map(({ server, toolName, outcome, phase }) =>
      `- ${server}.${toolName}: ${outcome ?? phase}`
    ),
    ...(tools.length > MOST_TOOLS ? [`- and ${tools.length - MOST_TOOLS} more`] : []),
  ];
}

export function hasEnded({ status }: OptimizationJob): boolean {
  return status === "completed" || status === "cancelled" || status === "failed";
}

/** What a job would take, in one line; how many runs is part of what it is based on. */
export function estimateText(
  { tools, seconds, costUsd, basis }: Omit<JobEstimate, "runs">,
): string {
  const time = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
  const cost = costUsd === null ? "cost not known" : `about $${costUsd.toFixed(2)}`;
  return `${counted(tools, "tool")}, about ${time}, ${cost}: ${basis}`;
}

export function correctWord(correct: boolean): string {
  return correct ? "correct" : "incorrect";
}
