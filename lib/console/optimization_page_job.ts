import { jobOutcome } from "../core/job_outcome.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { type JobOption, jobOptions } from "./optimization_page_job_options.ts";
import { jobProgress } from "./ui/job_progress.ts";
import type { ShownJob } from "./ui/shown_job.ts";

export type { ShownJob };

export interface JobPage {
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
