import {
  CANONICAL,
  CATEGORIES,
  type CategoryScores,
  descriptionHash,
  type EvalRun,
  type GoldenPrompt,
  type PromptCategory,
  type Verdict,
} from "../../core/optimization.ts";
import { showsTheft, theftsOf } from "./confusion.ts";
import type { EvaluationInput, EvaluationProgress } from "./run.ts";
import { byCategory, countRuns, errorsIn, pairedMetrics, pairRuns, promptKey } from "./metrics.ts";
import { type PlannedRun, planRuns } from "./selection.ts";
import { judge, type VerdictInput } from "./verdict.ts";
import { canStillChange } from "./early_stop.ts";

/** More than this share of errors, and nothing can be concluded. */
export const MOST_ERRORS = 0.2;

export class EvaluationState {
  readonly deciding: readonly GoldenPrompt[];
  readonly prompts: Readonly<Record<PromptCategory, number>>;
  readonly #input: EvaluationInput;
  readonly #counting: ReadonlySet<GoldenPrompt>;
  readonly #plan: readonly PlannedRun[];
  readonly #beside: number;
  readonly #runs = new Map<string, EvalRun>();
  readonly settled = new Set<string>();
  /** How many finished runs were left out, by the model that made them: they cannot be compared. */
  readonly leftOut = new Map<string, number>();
  #made: number;
  #position = 0;
  #current: number | undefined;

  constructor(input: EvaluationInput) {
    this.#input = input;
    this.deciding = input.depth === "thorough"
      ? input.prompts.filter(({ heldOut }) => heldOut)
      : input.prompts;
    this.#counting = new Set(this.deciding);
    this.prompts = byCategory((category) =>
      this.deciding.filter((prompt) => prompt.category === category).length
    );
    this.#plan = planRuns({
      candidateIds: input.descriptions.map(({ candidateId }) => candidateId),
      prompts: this.deciding,
      // Whoever wrote a candidate may know such a prompt: what it takes from others is harm all the
      // same. The rest could not change anything, and is not asked.
      otherPrompts: input.prompts.filter((prompt) =>
        !this.#counting.has(prompt) && showsTheft(prompt)
      ),
      siblingPrompts: input.siblingPrompts ?? [],
      repeats: input.repeats,
    });
    this.#beside = toolsBeside(input).length;
    this.#made = input.finished.length;
    this.#takeFinished();
    this.#settle();
  }

  get runs(): EvalRun[] {
    return [...this.#runs.values()];
  }

  get isBeyondHope(): boolean {
    return errorsIn(this.runs) > MOST_ERRORS * this.#plan.length;
  }

  next(): PlannedRun | undefined {
    while (this.#position < this.#plan.length) {
      const planned = this.#plan[this.#position++];
      if (planned && !this.#has(planned) && this.#isNeeded(planned.candidateId)) {
        const number = this.#input.descriptions
          .findIndex(({ candidateId }) => candidateId === planned.candidateId);
        if (number > 0) this.#current = number;
        return planned;
      }
    }
    return undefined;
  }

  add(planned: PlannedRun, run: EvalRun): void {
    this.#runs.set(keyOf(planned), run);
    this.#made++;
    this.#settle();
  }

  runsOf(candidateId: string): EvalRun[] {
    return this.runs.filter((run) => run.candidateId === candidateId);
  }

  evidenceOf(candidateId: string): { made: number; planned: number } {
    const own = this.#plan.filter((planned) =>
      [CANONICAL, candidateId].includes(planned.candidateId)
    );
    return { made: own.filter((planned) => this.#has(planned)).length, planned: own.length };
  }

  /** Runs made until the outcome was certain, without later ones of the canonical description. */
  stopOf(candidateId: string): { made: number; planned: number } {
    const own = this.#plan.filter((planned) => planned.candidateId === candidateId);
    const pairs = own.flatMap((planned) =>
      this.#has(planned) ? [planned, { ...planned, candidateId: CANONICAL }] : []
    );
    return { made: pairs.filter((one) => this.#has(one)).length, planned: 2 * own.length };
  }

  promptsOf(candidateId: string): { asked: number; of: number } {
    const keysOf = (id: string) =>
      new Set(this.runsOf(id).map((run) => promptKey(run.promptId, run.promptVersion)));
    const both = keysOf(candidateId).intersection(keysOf(CANONICAL));
    const asked = this.deciding.filter(({ id, version }) => both.has(promptKey(id, version)));
    return { asked: asked.length, of: this.deciding.length };
  }

  /** On all runs there are, also those that ended after the outcome was certain. */
  verdictOf(candidateId: string): Verdict {
    return judge(this.#verdictInput(candidateId));
  }

  pairedOf(candidateId: string): { candidate: CategoryScores; baseline: CategoryScores } {
    return pairedMetrics(this.#verdictInput(candidateId).pairs);
  }

  progress(): EvaluationProgress {
    const left = this.#plan.filter((planned) =>
      !this.#has(planned) && this.#isNeeded(planned.candidateId)
    );
    const countOf = (planned: readonly PlannedRun[], category: PromptCategory) =>
      planned.filter(({ prompt, isSibling }) => !isSibling && prompt.category === category).length;
    const made = this.#plan.filter((planned) => this.#has(planned));
    return {
      runsDone: this.#made,
      runsTotal: this.#made + left.length,
      byCategory: byCategory((category) => {
        const done = countOf(made, category);
        return { done, total: done + countOf(left, category) };
      }),
      ...(this.#current === undefined ? {} : { currentCandidate: this.#current }),
    };
  }

  #takeFinished(): void {
    const { descriptions, evaluator, finished } = this.#input;
    const hashes = new Map(
      descriptions.map((one) => [one.candidateId, descriptionHash(one.description)]),
    );
    const planned = new Set(this.#plan.map(keyOf));
    for (const run of finished) {
      const key = keyOfRun(run);
      const isSame = run.evaluator === evaluator.kind &&
        run.descriptionHash === hashes.get(run.candidateId);
      if (!isSame || !planned.has(key)) continue;
      const { askedModel = evaluator.model } = run;
      if (askedModel !== evaluator.model) {
        this.leftOut.set(askedModel, (this.leftOut.get(askedModel) ?? 0) + 1);
      } else if (!this.#runs.has(key)) {
        this.#runs.set(key, run);
      }
    }
  }

  #settle(): void {
    for (const { candidateId } of this.#input.descriptions) {
      if (candidateId === CANONICAL || this.settled.has(candidateId)) continue;
      const left = {
        candidate: this.#leftOf(candidateId),
        baseline: this.#leftOf(CANONICAL),
      };
      const isDecidingLeft = [left.candidate, left.baseline].some((counts) =>
        CATEGORIES.some((category) => counts[category] > 0)
      );
      const areTheftsLeft = this.#plan.some((planned) =>
        (planned.isSibling || showsTheft(planned.prompt)) &&
        [CANONICAL, candidateId].includes(planned.candidateId) && !this.#has(planned)
      );
      if (!isDecidingLeft && !areTheftsLeft) {
        this.settled.add(candidateId);
        continue;
      }
      const input = this.#verdictInput(candidateId);
      // While it is not known what it takes from siblings, only what fails anyway is certain.
      const certain = areTheftsLeft ? { ...input, thefts: [] } : input;
      if (areTheftsLeft && judge(certain).promote) continue;
      if (!canStillChange({ ...certain, left, prompts: this.prompts })) {
        this.settled.add(candidateId);
      }
    }
  }

  #verdictInput(candidateId: string): VerdictInput {
    const { depth, thresholds, prompts, siblingPrompts = [] } = this.#input;
    const candidate = this.runsOf(candidateId);
    const baseline = this.runsOf(CANONICAL);
    return {
      depth,
      thresholds,
      candidate: countRuns(candidate, this.deciding),
      baseline: countRuns(baseline, this.deciding),
      thefts: theftsOf(candidate, baseline, [...prompts, ...siblingPrompts]),
      pairs: pairRuns(candidate, baseline, this.deciding),
      candidates: this.#input.descriptions.length - 1,
      beside: this.#beside,
    };
  }

  #leftOf(candidateId: string): Record<PromptCategory, number> {
    const left = { direct: 0, indirect: 0, negative: 0 };
    for (const planned of this.#plan) {
      const counts = planned.candidateId === candidateId &&
        this.#counting.has(planned.prompt) && !this.#has(planned);
      if (counts) left[planned.prompt.category]++;
    }
    return left;
  }

  /** The canonical description is needed as long as one candidate is compared to it. */
  #isNeeded(candidateId: string): boolean {
    if (candidateId !== CANONICAL) return !this.settled.has(candidateId);
    const candidates = this.#input.descriptions.length - 1;
    return candidates === 0 || this.settled.size < candidates;
  }

  #has(planned: PlannedRun): boolean {
    return this.#runs.has(keyOf(planned));
  }
}

function keyOf({ candidateId, prompt, repeat }: PlannedRun): string {
  return `${candidateId} ${repeat} ${promptKey(prompt.id, prompt.version)}`;
}

function keyOfRun({ candidateId, promptId, promptVersion, repeat }: EvalRun): string {
  return `${candidateId} ${repeat} ${promptKey(promptId, promptVersion)}`;
}

/** Flat names of other servers' tools that a model is shown beside the server's own, sorted. */
export function toolsBeside(
  { server, descriptions, shown }: Pick<EvaluationInput, "server" | "descriptions" | "shown">,
): string[] {
  const own = descriptions.find(({ candidateId }) => candidateId === CANONICAL);
  return shown(own?.description ?? "").filter((tool) => tool.server !== server)
    .map(({ name }) => name).sort();
}
