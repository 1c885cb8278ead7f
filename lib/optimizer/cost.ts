import type { JobOptions, OptimizationJob, RunCost } from "../core/optimization.ts";
import type { OptimizationReport } from "../core/optimization_report.ts";

type KnownCost = Pick<OptimizationReport, "costUsd" | "costKnown">;

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

export function costText({ costUsd, costKnown }: KnownCost): string {
  if (costUsd === null) return "not known";
  // A run may cost less than a cent, and must not look free.
  const dollars = `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.1 ? 4 : 2)}`;
  return costKnown === false ? `at least ${dollars}` : dollars;
}

/** So many runs without a price, and there will be none. */
const MOST_UNPRICED = 3;

type BudgetLimits = Pick<JobOptions, "maxRuns" | "maxCostUsd">;

export class Budget {
  readonly #limits: BudgetLimits;
  #begun = 0;
  #ended = 0;
  #priced = 0;
  #runCost = 0;
  #textCost = 0;
  /** Runs that were begun and never ended: the gateway was killed, or the job stopped. */
  #lost = 0;
  /** Why something was not begun, if so. */
  refused: string | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get isLimited(): boolean {
    return this.#limits.maxRuns !== undefined || this.#limits.maxCostUsd !== undefined;
  }

  get begun(): number {
    return this.#begun + this.#lost;
  }

  /** Counts what was begun before, of which the store may have fewer runs. */
  resume(begun: number): void {
    this.#lost = Math.max(0, begun - this.#begun);
  }

  takeRun(): string | undefined {
    const refusal = this.refuse();
    if (refusal === undefined) this.#begun++;
    return refusal;
  }

  /** A run that was taken is not made. */
  returnRun(): void {
    this.#begun--;
  }

  refuse(): string | undefined {
    const refusal = this.#used();
    this.refused ??= refusal;
    return refusal;
  }

  runFound(cost: RunCost): void {
    this.#begun++;
    this.runEnded(cost);
  }

  runEnded({ costUsd }: RunCost): void {
    this.#ended++;
    if (costUsd === undefined) return;
    this.#priced++;
    this.#runCost += costUsd;
  }

  spend({ costUsd = 0 }: RunCost): void {
    this.#textCost += costUsd;
  }

  #used(): string | undefined {
    const { maxRuns, maxCostUsd } = this.#limits;
    if (maxRuns !== undefined && this.begun >= maxRuns) {
      return `the budget of ${maxRuns} ${maxRuns === 1 ? "run" : "runs"} is used up`;
    }
    if (maxCostUsd === undefined) return undefined;
    if (this.#priced === 0 && this.#ended >= MOST_UNPRICED) {
      return `the budget of ${maxCostUsd} USD cannot be enforced: runs do not report their cost`;
    }
    // One that failed may not say what it cost, and was not free; what is under way and the next
    // one will cost about as much as the others did.
    const usual = this.#priced === 0 ? 0 : this.#runCost / this.#priced;
    const spent = this.#textCost + this.#runCost +
      usual * (this.#ended - this.#priced + this.#lost);
    const expected = spent + usual * (this.#begun - this.#ended + 1);
    return spent >= maxCostUsd || expected > maxCostUsd
      ? `the budget of ${maxCostUsd} USD is used up (${spent.toFixed(4)} USD spent)`
      : undefined;
  }
}
