import type { JobOutcome } from "../../core/job_outcome.ts";
import type { JobProgress } from "./job_progress.ts";

/** A job's progress, and what it came to where that is less than was asked for. */
export interface ShownJob extends JobProgress {
  outcome?: JobOutcome;
}
