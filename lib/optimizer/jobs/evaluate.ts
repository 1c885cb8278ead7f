import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import { CANONICAL, type EvalRun, type Evaluation } from "../../core/optimization.ts";
import { CONFIRMED_DESCRIPTIONS, DEPTHS, hasConfirmation } from "../evaluation/selection.ts";
import { errorsIn } from "../evaluation/metrics.ts";
import { evaluate } from "../evaluation/run.ts";
import type { JobContext } from "./run.ts";
import type { Preparation } from "./prepare.ts";
import { toolAt, withTool } from "./record.ts";
import { addCosts, spentBy } from "../cost.ts";
import { searchRanking } from "../evaluation/search_ranks.ts";
import type { Target } from "../targets.ts";

const MOST_NAMED = 3;

export class NothingCanWork extends Error {
  constructor(reason: string) {
    super(`No run can succeed: ${reason}`);
  }
}

export async function evaluateForJob(
  context: JobContext,
  index: number,
  { id, confirms, target, test }: {
    id: string;
    confirms?: string;
    target: Target;
    test: Preparation;
  },
): Promise<Evaluation> {
  const { options, record, budget } = context;
  const { server, toolName, runsDone } = toolAt(record.job, index);
  const { depth, repeats, thresholds, withToolset } = record.job.options;
  const finished = await options.runs.list(server, toolName, { evaluationId: id });
  const others = runsDone - finished.length;
  const perPrompt = repeats ?? DEPTHS[depth].repeats;
  // Counted from the beginning, so that a job never seems further than it is.
  const toConfirm = confirms === undefined &&
      hasConfirmation(record.job.options, test.candidates.length)
    ? (test.prompts.length + test.siblingPrompts.length) * CONFIRMED_DESCRIPTIONS * perPrompt
    : 0;
  const beside = (record.job.beside ?? (withToolset ? options.targets.equipped() : []))
    .filter((tool) => tool.server !== server);
  const descriptions = [
    { candidateId: CANONICAL, description: target.canonicalDescription ?? "" },
    ...test.candidates.map(({ id, description }) => ({ candidateId: id, description })),
  ];
  // All at once, so that each is shown among the same tools, whatever changes meanwhile.
  const shown = new Map(descriptions.map(({ description }) => [
    description,
    options.targets.shown(server, toolName, description, beside),
  ]));
  for (const tools of shown.values()) {
    // Runs from before a restart were made beside all of them.
    const names = new Set(tools.map((tool) => `${tool.server}.${tool.tool}`));
    const gone = beside.map((one) => `${one.server}.${one.tool}`)
      .filter((name) => !names.has(name));
    if (gone.length > 0) throw toolsGone(`${server}.${toolName}`, gone);
  }
  const ranksOf = searchRanking(options.targets.searched(), server, toolName);
  const { evaluation, lasting } = await evaluate({
    id,
    ...defined({ confirms, retryDelayMs: options.retryDelayMs }),
    server,
    tool: toolName,
    depth,
    repeats: perPrompt,
    thresholds,
    descriptions,
    prompts: test.prompts,
    siblingPrompts: test.siblingPrompts,
    evaluator: context.evaluator,
    shown: (description) => shown.get(description) ?? [],
    target: target.flatName,
    concurrency: options.concurrency,
    finished,
    ranks: (description) => ranksOf(description, test.prompts),
    mayRun: () => budget.takeRun(),
    save: async (run) => {
      await options.runs.save(run);
      budget.runEnded(run.cost);
      count(context, index, run);
    },
    onProgress: ({ runsTotal, byCategory, currentCandidate }) =>
      record.progress((job) =>
        withTool(job, index, {
          runsTotal: others + runsTotal + toConfirm,
          ...(confirms === undefined ? defined({ byCategory, currentCandidate }) : {}),
        })
      ),
    signal: context.signal,
  });
  const whole = { ...evaluation, warnings: [...test.warnings, ...evaluation.warnings] };
  await options.evaluations.save(whole);
  if (lasting !== undefined) throw new NothingCanWork(lasting);
  return whole;
}

/** Counts a job's runs from the store: its record is written only now and then. */
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
    errors: errorsIn(runs),
    cost: addCosts(...(writingCost ? [writingCost] : []), ...runs.map(({ cost }) => cost)),
    tools: job.tools.map((tool, at) => ({ ...tool, runsDone: finished[at]?.length ?? 0 })),
  }));
}

function count({ record }: JobContext, index: number, run: EvalRun): void {
  record.progress((job) => ({
    ...withTool(job, index, { runsDone: toolAt(job, index).runsDone + 1 }),
    runs: job.runs + 1,
    errors: job.errors + (run.status === "error" ? 1 : 0),
    cost: addCosts(...spentBy(job), run.cost),
  }));
}

function toolsGone(name: string, gone: readonly string[]): GatewayError {
  const more = gone.length > MOST_NAMED ? ` and ${gone.length - MOST_NAMED} more` : "";
  return new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot test "${name}" with the toolset that was equipped when the ` +
      `job started. No longer available: ${gone.slice(0, MOST_NAMED).join(", ")}${more}`,
    recoveryAction: "Start a new job with the toolset that is equipped now",
  });
}
