import {
  CANONICAL,
  type CategoryScores,
  descriptionHash,
  type EvalRun,
  type GoldenPrompt,
  type PromptCategory,
} from "../../core/optimization.ts";
import type { EvaluationInput, EvaluationProgress } from "./run.ts";
import { byCategory, countRuns, errorsIn, pairedMetrics, pairRuns, promptKey } from "./metrics.ts";
import { type Attempt, nextAction, type Trial, TRIAL_LIMITS } from "./procedure.ts";
import { takeTurns } from "./selection.ts";
import { paretoFront } from "./front.ts";

/** More than this share of errors, and nothing can be concluded. */
export const MOST_ERRORS = 0.2;
/** Fresh prompts that a clear difference takes; progress and estimates go by it. */
export const USUAL_FRESH = 45;

export interface PlannedRun {
  candidateId: string;
  prompt: GoldenPrompt;
  repeat: number;
}

/** A description with what it got wrong, for what writes better ones. */
export interface Lesson {
  parent: string;
  failures: { prompt: GoldenPrompt; run: EvalRun }[];
  /** Others that are best on some prompts, with which of the failures they got right, from 1. */
  others: { description: string; rightFor: number[] }[];
  /** How many candidates to write. */
  count: number;
  /** From 1. */
  round: number;
}

/** The runs of an evaluation, and what the test makes of them. */
export class EvaluationState {
  /** Asked before anything is confirmed: all prompts, or those that the candidates' writers may know. */
  readonly screen: readonly GoldenPrompt[];
  readonly #input: EvaluationInput;
  readonly #baselines: string[];
  readonly #candidates: string[];
  readonly #fresh: GoldenPrompt[] = [];
  readonly #runs = new Map<string, EvalRun[]>();
  readonly #begun = new Set<string>();
  /** How many finished runs were left out, by the model that made them: they cannot be compared. */
  readonly leftOut = new Map<string, number>();
  #isClosed = false;
  #parents: string[];
  #made: number;
  /** The candidate that was asked last, from 1. */
  #current: number | undefined;

  constructor(input: EvaluationInput) {
    this.#input = input;
    const isBaseline = (one: EvaluationInput["descriptions"][number]) =>
      one.candidateId === CANONICAL || one.isBaseline === true;
    this.#baselines = input.descriptions.filter(isBaseline).map(({ candidateId }) => candidateId);
    this.#candidates = input.descriptions.filter((one) => !isBaseline(one))
      .map(({ candidateId }) => candidateId);
    const { siblingPrompts = [] } = input;
    if (input.depth === "quick") {
      this.screen = [...inTurns(input.prompts), ...siblingPrompts];
    } else {
      this.screen = inTurns(input.prompts.filter(({ heldOut }) => !heldOut));
      const fresh = input.prompts.filter(({ heldOut }) => heldOut);
      const negative = fresh.filter(({ category }) => category === "negative");
      this.#fresh.push(
        ...fresh.filter(({ category }) => category !== "negative"),
        ...takeTurns([negative, siblingPrompts]),
      );
    }
    this.#isClosed = input.write === undefined;
    this.#parents = [...input.writing?.parents ?? []];
    this.#made = input.finished.filter((run) => run.evaluationId === input.id).length;
    this.#takeFinished();
  }

  /** All that counts, including earlier evaluations' runs of the same. */
  get runs(): EvalRun[] {
    return [...this.#runs.values()].flat();
  }

  get fresh(): readonly GoldenPrompt[] {
    return this.#fresh;
  }

  get isBeyondHope(): boolean {
    const own = this.ownRuns;
    return errorsIn(own) > MOST_ERRORS * Math.max(own.length, this.#usual());
  }

  get ownRuns(): EvalRun[] {
    return this.runs.filter(({ evaluationId }) => evaluationId === this.#input.id);
  }

  /**
   * The next run, also while others are under way: these are taken for correct meanwhile. What is
   * decided rests on the prompts in their order, whichever run ends first.
   */
  next(): PlannedRun | undefined {
    const assumed = new Set<string>();
    for (;;) {
      const action = nextAction(this.#trial(assumed));
      if (action.kind !== "run") return undefined;
      const prompt = this.#promptOf(action.prompt.id);
      for (const candidateId of action.descriptions) {
        const key = keyOf(candidateId, prompt);
        for (let repeat = 0; repeat < this.#input.repeats; repeat++) {
          const isMade = this.#runs.get(key)?.some((run) => run.repeat === repeat);
          if (!isMade && !this.#begun.has(`${repeat} ${key}`)) {
            this.#begun.add(`${repeat} ${key}`);
            const number = 1 + this.#candidates.indexOf(candidateId);
            if (number > 0) this.#current = number;
            return { candidateId, prompt, repeat };
          }
        }
        assumed.add(key);
      }
    }
  }

  add({ candidateId, prompt }: PlannedRun, run: EvalRun): void {
    const key = keyOf(candidateId, prompt);
    this.#runs.set(key, [...this.#runs.get(key) ?? [], run]);
    this.#made++;
  }

  /** The category that fresh prompts are lacking of, if there are none left to go on with. */
  lacking(): PromptCategory | undefined {
    const action = nextAction(this.#trial());
    return action.kind === "write" ? action.category : undefined;
  }

  /** Prompts that were written for it. Without any, those that there are decide. */
  addFresh(prompts: readonly GoldenPrompt[], wanted: PromptCategory): void {
    this.#fresh.push(...prompts);
    if (!prompts.some(({ category }) => category === wanted)) this.#isClosed = true;
  }

  /** What candidates are to be written from, if the test goes on with that. */
  lesson(): Lesson | undefined {
    const action = nextAction(this.#trial());
    if (action.kind !== "reflect") return undefined;
    const { parent, count } = action;
    const failures = action.failures.flatMap(({ id }) => {
      const prompt = this.#promptOf(id);
      const run = this.#runs.get(keyOf(parent, prompt))?.find(({ status, result }) =>
        status === "ok" && !result.correct
      );
      return run ? [{ prompt, run }] : [];
    });
    const { score } = this.#trial();
    const front = paretoFront(this.#candidates, this.screen, score);
    const others = front.filter(({ description }) => description !== parent).map((member) => ({
      description: member.description,
      rightFor: failures.flatMap(({ prompt }, at) =>
        score(member.description, prompt) === 1 ? [at + 1] : []
      ),
    })).filter(({ rightFor }) => rightFor.length > 0);
    return { parent, failures, others, count, round: this.#rounds + 1 };
  }

  /** Candidates that were written from a lesson; maybe none. */
  addCandidates(written: readonly EvaluationInput["descriptions"][number][], parent: string): void {
    this.#parents.push(parent);
    this.#input.descriptions.push(...written);
    this.#candidates.push(...written.map(({ candidateId }) => candidateId));
  }

  /** Rounds of writing that are over. */
  get #rounds(): number {
    return this.#parents.length + Number(this.#input.writing?.first === 0);
  }

  /** What the test came to; undefined if it was cut short. */
  attempts(): Attempt[] | undefined {
    const action = nextAction(this.#trial());
    return action.kind === "end" ? action.attempts : undefined;
  }

  /**
   * The fresh prompts that a candidate's test rests on, or those of the screening. Runs that were
   * under way when the test ended are not part of it.
   */
  promptsOf(candidateId: string): GoldenPrompt[] {
    const isAsked = (prompt: GoldenPrompt) => this.#runs.has(keyOf(candidateId, prompt));
    const attempts = this.attempts();
    const tested =
      attempts?.filter(({ candidate }) =>
        candidate === candidateId || this.#baselines.includes(candidateId)
      ).flatMap(({ prompts }) => prompts.map(({ id }) => id)) ?? [];
    const fresh = attempts === undefined
      ? this.#fresh.filter(isAsked)
      : this.#fresh.filter(({ id }) => tested.includes(id));
    if (fresh.length > 0) return fresh;
    const siblings = new Set(this.#input.siblingPrompts ?? []);
    return this.screen.filter((prompt) => isAsked(prompt) && !siblings.has(prompt));
  }

  runsOf(candidateId: string): EvalRun[] {
    return this.runs.filter((run) => run.candidateId === candidateId);
  }

  metricsOf(candidateId: string): CategoryScores {
    return countRuns(this.runsOf(candidateId), this.promptsOf(candidateId));
  }

  /** On the prompts that both were put to. */
  pairsOf(candidateId: string, baseline = CANONICAL) {
    return pairRuns(
      this.runsOf(candidateId),
      this.runsOf(baseline),
      this.promptsOf(candidateId),
    );
  }

  pairedOf(candidateId: string): { candidate: CategoryScores; baseline: CategoryScores } {
    return pairedMetrics(this.pairsOf(candidateId));
  }

  get baselines(): readonly string[] {
    return this.#baselines;
  }

  progress(): EvaluationProgress {
    const done = byCategory((category) =>
      this.ownRuns.filter((run) => this.#promptOf(run.promptId)?.category === category).length
    );
    const isEnded = nextAction(this.#trial()).kind === "end";
    const total = isEnded ? this.#made : Math.max(this.#made + 1, this.#usual());
    const share = this.#made === 0 ? total / 3 : total / this.#made;
    return {
      runsDone: this.#made,
      runsTotal: total,
      byCategory: byCategory((category) => ({
        done: done[category],
        total: Math.max(
          done[category],
          Math.round(this.#made === 0 ? share : done[category] * share),
        ),
      })),
      ...(this.#current === undefined ? {} : { currentCandidate: this.#current }),
    };
  }

  /** Runs that it takes, as far as that can be known. */
  #usual(): number {
    const { repeats, writing } = this.#input;
    const candidates = this.#candidates.length + (this.#rounds === 0 ? writing?.first ?? 0 : 0);
    const all = candidates + this.#baselines.length;
    if (this.#input.depth === "quick") return this.screen.length * all * repeats;
    const screened = candidates > 1 ? this.screen.length * candidates : 0;
    return (screened + USUAL_FRESH * (1 + this.#baselines.length)) * repeats;
  }

  #trial(assumed: ReadonlySet<string> = new Set()): Trial {
    const { depth, limits = TRIAL_LIMITS, alpha = 0, writing, tool } = this.#input;
    return {
      candidates: this.#candidates,
      baselines: this.#baselines,
      alpha,
      screen: this.screen,
      fresh: this.#fresh,
      isClosed: this.#isClosed,
      writing: writing && {
        ...writing,
        parents: this.#parents,
        // Siblings' prompts may be fresh ones of a later test.
        prompts: this.screen.filter(({ toolName }) => toolName === tool),
      },
      limits: depth === "quick" ? { ...limits, confirm: 0 } : limits,
      score: (candidateId, { id }) => {
        const key = keyOf(candidateId, this.#promptOf(id));
        return this.#score(key) ?? (assumed.has(key) ? 1 : this.#isDone(key) ? null : undefined);
      },
    };
  }

  #isDone(key: string): boolean {
    return (this.#runs.get(key)?.length ?? 0) >= this.#input.repeats;
  }

  #score(key: string): number | undefined {
    if (!this.#isDone(key)) return undefined;
    const counted = this.#runs.get(key)!.filter(({ status }) => status === "ok");
    if (counted.length === 0) return undefined;
    return counted.filter(({ result }) => result.correct).length / counted.length;
  }

  #promptOf(id: string): GoldenPrompt {
    const found = this.screen.find((one) => one.id === id) ??
      this.#fresh.find((one) => one.id === id);
    if (found) return found;
    throw new RangeError(`The evaluation has no prompt "${id}"`);
  }

  #takeFinished(): void {
    const { descriptions, evaluator, finished, repeats } = this.#input;
    const hashes = new Map(
      descriptions.map((one) => [one.candidateId, descriptionHash(one.description)]),
    );
    const known = new Set(
      [...this.screen, ...this.#fresh].map((prompt) => promptKey(prompt.id, prompt.version)),
    );
    for (const run of finished) {
      const isSame = run.evaluator === evaluator.kind &&
        run.descriptionHash === hashes.get(run.candidateId);
      const prompt = promptKey(run.promptId, run.promptVersion);
      if (!isSame || !known.has(prompt)) continue;
      const { askedModel = evaluator.model } = run;
      if (askedModel !== evaluator.model) {
        if (run.evaluationId === this.#input.id) {
          this.leftOut.set(askedModel, (this.leftOut.get(askedModel) ?? 0) + 1);
        }
        continue;
      }
      const key = `${run.candidateId} ${prompt}`;
      const before = this.#runs.get(key) ?? [];
      if (before.length < repeats && !before.some(({ repeat }) => repeat === run.repeat)) {
        this.#runs.set(key, [...before, run]);
      }
    }
  }
}

function keyOf(candidateId: string, { id, version }: GoldenPrompt): string {
  return `${candidateId} ${promptKey(id, version)}`;
}

/** Categories take turns, so that each has data early. */
function inTurns(prompts: readonly GoldenPrompt[]): GoldenPrompt[] {
  return takeTurns([...Map.groupBy(prompts, ({ category }) => category).values()]);
}

/** Flat names of other servers' tools that a model is shown beside the server's own, sorted. */
export function toolsBeside(
  { server, descriptions, shown }: Pick<EvaluationInput, "server" | "descriptions" | "shown">,
): string[] {
  const own = descriptions.find(({ candidateId }) => candidateId === CANONICAL) ?? descriptions[0];
  return shown(own?.description ?? "").filter((tool) => tool.server !== server)
    .map(({ name }) => name).sort();
}
