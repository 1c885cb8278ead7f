import {
  CANONICAL,
  type EvalRun,
  type Evaluation,
  type JobTool,
  type OptimizationJob,
} from "../core/optimization.ts";
import { DEPTHS } from "./depths.ts";
import { evaluate } from "./evaluation.ts";
import type { JobContext } from "./job_context.ts";
import type { Preparation } from "./job_preparation.ts";
import { addCosts } from "./run_cost.ts";
import { SearchRanks } from "./second_opinion.ts";
import type { Subject } from "./subjects.ts";

/** No run of any tool could succeed. */
export class NothingCanWork extends Error {}

export interface JobEvaluationInput {
  id: string;
  /** The evaluation whose winner is put to the same prompts once more. */
  confirms?: string;
  subject: Subject;
  test: Preparation;
}

/** Puts one tool's descriptions to its prompts, or does what is left of that; keeps what comes of it. */
export async function evaluateForJob(
  context: JobContext,
  index: number,
  { id, confirms, subject, test }: JobEvaluationInput,
): Promise<Evaluation> {
  const { options, record, budget } = context;
  const { server, toolName, runsDone } = toolAt(record.job, index);
  const { depth, repeats, thresholds, withToolset } = record.job.options;
  const finished = await options.runs.list(server, toolName, { evaluationId: id });
  const others = runsDone - finished.length;
  const canonical = subject.canonicalDescription ?? "";
  const shown = memoized((description) =>
    options.subjects.shown(server, toolName, description, withToolset)
  );
  const ranks = new SearchRanks({ tools: options.subjects.searched(), server, tool: toolName });
  const { evaluation, lasting } = await evaluate({
    id,
    ...(confirms === undefined ? {} : { confirms }),
    server,
    tool: toolName,
    depth,
    repeats: repeats ?? DEPTHS[depth].repeats,
    thresholds,
    descriptions: [
      { candidateId: CANONICAL, description: canonical },
      ...test.candidates.map(({ id, description }) => ({ candidateId: id, description })),
    ],
    prompts: test.prompts,
    siblingPrompts: test.siblingPrompts,
    evaluator: context.evaluator,
    shown,
    target: subject.flatName,
    concurrency: options.concurrency,
    finished,
    ranks: (description) => ranks.of(description, test.prompts),
    mayRun: () => budget.takeRun(),
    save: async (run) => {
      await options.runs.save(run);
      budget.runEnded(run.cost);
      count(context, index, run);
    },
    onProgress: ({ runsTotal, byCategory, currentCandidate }) =>
      record.progressTool(index, {
        runsTotal: others + runsTotal,
        ...(confirms === undefined ? { byCategory } : {}),
        ...(currentCandidate === undefined || confirms !== undefined ? {} : { currentCandidate }),
      }),
    ...(options.retryDelayMs === undefined ? {} : { retryDelayMs: options.retryDelayMs }),
    signal: context.signal,
  });
  const whole = { ...evaluation, warnings: [...test.warnings, ...evaluation.warnings] };
  await options.evaluations.save(whole);
  if (lasting !== undefined) throw new NothingCanWork(lasting);
  return whole;
}

/**
 * Takes the runs that there are for what a job has done so far. Its record may know of fewer, since
 * it is written now and then.
 */
export async function countFinished({ options, record, budget }: JobContext): Promise<void> {
  const finished = await Promise.all(record.job.tools.map(async (tool) => {
    const { server, toolName, evaluationId, confirmation } = tool;
    if (tool.phase === "queued" || tool.phase === "generating") return [];
    const ids = [evaluationId, ...(confirmation ? [confirmation.evaluationId] : [])];
    const runs = ids.map((id) => options.runs.list(server, toolName, { evaluationId: id }));
    return (await Promise.all(runs)).flat();
  }));
  const runs = finished.flat();
  const { writingCost } = record.job;
  if (writingCost) budget.spend(writingCost);
  for (const { cost } of runs) budget.runFound(cost);
  record.progress((job) => ({
    ...job,
    runs: runs.length,
    errors: runs.filter(({ status }) => status === "error").length,
    cost: addCosts(...(writingCost ? [writingCost] : []), ...runs.map(({ cost }) => cost)),
    tools: job.tools.map((tool, at) => ({ ...tool, runsDone: finished[at]?.length ?? 0 })),
  }));
}

/** All at once, so that no record ever has a part of it. */
function count({ record }: JobContext, index: number, run: EvalRun): void {
  record.progress((job) => ({
    ...job,
    runs: job.runs + 1,
    errors: job.errors + (run.status === "error" ? 1 : 0),
    cost: addCosts(job.cost, run.cost),
    tools: job.tools.map((tool, at) =>
      at === index ? { ...tool, runsDone: tool.runsDone + 1 } : tool
    ),
  }));
}

export function toolAt({ tools }: OptimizationJob, index: number): JobTool {
  const tool = tools[index];
  if (!tool) throw new RangeError(`The job has no tool ${index}`);
  return tool;
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
