import type { OptimizationJob } from "../../core/optimization.ts";
import { type JobLine, type JobProgress, jobProgress } from "./job_progress.ts";

/** What the live channel tells of a job: how far it is, without the list of its tools. */
export type JobNews = Omit<JobProgress, "lines" | "earlier" | "later"> & {
  /** How the tool stands that is worked on. */
  line?: JobLine;
};

export function jobNews(job: OptimizationJob): JobNews {
  const { lines, earlier: _earlier, later: _later, ...progress } = jobProgress(job);
  const line = lines.find(({ state }) => state === "working");
  return line === undefined ? progress : { ...progress, line };
}

/** A job as it is shown, with what was told of it since. */
export function withNews(shown: JobProgress, { line, ...progress }: JobNews): JobProgress {
  const { lines, earlier, later } = shown;
  const isSame = (other: JobLine) => other.server === line?.server && other.tool === line.tool;
  return {
    ...progress,
    lines: line === undefined ? lines : lines.map((other) => isSame(other) ? line : other),
    earlier,
    later,
  };
}
