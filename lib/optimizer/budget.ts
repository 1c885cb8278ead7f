import type { RunCost } from "../core/optimization.ts";

/** So many runs without a price, and there will be none. */
const MOST_UNPRICED = 3;

export interface BudgetLimits {
  maxRuns?: number | undefined;
  maxCostUsd?: number | undefined;
}

/** What a job may still spend. */
export class Budget {
  readonly #limits: BudgetLimits;
  #begun = 0;
  #ended = 0;
  /** Runs that said what they cost, and what that was. */
  #priced = 0;
  #runCost = 0;
  #textCost = 0;
  #refused: string | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** Why something was not begun, where that was so. */
  get refused(): string | undefined {
    return this.#refused;
  }

  /** Takes one run, or says why not. */
  takeRun(): string | undefined {
    const refusal = this.refuse();
    if (refusal === undefined) this.#begun++;
    return refusal;
  }

  /** Asked before anything that is begun. */
  refuse(): string | undefined {
    const refusal = this.#used();
    this.#refused ??= refusal;
    return refusal;
  }

  /** A run from before a restart. */
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

  /** For what is not a run. */
  spend({ costUsd = 0 }: RunCost): void {
    this.#textCost += costUsd;
  }

  #used(): string | undefined {
    const { maxRuns, maxCostUsd } = this.#limits;
    if (maxRuns !== undefined && this.#begun >= maxRuns) {
      return `the budget of ${maxRuns} ${maxRuns === 1 ? "run" : "runs"} is used up`;
    }
    if (maxCostUsd === undefined) return undefined;
    if (this.#priced === 0 && this.#ended >= MOST_UNPRICED) {
      return `the budget of ${maxCostUsd} USD cannot be kept, as runs do not say what they cost`;
    }
    // One that failed may not say what it cost, and was not free; what is under way and the next
    // one will cost about as much as the others did.
    const usual = this.#priced === 0 ? 0 : this.#runCost / this.#priced;
    const spent = this.#textCost + this.#runCost + usual * (this.#ended - this.#priced);
    const expected = spent + usual * (this.#begun - this.#ended + 1);
    return spent >= maxCostUsd || expected > maxCostUsd
      ? `the budget of ${maxCostUsd} USD is used up (${spent.toFixed(4)} USD spent)`
      : undefined;
  }
}
