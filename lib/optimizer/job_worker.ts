import { GatewayError } from "../core/errors.ts";
import type { OptimizationJob } from "../core/optimization.ts";
import { Budget } from "./budget.ts";
import type { JobContext, JobsOptions } from "./job_context.ts";
import { countFinished, NothingCanWork } from "./job_evaluation.ts";
import type { JobRecord } from "./job_record.ts";
import { type ToolOutcome, workOnTool } from "./job_tool.ts";
import type { Slots } from "./slots.ts";
import { isStorageError } from "./storage_error.ts";

/** How a job ended. */
export interface JobEnd {
  status: "completed" | "failed";
  note?: string;
}

/** Does what is left of a job, tool by tool. Throws where the signal aborts, or the store fails. */
export async function workOnJob(
  options: JobsOptions,
  { record, slots, signal }: { record: JobRecord; slots: Slots; signal: AbortSignal },
): Promise<JobEnd> {
  const budget = new Budget(record.job.options);
  try {
    const evaluator = await options.evaluator();
    await evaluator.check();
    const context: JobContext = {
      options,
      record,
      budget,
      written: new Map(),
      evaluator: slots.evaluator(evaluator),
      textModel: async () => slots.textModel(await options.textModel()),
      signal,
    };
    await countFinished(context);
    for (const [index, tool] of record.job.tools.entries()) {
      if (tool.phase !== "complete") await finishTool(context, index);
      // Also after the last: a job that somebody stopped is not completed.
      signal.throwIfAborted();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NothingCanWork) {
      return { status: "failed", note: `No run can succeed: ${error.message}` };
    }
    if (error instanceof GatewayError && error.code === "CANNOT_EVALUATE") {
      const { message, recoverySteps } = error.toBody();
      return { status: "failed", note: [message, ...recoverySteps].join(". ") };
    }
    throw error;
  }
  return { status: "completed", ...noteOf(record.job, budget) };
}

async function finishTool(context: JobContext, index: number): Promise<void> {
  const { budget, record } = context;
  const isBegun = record.job.tools[index]?.phase !== "queued";
  const refusal = isBegun ? undefined : budget.refuse();
  const outcome = refusal === undefined
    ? await outcomeOf(context, index)
    : { failed: false, untested: true, outcome: `Not tested: ${refusal}` };
  const { runsDone = 0 } = record.job.tools[index] ?? {};
  // What was planned at most and turned out not to be needed is no longer to be done.
  await record.stepTool(index, { phase: "complete", runsTotal: runsDone, ...outcome });
}

/** What goes wrong with one tool is said, and ends the work on that tool alone. */
async function outcomeOf(context: JobContext, index: number): Promise<ToolOutcome> {
  try {
    return await workOnTool(context, index);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof NothingCanWork) {
      const outcome = `No run can succeed: ${error.message}`;
      await context.record.stepTool(index, { phase: "complete", failed: true, outcome });
      throw error;
    }
    if (isStorageError(error)) throw error;
    if (error instanceof GatewayError) {
      const { code, message, details: { recoveryAction } } = error;
      const isToldHow = code === "CANNOT_EVALUATE" && recoveryAction !== undefined;
      return { failed: true, outcome: isToldHow ? `${message}. ${recoveryAction}` : message };
    }
    context.options.onWarning("The work on a tool of an optimization job failed", { error });
    return { failed: true, outcome: "Something went wrong inside the gateway; its log says what" };
  }
}

function noteOf({ tools }: OptimizationJob, budget: Budget): { note?: string } {
  const failed = tools.filter((tool) => tool.failed).length;
  const untested = tools.filter((tool) => tool.untested).length;
  const note = [
    ...(budget.refused === undefined ? [] : [`Ended early: ${budget.refused}`]),
    ...(untested === 0 ? [] : [`${untested} of ${tools.length} tools were not tested`]),
    ...(failed === 0 ? [] : [`${failed} of ${tools.length} tools failed`]),
  ].join("; ");
  return note === "" ? {} : { note };
}
