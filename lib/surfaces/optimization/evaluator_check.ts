import type { EvaluatorProgram } from "../../optimizer/evaluator.ts";
import type { EvaluatorInfo } from "./admin_options.ts";

/** What tries descriptions on a model, or why nothing can. */
export interface FoundEvaluator extends EvaluatorInfo {
  /** Where it is a program on this machine. */
  program?: EvaluatorProgram;
}

export interface EvaluatorCheckOptions {
  info(): Promise<EvaluatorInfo>;
  program(): Promise<EvaluatorProgram | undefined>;
  isEnabled(): boolean;
}

/** Looks for what evaluates, and remembers what it found: to show that starts no program. */
export class EvaluatorCheck {
  readonly #options: EvaluatorCheckOptions;
  #last: { wasEnabled: boolean; found: FoundEvaluator } | undefined;

  constructor(options: EvaluatorCheckOptions) {
    this.#options = options;
  }

  /** What was found last; undefined where optimization was switched since, which changes it. */
  get last(): FoundEvaluator | undefined {
    return this.#last?.wasEnabled === this.#options.isEnabled() ? this.#last.found : undefined;
  }

  async run(): Promise<FoundEvaluator> {
    const { info, program, isEnabled } = this.#options;
    const wasEnabled = isEnabled();
    const found = await info();
    const used = found.problem === null ? await program() : undefined;
    this.#last = { wasEnabled, found: used === undefined ? found : { ...found, program: used } };
    return this.#last.found;
  }
}
