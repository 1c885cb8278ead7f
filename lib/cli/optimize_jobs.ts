import { configError } from "../config/problem.ts";
import { jobOutcome } from "../core/job_outcome.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { JSON_FLAG } from "./command.ts";
import type { JobAction } from "./optimization_client.ts";
import { openOptimization, optimizeCommand } from "./optimize_command.ts";
import { jobHint, jobText, type Paint, spentText, toolLine } from "./optimize_text.ts";
import { watchJob } from "./optimize_watch.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";
import { oneLine } from "./toolset_text.ts";

const MOST = 50;

export const optimizeJobs = optimizeCommand({
  usage: "optimize jobs [JOB] [--follow]",
  meaning: "The jobs there are, the newest first; or one of them, tool by tool",
  details: ["With --follow it is shown until it has ended; Ctrl-C then pauses it."],
  flags: [
    { flag: "follow", meaning: "With a job: go on until it has ended" },
    JSON_FLAG,
  ],
  async run(input) {
    const [id, ...others] = input.positionals;
    const isFollowing = input.flags.get("follow") === true;
    if (others.length > 0 || (isFollowing && id === undefined)) {
      throw configError(
        "optimize jobs takes one job, or none without --follow",
        "Write it as: deno task cli optimize jobs [JOB] [--follow]",
      );
    }
    const asJson = input.flags.get("json") === true;
    const { optimization } = await openOptimization(input);
    const paint = painter(input.env);
    if (id === undefined) {
      const jobs = await optimization.jobs(MOST);
      return asJson ? printJson({ jobs }) : print(cutToWidth(jobsText(jobs, paint)));
    }
    if (isFollowing) return await watchJob(() => optimization.job(id), { input, optimization });
    const job = await optimization.job(id);
    if (asJson) return printJson({ job });
    print(job.tools.map((tool) => toolLine(tool, paint)).join("") + jobText(job) + jobHint(job));
  },
});

export const optimizePause = jobCommand("pause", "Let a job wait; what has been found is kept");
export const optimizeResume = jobCommand("resume", "Let a job that waits go on where it was");
export const optimizeCancel = jobCommand("cancel", "End a job for good; what it has found is kept");

function jobCommand(action: JobAction, meaning: string) {
  return optimizeCommand({
    usage: `optimize ${action} JOB`,
    meaning,
    details: ["A gateway has to run."],
    flags: [JSON_FLAG],
    async run(input) {
      const [id, ...others] = input.positionals;
      if (id === undefined || others.length > 0) {
        throw configError(
          `optimize ${action} takes one job`,
          `Write it as: deno task cli optimize ${action} JOB; \`optimize jobs\` lists them`,
        );
      }
      const { optimization } = await openOptimization(input);
      const job = await optimization.change(id, action);
      if (input.flags.get("json") === true) return printJson({ job });
      print(jobText(job) + jobHint(job));
    },
  });
}

/** All jobs in a table. */
export function jobsText(jobs: readonly OptimizationJob[], paint: Paint): string {
  if (jobs.length === 0) {
    return "There are no jobs. Start one with `deno task cli optimize run`.\n";
  }
  const heading = ["JOB", "STATUS", "STARTED", "DEPTH", "TOOLS", "PROMOTED", "RUNS", "COST", "WHY"];
  const rows = jobs.map((job) => {
    const { id, status, createdAt, options, tools, runs, cost, note } = job;
    const outcome = jobOutcome(job);
    const done = outcome?.tested ?? tools.filter(({ phase }) => phase === "complete").length;
    return [
      id,
      outcome === undefined ? paint(COLORS[status], status) : paint("yellow", outcome.words),
      createdAt.slice(0, 16).replace("T", " "),
      options.depth,
      `${done}/${tools.length}`,
      String(tools.filter((tool) => tool.promotedCandidateId !== undefined).length),
      String(runs),
      spentText(cost),
      oneLine(outcome?.reason ?? note ?? ""),
    ];
  });
  return table([heading.map((word) => paint("gray", word)), ...rows]);
}

const COLORS = {
  running: "green",
  paused: "yellow",
  completed: "gray",
  cancelled: "gray",
  failed: "red",
} as const;
