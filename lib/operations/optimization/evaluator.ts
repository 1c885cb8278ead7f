import type { EvaluatorProgram } from "../../optimizer/evaluators/evaluator.ts";
import type { EvaluatorInfo, EvaluatorKind } from "../../core/optimization.ts";

/** What tries descriptions on a model, or why nothing can. */
export interface FoundEvaluator extends EvaluatorInfo {
  /** Where it is a program on this machine. */
  program?: EvaluatorProgram;
}

interface EvaluatorCheckOptions {
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

const NOT_ASKED =
  "No request was sent to a model: the first run shows whether the credentials and the model " +
  "name are valid.";

const CHECKED: Partial<Record<EvaluatorKind, string>> = {
  "claude-cli": `Checked: the program starts and reports its version. ${NOT_ASKED}`,
  "openai-api": "Checked: a URL and a model are set, and an API key if it is OpenAI's URL. " +
    NOT_ASKED,
  "messages-api": "Checked: a URL is set, and an API key if it is Anthropic's URL. " +
    NOT_ASKED,
};

/** What is known of an evaluator that seems fine, and what is not; null where there is none. */
export function checkedText({ kind, problem }: EvaluatorInfo): string | null {
  return kind === null || problem !== null ? null : CHECKED[kind] ?? null;
}
