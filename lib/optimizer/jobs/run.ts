import { GatewayError } from "../../core/errors.ts";
import type { JobTool, OptimizationJob, ToolText } from "../../core/optimization.ts";
import { countFinished, evaluateForJob } from "./evaluate.ts";
import { planOf, type Preparation, prepareTool, restorePlan } from "./prepare.ts";
import { checkOutcome, prepareCheck } from "./check.ts";
import { jointText, testTogether } from "./joint.ts";
import { promoteBest } from "./promote.ts";
import type { Target, Targets } from "../targets.ts";
import { Budget } from "../cost.ts";
import { isStorageError, type JobRecord, toolAt } from "./record.ts";
import type { ModelQueue } from "./concurrency.ts";
import { AnsweringModels, checkAll, evaluatorsOf, NothingCanWork } from "./models.ts";
import type { OnAudit } from "../../core/access.ts";
import type {
  CandidatesRepository,
  EvalRunsRepository,
  EvaluationsRepository,
  GoldenPromptsRepository,
} from "../../storage/optimization_repositories.ts";
import type { JobsRepository } from "../../storage/jobs_repository.ts";
import type { Evaluator, RunSteps } from "../evaluators/evaluator.ts";
import type { Promotions } from "../promotions.ts";
import type { TextModel } from "../generation/text_model.ts";

export interface JobsOptions {
  jobs: JobsRepository;
  candidates: CandidatesRepository;
  prompts: GoldenPromptsRepository;
  runs: EvalRunsRepository;
  evaluations: EvaluationsRepository;
  promotions: Promotions;
  targets: Targets;
  /** Our own search for tools, with descriptions of this one on trial. */
  openDiscovery(
    server: string,
    tool: string,
  ): AsyncDisposable & { open(text: ToolText): RunSteps };
  /** Of a model such as `openai-api:gpt-5-mini`; without one, the one that is set. */
  evaluator(ref?: string): Promise<Evaluator>;
  textModel(ref?: string): Promise<TextModel>;
  /** What jobs ask that name no models. */
  defaultModels?: readonly string[] | undefined;
  concurrency: number;
  owner: string;
  isOwnerAlive(owner: string): Promise<boolean>;
  isEnabled(): boolean;
  /** For live events: each change of phase at once, progress a few times a second. */
  onChange(job: OptimizationJob): void;
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  signal: AbortSignal;
  retryDelayMs?: number;
}

export interface JobContext {
  options: JobsOptions;
  record: JobRecord;
  budget: Budget;
  evaluators: readonly Evaluator[];
  /** Tools whose prompts were to be written, with what was said about that; nothing is tried twice. */
  written: Map<string, string[]>;
  textModel(): Promise<TextModel>;
  answering: AnsweringModels;
  signal: AbortSignal;
}

export interface ToolOutcome extends
  Pick<
    JobTool,
    | "failed"
    | "promotedCandidateId"
    | "promotableCandidateId"
    | "proposedCandidateId"
    | "untested"
  > {
  outcome: string;
}

/** Does what is left of a job, tool by tool. Throws where the signal aborts, or the store fails. */
export async function runJob(
  options: JobsOptions,
  { record, models, signal }: { record: JobRecord; models: ModelQueue; signal: AbortSignal },
): Promise<Pick<OptimizationJob, "status" | "note">> {
  const budget = new Budget(record.job.options);
  try {
    const evaluators = await evaluatorsOf(options, record.job.options.models);
    await checkAll(evaluators);
    const context: JobContext = {
      options,
      record,
      budget,
      written: new Map(),
      evaluators: evaluators.map((evaluator) => models.evaluator(evaluator)),
      // The first of several models writes.
      textModel: async () =>
        models.textModel(await options.textModel(record.job.options.models?.[0])),
      answering: new AnsweringModels(),
      signal,
    };
    await countFinished(context);
    for (const [index, tool] of record.job.tools.entries()) {
      if (tool.phase !== "complete") await finishTool(context, index);
      // Also after the last: a job that somebody stopped is not completed.
      signal.throwIfAborted();
    }
    await testTogether(context);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NothingCanWork) return { status: "failed", note: error.message };
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
  // Planned runs that were not needed are not left to do.
  await record.stepTool(index, { phase: "complete", runsTotal: runsDone, ...outcome });
}

/** What goes wrong with one tool is said, and ends the work on that tool alone. */
async function outcomeOf(context: JobContext, index: number): Promise<ToolOutcome> {
  try {
    return await runTool(context, index);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof NothingCanWork) {
      const outcome = error.message;
      await context.record.stepTool(index, { phase: "complete", failed: true, outcome });
      throw error;
    }
    if (isStorageError(error)) throw error;
    if (error instanceof GatewayError) {
      const { code, message, details: { recoveryAction } } = error;
      const hasAdvice = code === "CANNOT_EVALUATE" && recoveryAction !== undefined;
      return { failed: true, outcome: hasAdvice ? `${message}. ${recoveryAction}` : message };
    }
    context.options.onWarning("A tool of an optimization job failed", { error });
    return { failed: true, outcome: "Internal gateway error; see the gateway's log" };
  }
}

async function runTool(context: JobContext, index: number): Promise<ToolOutcome> {
  const { options, record, signal } = context;
  const { server, toolName, evaluationId } = toolAt(record.job, index);
  const target = options.targets.find(server, toolName);
  if (!target?.enabled) {
    throw new GatewayError(target ? "TOOL_DISABLED" : "TOOL_NOT_FOUND", {
      message: `Cannot test "${server}.${toolName}": ` +
        (target ? "it is disabled" : "the tool no longer exists"),
    });
  }
  const test = await testOf(context, index, target);
  if (record.job.options.check && test.prompts.length === 0) {
    return { failed: false, untested: true, outcome: "Skipped: it has no prompts" };
  }
  const evaluation = await options.evaluations.find(server, toolName, evaluationId) ??
    await evaluateForJob(context, index, { id: evaluationId, target, test });
  if (evaluation.void !== undefined) {
    return { failed: true, outcome: `Inconclusive: ${evaluation.void}` };
  }
  if (record.job.options.check) return checkOutcome(evaluation);
  await record.stepTool(index, { phase: "promoting" });
  // Whoever stopped the job since wants nothing promoted.
  signal.throwIfAborted();
  return await promoteBest(context, index, { test, evaluation });
}

/** What the tool is tested with: chosen once, so that all descriptions get the same. */
async function testOf(context: JobContext, index: number, target: Target): Promise<Preparation> {
  const { record, signal } = context;
  const { plan } = toolAt(record.job, index);
  if (plan) return await restorePlan(context, target, plan);
  await record.stepTool(index, { phase: "generating" });
  signal.throwIfAborted();
  const isCheck = record.job.options.check === true;
  const test = await (isCheck ? prepareCheck : prepareTool)(context, target);
  await record.stepTool(index, {
    phase: "evaluating",
    candidates: test.candidates.length,
    plan: planOf(test),
  });
  signal.throwIfAborted();
  return test;
}

function noteOf({ tools, joint = [] }: OptimizationJob, budget: Budget): { note?: string } {
  const failed = tools.filter((tool) => tool.failed).length;
  const untested = tools.filter((tool) => tool.untested).length;
  const note = [
    ...(budget.refused === undefined ? [] : [`Ended early: ${budget.refused}`]),
    ...(untested === 0 ? [] : [`${untested} of ${tools.length} tools were not tested`]),
    ...(failed === 0 ? [] : [`${failed} of ${tools.length} tools failed`]),
    ...joint.map(jointText),
  ].join("; ");
  return note === "" ? {} : { note };
}
