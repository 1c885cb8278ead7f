import { jobOutcome } from "../core/job_outcome.ts";
import type { JobTool, OptimizationJob, RunCost } from "../core/optimization.ts";
import { RESTART_NOTE } from "../optimizer/report.ts";
import { costText, knownCost } from "../optimizer/cost.ts";
import type { CommandExtras } from "./operation_command.ts";
import { countOf, listing, minuteOf, type Paint, terminalLine } from "./terminal.ts";

interface OneJob {
  job: OptimizationJob;
}

export const JOB_EXTRAS: Record<string, CommandExtras> = {
  "job.start": {
    details: [
      "TOOL is a tool by any of its names (git.status, git_status), or a server's name for all of its",
      "tools. Shows an estimate and asks first, unless --yes is given, which is required without a",
      "terminal. The work is done in the gateway: Ctrl-C asks whether to cancel it or to leave it",
      "running, and pauses it where nobody can be asked. The exit code is 1 if a tool fails.",
    ],
    show: ({ job }: OneJob) => jobText(job) + jobHint(job),
  },
  "job.list": {
    details: ["With a job: that one, tool by tool; with --follow, until it has ended."],
    show: ({ jobs }: { jobs: OptimizationJob[] }, { paint }) => jobsText(jobs, paint),
  },
  "job.show": {
    show({ job }: OneJob, { paint, isFollowed }) {
      // Those that are followed have been shown as they ended.
      const tools = isFollowed ? [] : job.tools.map((tool) => toolLine(tool, paint));
      return tools.join("") + jobText(job) + jobHint(job);
    },
  },
  ...Object.fromEntries(
    ["pause", "resume", "cancel"].map((action) => [`job.${action}`, {
      show: ({ job }: OneJob) => jobText(job) + jobHint(job),
    }]),
  ),
};

export function jobsText(jobs: readonly OptimizationJob[], paint: Paint): string {
  if (jobs.length === 0) {
    return "There are no jobs. Start one with `quartermaster optimize run`.\n";
  }
  const titles = ["JOB", "STATUS", "STARTED", "DEPTH", "TOOLS", "PROMOTED", "RUNS", "COST", "WHY"];
  const rows = jobs.map((job) => {
    const { id, status, createdAt, options, tools, runs, cost, note } = job;
    const outcome = jobOutcome(job);
    const done = outcome?.tested ?? tools.filter(({ phase }) => phase === "complete").length;
    return [
      id,
      outcome === undefined ? paint(COLORS[status], status) : paint("yellow", outcome.words),
      minuteOf(createdAt),
      options.depth,
      `${done}/${tools.length}`,
      String(tools.filter((tool) => tool.promotedCandidateId !== undefined).length),
      String(runs),
      spentText(cost),
      terminalLine(outcome?.reason ?? note ?? ""),
    ];
  });
  return listing(titles, rows, paint);
}

const COLORS = {
  running: "green",
  paused: "yellow",
  completed: "gray",
  cancelled: "gray",
  failed: "red",
} as const;

/** What runs cost: "at least $0.25" where a part of it is not known, and nothing where all is not. */
export function spentText({ costUsd, costKnown }: RunCost): string {
  return costUsd === undefined ? "" : costText(knownCost([{ costUsd, costKnown }]));
}

export function toolLine(tool: JobTool, paint: Paint): string {
  const mark = tool.failed
    ? paint("red", "✗")
    : tool.untested
    ? paint("yellow", "!")
    : tool.promotedCandidateId === undefined
    ? "○"
    : paint("green", "✓");
  return `${mark} ${terminalLine(`${tool.server}.${tool.toolName}`)}  ${stepText(tool)}\n`;
}

export function jobText(job: OptimizationJob): string {
  const { id, status, tools, runs, errors, cost, note } = job;
  const outcome = jobOutcome(job);
  const done = outcome?.tested ?? tools.filter(({ phase }) => phase === "complete").length;
  const promoted = tools.filter((tool) => tool.promotedCandidateId !== undefined).length;
  const how = outcome === undefined ? STATUS[status] : `has ended (${outcome.words})`;
  const facts = [
    `${done} of ${countOf(tools.length)} done`,
    `${promoted} promoted`,
    errors === 0
      ? countOf(runs, "run")
      : `${countOf(runs, "run")} (${errors} went wrong and do not count)`,
    ...(cost.costUsd === undefined ? [] : [spentText(cost)]),
  ];
  // Why nothing came of a tool stands in the tool's own line.
  const why = note === undefined || outcome ? "" : `${terminalLine(note)}\n`;
  return `Job ${id} ${how}: ${facts.join(", ")}\n${why}`;
}

const STATUS: Record<OptimizationJob["status"], string> = {
  running: "is running",
  paused: "is paused",
  completed: "has completed",
  cancelled: "was cancelled",
  failed: "has failed",
};

/** What can be done with a job as it is, or should be known of what it has done. */
export function jobHint({ id, status, tools }: OptimizationJob): string {
  if (status === "running") {
    return `Watch it with \`quartermaster optimize jobs ${id} --follow\`; ` +
      `\`optimize pause ${id}\` and \`optimize cancel ${id}\` stop it.\n`;
  }
  if (status !== "paused") {
    const hasPromoted = tools.some((tool) => tool.promotedCandidateId !== undefined);
    return hasPromoted ? `${RESTART_NOTE}\n` : "";
  }
  return `Resume it with \`quartermaster optimize resume ${id}\`, ` +
    `or cancel it with \`quartermaster optimize cancel ${id}\`.\n`;
}

const MOST_BAR = 30;
const LEAST_BAR = 6;

/** How far something is, in so many columns; empty where there are too few for it. */
export function progressBar(done: number, total: number, columns: number): string {
  const width = Math.min(MOST_BAR, columns - 2);
  if (width < LEAST_BAR || total <= 0) return "";
  const filled = Math.floor(width * Math.min(1, Math.max(0, done / total)));
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`;
}

/** The tool that is being worked on, else the next one, else the last. */
export function currentTool({ tools }: OptimizationJob): JobTool | undefined {
  return tools.find(({ phase }) => phase !== "complete" && phase !== "queued") ??
    tools.find(({ phase }) => phase !== "complete") ?? tools.at(-1);
}

function stepText(tool: JobTool): string {
  switch (tool.phase) {
    case "queued":
      return "Waiting";
    case "generating":
      return "Writing prompts and candidates";
    case "evaluating":
      return `${testingWords(tool)} (${percentDone(tool)}% complete)`;
    case "promoting":
      return "Deciding";
    case "complete":
      return terminalLine(tool.outcome ?? "Done");
  }
}

/** A job in one line that fits a terminal: the current tool, a bar where there is room, and words. */
export function progressLine(job: OptimizationJob, columns: number): string {
  const tool = currentTool(job);
  if (!tool) return "";
  const name = terminalLine(`${tool.server}.${tool.toolName}`);
  const words = [stepText(tool), ...toolCount(job)].join(", ");
  if (tool.phase !== "evaluating") return cut(`${name}  ${words}`, columns);
  const count = `${tool.runsDone}/${tool.runsTotal}`;
  // Room for the widest that it will come to, so that the bar stays as long as it is; and for two
  // blanks after the name and the count, one after the bar.
  const widest = 2 * String(tool.runsTotal).length + 1 + words.replace(/\d+%/, "100%").length;
  const room = columns - name.length - widest - 5;
  const bar = progressBar(tool.runsDone, tool.runsTotal, room);
  return cut(`${name}  ${bar === "" ? "" : `${bar} `}${count}  ${words}`, columns);
}

/** The same where lines are kept: without a bar, and the same text until something has happened. */
export function plainProgress(job: OptimizationJob): string {
  const tool = currentTool(job);
  if (!tool) return "";
  const name = terminalLine(`${tool.server}.${tool.toolName}`);
  const words = tool.phase === "evaluating"
    // A line for every tenth: a job has hundreds of runs.
    ? `${testingWords({ ...tool, currentCandidate: undefined })} (${
      Math.floor(percentDone(tool) / 10) * 10
    }% complete)`
    : stepText(tool);
  return [`${name}: ${words}`, ...toolCount(job)].join(", ");
}

function testingWords({ currentCandidate, candidates }: JobTool): string {
  if (currentCandidate === undefined || candidates === 0) return "Testing";
  return `Testing candidate ${currentCandidate}/${candidates}`;
}

function percentDone({ runsDone, runsTotal }: JobTool): number {
  return runsTotal === 0 ? 0 : Math.min(100, Math.floor(100 * runsDone / runsTotal));
}

function toolCount({ tools }: OptimizationJob): string[] {
  if (tools.length < 2) return [];
  const done = tools.filter(({ phase }) => phase === "complete").length;
  return [`${done} of ${tools.length} tools done`];
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(1, columns - 1))}…`;
}

export function hasSucceeded({ status, tools }: OptimizationJob): boolean {
  return status === "completed" && !tools.some(({ failed }) => failed) &&
    !tools.every(({ untested }) => untested);
}
