import { GatewayError } from "../core/errors.ts";
import type { RunCost } from "../core/optimization.ts";
import type { JobContext } from "./job_context.ts";
import { addCosts, spentBy } from "./run_cost.ts";
import { isStorageError } from "./storage_error.ts";
import type { TextModel } from "./text_model.ts";

/**
 * Has a model write something for a job. What cannot be written is said in what this answers: what
 * there is may be enough to go on. What was spent counts, whatever came of it.
 */
export async function writeForJob(
  context: JobContext,
  failure: string,
  write: (model: TextModel) => Promise<{ warnings: string[] }>,
): Promise<string[]> {
  const { budget, signal } = context;
  const refusal = budget.refuse();
  if (refusal !== undefined) return [`${failure}: ${refusal}`];
  const costs: RunCost[] = [];
  try {
    return (await write(metered(await context.textModel(), costs))).warnings;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError) || isStorageError(error)) throw error;
    return [error.message];
  } finally {
    if (costs.length > 0) await charge(context, addCosts(...costs));
  }
}

async function charge({ budget, record }: JobContext, cost: RunCost): Promise<void> {
  budget.spend(cost);
  await record.step((job) => ({
    ...job,
    cost: addCosts(...spentBy(job), cost),
    writingCost: addCosts(...(job.writingCost ? [job.writingCost] : []), cost),
  }));
}

/** The cost of each answer is kept as it comes: whoever asked may throw on what it says. */
function metered(model: TextModel, costs: RunCost[]): TextModel {
  return {
    kind: model.kind,
    async complete(request) {
      const answer = await model.complete(request);
      costs.push(answer.cost);
      return answer;
    },
  };
}
