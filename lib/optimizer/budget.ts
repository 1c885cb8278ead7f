import type { RunCost } from "../core/optimization.ts";

export interface BudgetLimits {
  maxRuns?: number | undefined;
  maxCostUsd?: number | undefined;
}

/** What a job may still spend. */
export class Budget {
  readonly #limits: BudgetLimits;
  #begun: number;
  #ended: number;
  #runCost: number;
  #spent: number;
  #refused: string | undefined;

  /** With what was spent before. */
  constructor(limits: BudgetLimits, spent: { runs: number; cost: RunCost }) {
    this.#limits = limits;
    this.#begun = this.#ended = spent.runs;
    this.#runCost = this.#spent = spent.cost.costUsd ?? 0;
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

  /** A run from before a restart that was not known of. */
  runFound(cost: RunCost): void {
    this.#begun++;
    this.runEnded(cost);
  }

  runEnded(cost: RunCost): void {
    this.#ended++;
    this.#runCost += cost.costUsd ?? 0;
    this.spend(cost);
  }

  spend(cost: RunCost): void {
    this.#spent += cost.costUsd ?? 0;
  }

  #used(): string | undefined {
    const { maxRuns, maxCostUsd } = this.#limits;
    if (maxRuns !== undefined && this.#begun >= maxRuns) {
      return `the budget of ${maxRuns} ${maxRuns === 1 ? "run" : "runs"} is used up`;
    }
    if (maxCostUsd === undefined) return undefined;
    // What is under way and the next one will cost about as much as the others did.
    const usual = this.#ended === 0 ? 0 : this.#runCost / this.#ended;
    const expected = this.#spent + usual * (this.#begun - this.#ended + 1);
    return this.#spent >= maxCostUsd || expected > maxCostUsd
      ? `the budget of ${maxCostUsd} USD is used up (${this.#spent.toFixed(4)} USD spent)`
      : undefined;
  }
}
