import { jobOutcome } from "../core/job_outcome.ts";
import type { JobTool, OptimizationJob } from "../core/optimization.ts";
import type { OutputOf } from "../operations/operation.ts";
import { hasPromoted, JOB_OPERATIONS, nextOfJob } from "../operations/jobs.ts";
import { estimateText, jobLine } from "../operations/optimization/outcomes.ts";
import { RESTART_NOTE } from "../optimizer/report.ts";
import { costText, knownCost } from "../optimizer/cost.ts";
import { type CommandExtras, stepLines } from "./operation_command.ts";
import { listing, minuteOf, type Paint, terminalLine } from "./terminal.ts";

interface OneJob {
  job: OptimizationJob;
}

export const JOB_EXTRAS: Record<string, CommandExtras> = {
  "job.start": {
    details: [
      "TOOL is any of a tool's names (git.status, git_status), or a server's name for all of its tools.",
      "Shows an estimate and asks for confirmation; without a terminal, --yes is required. The job runs",
      "in the gateway: Ctrl-C asks whether to cancel it or leave it running; without a terminal, it",
      "pauses the job. Exits with code 1 if a tool fails.",
    ],
    show: ({ job, estimate }: OutputOf<typeof JOB_OPERATIONS.start>) =>
      job ? jobText(job) : `${terminalLine(estimateText(estimate))}\n`,
  },
  "job.list": {
    details: ["With a job, shows its tools; with --follow, until the job ends."],
    show: ({ jobs }: { jobs: OptimizationJob[] }, { paint }) => jobsText(jobs, paint),
  },
  "job.show": {
    show({ job }: OneJob, { paint, isFollowed }) {
      // Those that are followed have been shown as they ended.
      const tools = isFollowed ? [] : job.tools.map((tool) => toolLine(tool, paint));
      return tools.join("") + jobText(job);
    },
  },
};

export function jobsText(jobs: readonly OptimizationJob[], paint: Paint): string {
  const isDone = ({ phase }: JobTool) => phase === "complete";
  const rows = jobs.map((job) => ({ ...job, outcome: jobOutcome(job) }));
  return listing(rows, {
    paint,
    empty: "There are no jobs. Start one with `quartermaster optimize run`.\n",
  }, {
    JOB: ({ id }) => id,
    STATUS: ({ status, outcome }) =>
      outcome ? { color: "yellow", text: outcome.words } : { color: COLORS[status], text: status },
    STARTED: ({ createdAt }) => minuteOf(createdAt),
    DEPTH: ({ options }) => options.depth,
    TOOLS: ({ tools, outcome }) =>
      `${outcome?.tested ?? tools.filter(isDone).length}/${tools.length}`,
    PROMOTED: ({ tools }) => tools.filter((tool) => tool.promotedCandidateId !== undefined).length,
    RUNS: ({ runs }) => runs,
    COST: ({ cost }) => cost.costUsd === undefined ? "" : costText(knownCost([cost])),
    WHY: ({ note, outcome }) => outcome?.reason ?? note,
  });
}

const COLORS = {
  running: "green",
  paused: "yellow",
  completed: "gray",
  cancelled: "gray",
  failed: "red",
} as const;

export function toolLine(tool: JobTool, paint: Paint): string {
  const mark = tool.failed
    ? paint("red", "✗")
    : tool.untested
    ? paint("yellow", "!")
    : tool.promotedCandidateId === undefined
    ? "○"
    : paint("green", "✓");
  const name = terminalLine(`${tool.server}.${tool.toolName}`);
  return `${mark} ${name}  ${terminalLine(tool.outcome ?? tool.phase)}\n`;
}

/** How a job stands, and what can be done about it. */
export function jobText(job: OptimizationJob): string {
  return [
    terminalLine(jobLine(job)),
    ...(hasPromoted(job) ? [RESTART_NOTE] : []),
    ...stepLines(nextOfJob(job)),
  ].map((line) => `${line}\n`).join("");
}

export function hasSucceeded({ status, tools }: OptimizationJob): boolean {
  return status === "completed" && !tools.some(({ failed }) => failed) &&
    !tools.every(({ untested }) => untested);
}
