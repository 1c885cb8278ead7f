import { GatewayError } from "../core/errors.ts";
import type { JobTool } from "../core/optimization.ts";
import { hasConfirmation } from "./confirmation.ts";
import type { JobContext } from "./job_context.ts";
import { evaluateForJob, toolAt } from "./job_evaluation.ts";
import { planOf, type Preparation, prepareTool, restorePlan } from "./job_preparation.ts";
import { promoteBest } from "./job_promotion.ts";
import type { Subject } from "./subjects.ts";

export interface ToolOutcome extends Pick<JobTool, "failed" | "promotedCandidateId" | "untested"> {
  outcome: string;
}

/** Takes one tool of a job from where it is to its end. */
export async function workOnTool(context: JobContext, index: number): Promise<ToolOutcome> {
  const { options, record, signal } = context;
  const { server, toolName, evaluationId } = toolAt(record.job, index);
  const subject = options.subjects.find(server, toolName);
  if (!subject?.enabled) {
    throw new GatewayError(subject ? "TOOL_DISABLED" : "TOOL_NOT_FOUND", {
      message: `Cannot test "${server}.${toolName}": ` +
        (subject ? "it is disabled" : "there is no such tool now"),
    });
  }
  const test = await testOf(context, index, subject);
  const evaluation = await options.evaluations.find(server, toolName, evaluationId) ??
    await evaluateForJob(context, index, { id: evaluationId, subject, test });
  if (evaluation.void !== undefined) {
    return { failed: true, outcome: `Nothing can be concluded: ${evaluation.void}` };
  }
  // Where it may be confirmed, the evaluation goes on: a job does not go back a phase.
  const goesOn = hasConfirmation(record.job.options, evaluation.results.length - 1);
  await record.stepTool(index, { phase: goesOn ? "evaluating" : "promoting" });
  // Whoever stopped the job since wants nothing promoted.
  signal.throwIfAborted();
  return await promoteBest(context, index, { subject, test, evaluation });
}

/** What the tool is tested with: chosen once, so that all descriptions get the same. */
async function testOf(context: JobContext, index: number, subject: Subject): Promise<Preparation> {
  const { record, signal } = context;
  const { plan } = toolAt(record.job, index);
  if (plan) return await restorePlan(context, subject, plan);
  await record.stepTool(index, { phase: "generating" });
  signal.throwIfAborted();
  const test = await prepareTool(context, subject);
  await record.stepTool(index, {
    phase: "evaluating",
    candidates: test.candidates.length,
    plan: planOf(test),
  });
  signal.throwIfAborted();
  return test;
}
