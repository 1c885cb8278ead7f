import { GatewayError } from "../core/errors.ts";
import {
  CANONICAL,
  type EvalRun,
  type Evaluation,
  type JobTool,
  type OptimizationJob,
} from "../core/optimization.ts";
import { ToolDefinition } from "../core/tool.ts";
import { DEPTHS } from "./depths.ts";
import { evaluate } from "./evaluation.ts";
import type { ShownTool } from "./evaluator.ts";
import type { JobContext } from "./job_context.ts";
import { prepareTool } from "./job_preparation.ts";
import { promoteBest } from "./job_promotion.ts";
import { addCosts } from "./run_cost.ts";
import { type RankedTool, SearchRanks } from "./second_opinion.ts";
import type { Subject } from "./subjects.ts";

export interface ToolOutcome extends Pick<JobTool, "failed" | "promotedCandidateId"> {
  outcome: string;
}

/** No run of any tool could succeed. */
export class NothingCanWork extends Error {}

/** Takes one tool of a job from where it is to its end. */
export async function workOnTool(context: JobContext, index: number): Promise<ToolOutcome> {
  const { options, record } = context;
  const tool = toolAt(record.job, index);
  const subject = options.subjects.find(tool.server, tool.toolName);
  if (!subject?.enabled) {
    throw new GatewayError(subject ? "TOOL_DISABLED" : "TOOL_NOT_FOUND", {
      message: `Cannot test "${tool.server}.${tool.toolName}": ` +
        (subject ? "it is disabled" : "there is no such tool now"),
    });
  }
  const { server, toolName, evaluationId } = tool;
  const finished = await options.runs.list(server, toolName, { evaluationId });
  catchUp(context, index, finished);
  const evaluation = await options.evaluations.find(server, toolName, evaluationId) ??
    await evaluateTool(context, index, { subject, finished });
  if (evaluation.void !== undefined) {
    return { failed: true, outcome: `Nothing can be concluded: ${evaluation.void}` };
  }
  await record.stepTool(index, { phase: "promoting" });
  return await promoteBest(context, evaluation);
}

async function evaluateTool(
  context: JobContext,
  index: number,
  { subject, finished }: { subject: Subject; finished: readonly EvalRun[] },
): Promise<Evaluation> {
  const { options, record, budget } = context;
  const { server, toolName, evaluationId, phase } = toolAt(record.job, index);
  const { depth, repeats, thresholds, withToolset } = record.job.options;
  const isBegun = phase === "evaluating";
  if (!isBegun) await record.stepTool(index, { phase: "generating" });
  // Once runs are made, nothing is written any more: all descriptions get the same prompts.
  const mayWrite = record.job.options.generate && !isBegun;
  const ready = await prepareTool(context, { subject, mayWrite, finished });
  await record.stepTool(index, { phase: "evaluating", candidates: ready.candidates.length });
  const canonical = subject.canonicalDescription ?? "";
  const shown = memoized((description) =>
    options.subjects.shown(server, toolName, description, withToolset)
  );
  const ranks = new SearchRanks({
    tools: options.subjects.searched?.() ?? rankedTools(shown(canonical), subject),
    server,
    tool: toolName,
  });
  const { evaluation, lasting } = await evaluate({
    id: evaluationId,
    server,
    tool: toolName,
    depth,
    repeats: repeats ?? DEPTHS[depth].repeats,
    thresholds,
    descriptions: [
      { candidateId: CANONICAL, description: canonical },
      ...ready.candidates.map(({ id, description }) => ({ candidateId: id, description })),
    ],
    prompts: ready.prompts,
    siblingPrompts: ready.siblingPrompts,
    evaluator: context.evaluator,
    shown,
    target: subject.flatName,
    concurrency: options.concurrency,
    finished,
    ranks: (description) => ranks.of(description, ready.prompts),
    mayRun: () => budget.takeRun(),
    save: async (run) => {
      await options.runs.save(run);
      budget.runEnded(run.cost);
      count(context, index, [run]);
    },
    onProgress: ({ runsTotal, byCategory, currentCandidate }) =>
      record.progressTool(index, {
        runsTotal,
        byCategory,
        ...(currentCandidate === undefined ? {} : { currentCandidate }),
      }),
    ...(options.retryDelayMs === undefined ? {} : { retryDelayMs: options.retryDelayMs }),
    signal: context.signal,
  });
  const whole = { ...evaluation, warnings: [...ready.warnings, ...evaluation.warnings] };
  await options.evaluations.save(whole);
  if (lasting !== undefined) throw new NothingCanWork(lasting);
  return whole;
}

/** Runs that were saved when the process ended, but of which the job's record does not know yet. */
function catchUp(context: JobContext, index: number, finished: readonly EvalRun[]): void {
  const late = finished.slice(toolAt(context.record.job, index).runsDone);
  for (const { cost } of late) context.budget.runFound(cost);
  count(context, index, late);
}

/** All at once, so that no record ever has a part of it. */
function count({ record }: JobContext, index: number, runs: readonly EvalRun[]): void {
  if (runs.length === 0) return;
  record.progress((job) => ({
    ...job,
    runs: job.runs + runs.length,
    errors: job.errors + runs.filter(({ status }) => status === "error").length,
    cost: addCosts(job.cost, ...runs.map(({ cost }) => cost)),
    tools: job.tools.map((tool, at) =>
      at === index ? { ...tool, runsDone: tool.runsDone + runs.length } : tool
    ),
  }));
}

function toolAt({ tools }: OptimizationJob, index: number): JobTool {
  const tool = tools[index];
  if (!tool) throw new RangeError(`The job has no tool ${index}`);
  return tool;
}

/** The tools under their own names, as search knows them. */
function rankedTools(shown: readonly ShownTool[], subject: Subject): RankedTool[] {
  return shown.flatMap(({ server, tool, text }) => {
    if (server === subject.server && tool === subject.name) {
      return [{ server, name: tool, definition: subject.definition }];
    }
    const { success, data } = ToolDefinition.safeParse(JSON.parse(text));
    return success ? [{ server, name: tool, definition: { ...data, name: tool } }] : [];
  });
}

/** A server can have hundreds of tools, and each run asks for all of them. */
function memoized<T>(make: (description: string) => T): (description: string) => T {
  const made = new Map<string, T>();
  return (description) => {
    const known = made.get(description);
    if (known !== undefined) return known;
    const value = make(description);
    made.set(description, value);
    return value;
  };
}
