import type { OptimizationJob } from "./optimization.ts";

/** What a job that was completed came to, where that is less than was asked for. */
export interface JobOutcome {
  words: string;
  /** Why, by the first tool that nothing came of. */
  reason: string;
  /** Of how many tools something came. */
  tested: number;
}

/** Undefined where the job is not completed, or something came of every tool. */
export function jobOutcome(
  { status, tools, runs, errors }: Pick<OptimizationJob, "status" | "tools" | "runs" | "errors">,
): JobOutcome | undefined {
  const failed = tools.filter((tool) => tool.failed);
  const untested = tools.filter((tool) => tool.untested);
  const [first, ...others] = [...failed, ...untested];
  if (status !== "completed" || first === undefined) return undefined;
  const tested = tools.length - failed.length - untested.length;
  const of = `of ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`;
  return {
    words: tested === 0 && runs <= errors ? "nothing could be tested" : [
      ...(failed.length === 0 ? [] : [`${failed.length} ${of} failed`]),
      ...(untested.length === 0 ? [] : [`${untested.length} ${of} not tested`]),
    ].join(", "),
    reason: (first.outcome ?? "The reason was not noted") +
      (others.length === 0 ? "" : ` (and ${others.length} more)`),
    tested,
  };
}
