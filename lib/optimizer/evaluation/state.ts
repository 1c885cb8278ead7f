import {
  CANONICAL,
  type CategoryScores,
  type EvalRun,
  type GoldenPrompt,
  modelRef,
  type PromptCategory,
  textHash,
} from "../../core/optimization.ts";
import type { EvaluationInput, EvaluationProgress, TestedText } from "./run.ts";
import { showsTheft } from "./confusion.ts";
import { byCategory, countRuns, errorsIn, pairedMetrics, pairRuns, promptKey } from "./metrics.ts";
import { type Attempt, meanScores, nextAction, type Trial, TRIAL_LIMITS } from "./procedure.ts";
import type { TrialModel } from "./claims.ts";
import { familyOfModel } from "../../core/model_family.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
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
  evaluator: Evaluator;
}

/** A description with what it got wrong, for what writes better ones. */
export interface Lesson {
  parent: string;
  failures: { prompt: GoldenPrompt; run: EvalRun }[];
  /** Calls that count as right, with arguments that do not fit. */
  wrongArguments: { prompt: GoldenPrompt; run: EvalRun }[];
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
  readonly models: readonly (TrialModel & { evaluator: Evaluator })[];
  readonly #input: EvaluationInput;
  readonly #baselines: string[];
  readonly #ofFamily: ReadonlyMap<string, string>;
  readonly #candidates: string[];
  readonly #fresh: GoldenPrompt[] = [];
  readonly #runs = new Map<string, EvalRun[]>();
  readonly #begun = new Set<string>();
  /** How many finished runs were left out, by the model that made them: they cannot be compared. */
  readonly leftOut = new Map<string, number>();
  #isClosed = false;
  /** What the test came to, as long as nothing is added. */
  #end: { attempts: Attempt[] | undefined } | undefined;
  #parents: string[];
  #made: number;
  /** The candidate that was asked last, from 1. */
  #current: number | undefined;

  constructor(input: EvaluationInput) {
    this.#input = input;
    this.models = input.evaluators.map((evaluator) => ({
      id: modelRef(evaluator),
      family: familyOfModel(evaluator.model),
      evaluator,
    }));
    this.#ofFamily = new Map(Object.entries(input.ofFamily ?? {}));
    const ids = (which: (one: TestedText) => boolean) =>
      input.descriptions.filter(which).map(({ candidateId }) => candidateId);
    this.#baselines = ids((one) => one.candidateId === CANONICAL || one.isBaseline === true);
    this.#candidates = ids(({ candidateId, isOfFamily }) =>
      !this.#baselines.includes(candidateId) && isOfFamily !== true
    );
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
      for (const { description: candidateId, model } of action.runs) {
        const key = keyOf(candidateId, prompt, model);
        const { evaluator } = this.models.find(({ id }) => id === model)!;
        for (let repeat = 0; repeat < this.#input.repeats; repeat++) {
          const isMade = this.#runs.get(key)?.some((run) => run.repeat === repeat);
          if (!isMade && !this.#begun.has(`${repeat} ${key}`)) {
            this.#begun.add(`${repeat} ${key}`);
            const number = 1 + this.#candidates.indexOf(candidateId);
            if (number > 0) this.#current = number;
            return { candidateId, prompt, repeat, evaluator };
          }
        }
        assumed.add(key);
      }
    }
  }

  add({ candidateId, prompt, evaluator }: PlannedRun, run: EvalRun): void {
    const key = keyOf(candidateId, prompt, modelRef(evaluator));
    this.#runs.set(key, [...this.#runs.get(key) ?? [], run]);
    this.#made++;
    this.#end = undefined;
  }

  /** The category that fresh prompts are lacking of, if there are none left to go on with. */
  lacking(): PromptCategory | undefined {
    const action = nextAction(this.#trial());
    return action.kind === "write" ? action.category : undefined;
  }

  /** Prompts that were written for it. Without any, those that there are decide. */
  addFresh(prompts: readonly GoldenPrompt[], wanted: PromptCategory): void {
    this.#end = undefined;
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
      const made = this.models.flatMap(({ id: model }) =>
        this.#runs.get(keyOf(parent, prompt, model)) ?? []
      );
      const run = made.find(({ status, result }) => status === "ok" && !result.correct);
      return run ? [{ prompt, run }] : [];
    });
    const wrongArguments = this.screen.filter(({ toolName }) => toolName === this.#input.tool)
      .flatMap((prompt) => {
        const made = this.models.flatMap(({ id }) =>
          this.#runs.get(keyOf(parent, prompt, id)) ?? []
        );
        const run = made.find(({ status, result }) =>
          status === "ok" && result.correct && result.arguments === "invalid"
        );
        return run ? [{ prompt, run }] : [];
      });
    const score = meanScores(this.#trial());
    const front = paretoFront(this.#candidates, this.screen, score);
    const others = front.filter(({ description }) => description !== parent).map((member) => ({
      description: member.description,
      rightFor: failures.flatMap(({ prompt }, at) =>
        score(member.description, prompt) === 1 ? [at + 1] : []
      ),
    })).filter(({ rightFor }) => rightFor.length > 0);
    return { parent, failures, wrongArguments, others, count, round: this.#rounds + 1 };
  }

  /** Candidates that were written from a lesson; maybe none. */
  addCandidates(written: readonly TestedText[], parent: string): void {
    this.#end = undefined;
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
    if (this.#end === undefined) {
      const action = nextAction(this.#trial());
      this.#end = { attempts: action.kind === "end" ? action.attempts : undefined };
    }
    return this.#end.attempts;
  }

  /** Those that a description's numbers are of: all, or those that a gain was confirmed for. */
  modelsOf(candidateId: string): string[] {
    const attempts = this.attempts() ?? [];
    const attempt = attempts.find(({ candidate }) => candidate === candidateId) ??
      (this.#baselines.includes(candidateId)
        ? attempts.find(({ outcome }) => outcome === "confirmed")
        : undefined);
    const isOfFamily = this.isBaseline(candidateId) && !this.#baselines.includes(candidateId);
    const families = isOfFamily
      ? [...this.#ofFamily].filter(([, id]) => id === candidateId).map(([family]) => family)
      : attempt?.families;
    return this.models.filter(({ family }) =>
      families === undefined || (family !== undefined && families.includes(family))
    ).map(({ id }) => id);
  }

  /**
   * The fresh prompts that a candidate's test rests on, or those of the screening. Runs that were
   * under way when the test ended are not part of it, nor what only some of the models were asked.
   */
  promptsOf(candidateId: string, models = this.modelsOf(candidateId)): GoldenPrompt[] {
    const isAsked = (prompt: GoldenPrompt) =>
      models.every((model) => this.#runs.has(keyOf(candidateId, prompt, model)));
    const attempts = this.attempts();
    const tested =
      attempts?.filter(({ candidate }) => candidate === candidateId || this.isBaseline(candidateId))
        .flatMap(({ prompts }) => prompts.map(({ id }) => id)) ?? [];
    const fresh = attempts === undefined
      ? this.#fresh.filter(isAsked)
      : this.#fresh.filter((prompt) => tested.includes(prompt.id) && isAsked(prompt));
    if (fresh.length > 0) return fresh;
    const siblings = new Set(this.#input.siblingPrompts ?? []);
    return this.screen.filter((prompt) => isAsked(prompt) && !siblings.has(prompt));
  }

  runsOf(candidateId: string, models: readonly string[]): EvalRun[] {
    return this.runs.filter((run) =>
      run.candidateId === candidateId && models.includes(this.#modelOf(run)?.id ?? "")
    );
  }

  metricsOf(candidateId: string, models = this.modelsOf(candidateId)): CategoryScores {
    return countRuns(this.runsOf(candidateId, models), this.promptsOf(candidateId, models));
  }

  /** On the prompts that both were put to. */
  pairsOf(candidateId: string, baseline = CANONICAL, models = this.modelsOf(candidateId)) {
    return pairRuns(
      this.runsOf(candidateId, models),
      this.runsOf(baseline, models),
      this.promptsOf(candidateId, models),
    );
  }

  pairedOf(
    candidateId: string,
    models = this.modelsOf(candidateId),
  ): { candidate: CategoryScores; baseline: CategoryScores } {
    return pairedMetrics(this.pairsOf(candidateId, CANONICAL, models));
  }

  /** What candidates are compared with, all of them or for one family. */
  isBaseline(candidateId: string): boolean {
    return !this.#candidates.includes(candidateId);
  }

  /** What a candidate would replace, with the models that are asked about both. */
  replacedBy(candidateId: string): { baseline: string; models: string[] }[] {
    const families = this.attempts()?.find(({ candidate }) => candidate === candidateId)?.families;
    const inForce = this.#baselines.find((one) => one !== CANONICAL);
    const own = this.modelsOf(candidateId);
    const groups = Map.groupBy(
      this.models.filter(({ id }) => own.includes(id)),
      ({ family }) => (families && family && this.#ofFamily.get(family)) ?? inForce,
    );
    return [...groups].flatMap(([baseline, models]) =>
      baseline === undefined || baseline === candidateId
        ? []
        : [{ baseline, models: models.map(({ id }) => id) }]
    );
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
    const each = repeats * this.models.length;
    if (this.#input.depth === "quick") return this.screen.length * all * each;
    const screened = candidates > 1 ? this.screen.length * candidates : 0;
    return (screened + USUAL_FRESH * (1 + this.#baselines.length)) * each;
  }

  #trial(assumed: ReadonlySet<string> = new Set()): Trial {
    const { depth, limits = TRIAL_LIMITS, alpha = 0, writing, tool } = this.#input;
    return {
      models: this.models,
      candidates: this.#candidates,
      baselines: this.#baselines,
      ofFamily: this.#ofFamily,
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
      siblingOf: ({ id }) => {
        const prompt = this.#promptOf(id);
        return showsTheft(prompt) ? prompt.expectedBehavior.expectedTool : undefined;
      },
      limits: depth === "quick" ? { ...limits, confirm: 0 } : limits,
      score: (candidateId, { id }, model) => {
        const key = keyOf(candidateId, this.#promptOf(id), model);
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

  #modelOf({ evaluator, askedModel }: EvalRun) {
    const ofKind = this.models.filter((one) => one.evaluator.kind === evaluator);
    // Older runs lack what was asked.
    return askedModel === undefined
      ? ofKind[0]
      : ofKind.find((one) => one.evaluator.model === askedModel);
  }

  #takeFinished(): void {
    const { descriptions, evaluators, finished, repeats } = this.#input;
    const kinds = new Set(evaluators.map(({ kind }) => kind));
    const hashes = new Map(
      descriptions.map((one) => [one.candidateId, textHash(one)]),
    );
    const known = new Set(
      [...this.screen, ...this.#fresh].map((prompt) => promptKey(prompt.id, prompt.version)),
    );
    for (const run of finished) {
      const isSame = kinds.has(run.evaluator) &&
        run.descriptionHash === hashes.get(run.candidateId);
      const prompt = promptKey(run.promptId, run.promptVersion);
      if (!isSame || !known.has(prompt)) continue;
      const model = this.#modelOf(run);
      if (model === undefined) {
        const { askedModel = "unknown" } = run;
        if (run.evaluationId === this.#input.id) {
          this.leftOut.set(askedModel, (this.leftOut.get(askedModel) ?? 0) + 1);
        }
        continue;
      }
      const key = `${run.candidateId} ${prompt} ${model.id}`;
      const before = this.#runs.get(key) ?? [];
      if (before.length < repeats && !before.some(({ repeat }) => repeat === run.repeat)) {
        this.#runs.set(key, [...before, run]);
      }
    }
  }
}

function keyOf(candidateId: string, { id, version }: GoldenPrompt, model: string): string {
  return `${candidateId} ${promptKey(id, version)} ${model}`;
}

/** Categories take turns, so that each has data early. */
function inTurns(prompts: readonly GoldenPrompt[]): GoldenPrompt[] {
  return takeTurns([...Map.groupBy(prompts, ({ category }) => category).values()]);
}

/** Flat names of other servers' tools that a model is shown beside the server's own, sorted. */
export function toolsBeside(
  { server, descriptions, shown, openSteps }: Pick<
    EvaluationInput,
    "server" | "descriptions" | "shown" | "openSteps"
  >,
): string[] {
  // Those are found, not shown.
  if (openSteps) return [];
  const own = descriptions.find(({ candidateId }) => candidateId === CANONICAL) ?? descriptions[0];
  return shown(own ?? { description: "" }).filter((tool) => tool.server !== server)
    .map(({ name }) => name).sort();
}
