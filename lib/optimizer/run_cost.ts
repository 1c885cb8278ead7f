import type { RunCost } from "../core/optimization.ts";

/** The sum; without a price only where none of them has one. */
export function addCosts(...costs: readonly RunCost[]): RunCost {
  const sum: RunCost = { inputTokens: 0, outputTokens: 0 };
  for (const { inputTokens, outputTokens, costUsd } of costs) {
    sum.inputTokens += inputTokens;
    sum.outputTokens += outputTokens;
    if (costUsd !== undefined) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
  }
  return sum;
}
