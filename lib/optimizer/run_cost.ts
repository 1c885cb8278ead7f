import type { OptimizationJob, OptimizationReport, RunCost } from "../core/optimization.ts";

export type KnownCost = Pick<OptimizationReport, "costUsd" | "costKnown">;

/** The sum; without a price where none of them has one, and marked where one of them has none. */
export function addCosts(...costs: readonly RunCost[]): RunCost {
  const { costUsd, costKnown } = knownCost(costs);
  const sum: RunCost = { inputTokens: 0, outputTokens: 0 };
  for (const { inputTokens, outputTokens } of costs) {
    sum.inputTokens += inputTokens;
    sum.outputTokens += outputTokens;
  }
  if (costs.length === 0 || costUsd === null) return sum;
  return { ...sum, costUsd, ...(costKnown === false ? { costKnown } : {}) };
}

/** What of all this is known: 0 where there is nothing, null where nothing of it has a price. */
export function knownCost(
  costs: readonly { costUsd?: number | null | undefined; costKnown?: false | undefined }[],
): KnownCost {
  const sum = costs.reduce((all, { costUsd }) => all + (costUsd ?? 0), 0);
  const isWhole = costs.every(({ costUsd = null, costKnown }) =>
    costUsd !== null && costKnown !== false
  );
  if (isWhole) return { costUsd: sum };
  return { costUsd: sum === 0 ? null : sum, costKnown: false };
}

/** What a job has spent so far; one that has done nothing yet has not spent an unknown amount. */
export function spentBy(
  { runs, cost, writingCost }: Pick<OptimizationJob, "runs" | "cost" | "writingCost">,
): RunCost[] {
  return runs === 0 && writingCost === undefined ? [] : [cost];
}

/** "$0.25", "at least $0.25" where a part of it is not known, "not known". */
export function costText({ costUsd, costKnown }: KnownCost): string {
  if (costUsd === null) return "not known";
  // A run may cost less than a cent, and must not look free.
  const dollars = `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.1 ? 4 : 2)}`;
  return costKnown === false ? `at least ${dollars}` : dollars;
}
