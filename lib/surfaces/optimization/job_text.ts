import type { OptimizationJob } from "../../core/optimization.ts";
import { progressMessage } from "../../optimizer/job_words.ts";
import type { JobEstimate } from "../../optimizer/jobs.ts";
import { costText, knownCost, spentBy } from "../../optimizer/run_cost.ts";
import { counted } from "./answers.ts";

/** A long list of tools says less than its end. */
const MOST_TOOLS = 50;

/** How far a job is, and a line for each of its tools. */
export function jobLines(job: OptimizationJob): string[] {
  const { id, status, tools, runs, errors, note } = job;
  const done = tools.filter(({ phase }) => phase === "complete").length;
  const failed = errors === 0 ? "" : ` (${errors} failed and not counted)`;
  const cost = knownCost(spentBy(job));
  const spent = cost.costUsd === null ? "cost not known" : costText(cost);
  return [
    `Job ${id} is ${status}: ${done} of ${counted(tools.length, "tool")} done, ${
      counted(runs, "run")
    }${failed}, ${spent}.${note === undefined ? "" : ` ${note}`}`,
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
