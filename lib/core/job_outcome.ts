import * as z from "zod";
import type { OptimizationJob } from "./optimization.ts";

/** What a job would take. */
export const JobEstimate = z.object({
  tools: z.int(),
  /** At most: an evaluation stops early if it can. */
  runs: z.int(),
  seconds: z.number(),
  /** Null if nothing is known about prices. */
  costUsd: z.number().nullable(),
  /** In words: measured on so many runs, or a guess. */
  basis: z.string(),
});
export type JobEstimate = z.infer<typeof JobEstimate>;

/** The outcome of a completed job that did not test every tool. */
export interface JobOutcome {
  words: string;
  /** The reason given for the first failed or untested tool. */
  reason: string;
  /** Number of tools that were tested. */
  tested: number;
}

/** Undefined if the job is not completed, or every tool was tested. */
export function jobOutcome(
  { status, tools, runs, errors }: Pick<OptimizationJob, "status" | "tools" | "runs" | "errors">,
): JobOutcome | undefined {
  const failed = tools.filter((tool) => tool.failed);
  const untested = tools.filter((tool) => tool.untested);
  const [first, ...others] = [...failed, ...untested];
  if (status !== "completed" || first === undefined) return undefined;
  const tested = tools.length - failed.length - untested.length;
  const of = `of ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`;
  // What the descriptions in force get wrong is found out before candidates are written.
  const isNothing = runs <= errors || tools.every(({ candidates }) => candidates === 0);
  return {
    words: tested === 0 && isNothing ? "nothing could be tested" : [
      ...(failed.length === 0 ? [] : [`${failed.length} ${of} failed`]),
      ...(untested.length === 0 ? [] : [`${untested.length} ${of} not tested`]),
    ].join(", "),
    reason: (first.outcome ?? "No reason was recorded") +
      (others.length === 0 ? "" : ` (and ${others.length} more)`),
    tested,
  };
}
