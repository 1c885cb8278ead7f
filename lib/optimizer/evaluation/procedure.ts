import type { PromptCategory } from "../../core/optimization.ts";
import type { GainEstimate, PairedCounts } from "./evidence.ts";
import { failuresOf, paretoFront } from "./front.ts";
import { claimsOf, ClaimTest, noCounts, type TrialModel } from "./claims.ts";

/**
 * The one test of descriptions: scores in, next action out. Candidates are first screened on prompts
 * that their writers may know, and further ones are written from what these get wrong. Then the best
 * one and the descriptions it has to beat are put to fresh prompts, until there is enough evidence of
 * a gain and of no harm, or no hope of it. With several models each prompt is put to each of them;
 * `claims.ts` says for which of them a gain is confirmed.
 */
export interface Trial {
  /** Whose answers are scored. */
  models: readonly TrialModel[];
  candidates: readonly string[];
  /** What a candidate has to beat: the canonical description, and the one in force. */
  baselines: readonly string[];
  /** What clients with models of these families get instead of the one in force. */
  ofFamily?: ReadonlyMap<string, string>;
  /** The probability of a wrong promotion that this test may spend. */
  alpha: number;
  screen: readonly TrialPrompt[];
  /** Prompts that neither a writer nor the screening has seen, in the order of their use. */
  fresh: readonly TrialPrompt[];
  /** No further prompts can be written. */
  isClosed: boolean;
  /** If candidates may be written; all rounds end before the first fresh prompt is asked. */
  writing?: TrialWriting | undefined;
  limits: TrialLimits;
  /** Whose prompt it is, if it shows what is taken from a sibling. */
  siblingOf?(prompt: TrialPrompt): string | undefined;
  /** The share of correct runs; null: all runs failed; undefined: not run yet. */
  score(description: string, prompt: TrialPrompt, model: string): number | null | undefined;
}

export interface TrialPrompt {
  id: string;
  category: PromptCategory;
}

export interface TrialWriting {
  /** Rounds in all. The first writes `first` candidates, or none if enough are saved. */
  rounds: number;
  first: number;
  /** Prompts of the screening that writers may learn from. */
  prompts: readonly TrialPrompt[];
  /** What the rounds so far were written from. */
  parents: readonly string[];
}

export interface TrialLimits {
  /** Fresh prompts for one candidate; 0: only screen, and confirm nothing. */
  confirm: number;
  /** Fresh prompts of a kind to show that there is no harm. */
  guard: number;
  /** Candidates that are tested on fresh prompts, one after the other. */
  attempts: number;
  /** How much worse on a kind of prompts counts as harm. */
  margin: number;
}

export const TRIAL_LIMITS: TrialLimits = { confirm: 240, guard: 120, attempts: 2, margin: 0.15 };

export type TrialAction =
  | { kind: "run"; prompt: TrialPrompt; runs: TrialRun[] }
  /** No fresh prompt of this category is left. */
  | { kind: "write"; category: PromptCategory }
  /** Candidates are to be written from what this description got wrong. */
  | { kind: "reflect"; parent: string; failures: TrialPrompt[]; count: number }
  | { kind: "end"; attempts: Attempt[]; confirmed?: string };

export interface TrialRun {
  description: string;
  model: string;
}

export type AttemptOutcome = "confirmed" | "no-gain" | "harm" | "undecided";

export interface Attempt {
  candidate: string;
  outcome: AttemptOutcome;
  /** If it is confirmed for these families of models only. */
  families?: string[];
  /** Against each baseline: of what is confirmed, or of all models. */
  gains: Record<string, GainEstimate>;
  /** The same for each model, where there are several. */
  models?: { model: string; gains: Record<string, GainEstimate> }[];
  /** The fresh prompts that it rests on. */
  prompts: TrialPrompt[];
  /** The log of the evidence, and of what was needed. */
  log: number;
  needed: number;
}

/** The second candidate is tested only if the first was not confirmed, and may spend less. */
export const SHARES = [0.8, 0.2];
const LEAST_SCREENED = 6;
/** Prompts that a description is put to before candidates are written from its failures. */
export const LEARNED = 15;
/** Candidates that a further round writes. */
export const CHILDREN = 2;
/** With fewer failures there is too little to learn from. */
const LEAST_FAILURES = 2;
const BEHIND = 1.2;
/** Prompts of each sibling that are asked before a candidate is confirmed. */
const LEAST_OF_SIBLING = 3;

export function nextAction(trial: Trial): TrialAction {
  const { limits } = trial;
  const first = firstRound(trial);
  if (first) return first;
  const screening = screen(trial);
  if (screening.action) return screening.action;
  const further = furtherRound(trial, screening.order);
  if (further) return further;
  if (limits.confirm === 0) return { kind: "end", attempts: [] };
  const attempts: Attempt[] = [];
  for (const candidate of screening.order.slice(0, limits.attempts)) {
    const step = attempt(trial, candidate, trial.alpha * (SHARES[attempts.length] ?? 0));
    if ("kind" in step) return step;
    attempts.push(step);
    if (step.outcome === "confirmed") return { kind: "end", attempts, confirmed: candidate };
  }
  return { kind: "end", attempts };
}

/** What the description in force gets wrong, and then the first candidates. */
function firstRound(trial: Trial): TrialAction | undefined {
  const { writing, baselines } = trial;
  if (!writing || writing.first === 0 || writing.parents.length > 0) return undefined;
  const parent = baselines.at(-1)!;
  return learn(trial, parent) ??
    { kind: "reflect", parent, failures: failuresAmong(trial, parent), count: writing.first };
}

/** More candidates, from one of those that are best on some prompts and were not learned from yet. */
function furtherRound(trial: Trial, order: readonly string[]): TrialAction | undefined {
  const { writing } = trial;
  const [leader] = order;
  if (!writing || leader === undefined) return undefined;
  const done = writing.parents.length + Number(writing.first === 0);
  if (done >= writing.rounds) return undefined;
  const action = learn(trial, leader);
  if (action) return action;
  if (failuresAmong(trial, leader).length < LEAST_FAILURES) return undefined;
  const parents = paretoFront(order, writing.prompts, meanScores(trial)).map(({ description }) =>
    description
  )
    .filter((one) => !writing.parents.includes(one));
  const parent = parents[0] ?? leader;
  return { kind: "reflect", parent, failures: failuresAmong(trial, parent), count: CHILDREN };
}

function learn(trial: Trial, description: string): TrialAction | undefined {
  for (const prompt of trial.writing?.prompts.slice(0, LEARNED) ?? []) {
    const action = runOf(trial, prompt, [description]);
    if (action) return action;
  }
  return undefined;
}

function failuresAmong(trial: Trial, description: string): TrialPrompt[] {
  return failuresOf(description, trial.writing?.prompts ?? [], meanScores(trial));
}

/** Over all models; undefined until each has been asked. */
export function meanScores({ models, score }: Pick<Trial, "models" | "score">) {
  return (description: string, prompt: TrialPrompt): number | null | undefined => {
    const all = models.map(({ id }) => score(description, prompt, id));
    if (all.includes(undefined)) return undefined;
    const counted = all.filter((one) => typeof one === "number");
    if (counted.length === 0) return null;
    return counted.reduce((sum, one) => sum + one, 0) / counted.length;
  };
}

/** Drops candidates that fall behind, until one is left or the prompts are used up. */
function screen(trial: Trial): { action?: TrialAction; order: string[] } {
  const { candidates, baselines, limits } = trial;
  const isOnly = limits.confirm === 0;
  if (candidates.length === 1 && !isOnly) return { order: [...candidates] };
  const asked: TrialPrompt[] = [];
  const left = new Set(candidates);
  const dropped: string[] = [];
  for (const prompt of trial.screen) {
    if (left.size <= 1 && !isOnly) break;
    const descriptions = isOnly ? [...baselines, ...left] : [...left];
    const action = runOf(trial, prompt, descriptions);
    if (action) return { action, order: [] };
    asked.push(prompt);
    if (isOnly || asked.length < LEAST_SCREENED) continue;
    const leader = ranked(trial, [...left], asked)[0]!;
    for (const candidate of [...left]) {
      const { wins, losses } = compare(trial, asked, leader, candidate);
      const isBehind = wins - losses >= BEHIND * Math.sqrt(wins + losses) + 1;
      if (candidate === leader || !isBehind) continue;
      left.delete(candidate);
      dropped.unshift(candidate);
    }
  }
  return { order: [...ranked(trial, [...left], asked), ...dropped] };
}

/** Best first; of equals, as given. */
function ranked(trial: Trial, candidates: string[], prompts: readonly TrialPrompt[]): string[] {
  const score = meanScores(trial);
  const scores = new Map(candidates.map((candidate) => [
    candidate,
    prompts.reduce((sum, prompt) => sum + (score(candidate, prompt) ?? 0), 0),
  ]));
  return candidates.sort((one, other) => scores.get(other)! - scores.get(one)!);
}

/** Undefined if the prompt has been put to all of them. */
function runOf(
  { models, score }: Trial,
  prompt: TrialPrompt,
  descriptions: readonly string[],
  isAsked: (description: string, model: string) => boolean = () => true,
): TrialAction | undefined {
  const runs = descriptions.flatMap((description) =>
    models.filter(({ id }) =>
      isAsked(description, id) && score(description, prompt, id) === undefined
    ).map(({ id: model }) => ({ description, model }))
  );
  return runs.length === 0 ? undefined : { kind: "run", prompt, runs };
}

/** The test of a claim, and the descriptions that it has to beat. */
interface Contest {
  test: ClaimTest;
  baselines: readonly string[];
}

function contestsOf(trial: Trial, candidate: string, alpha: number): Contest[] {
  const { models, limits, baselines, ofFamily } = trial;
  return claimsOf(models, alpha, new Set(ofFamily?.keys())).map((claim) => {
    const own = claim.family === undefined ? undefined : ofFamily?.get(claim.family);
    const all = own === undefined ? baselines : [...baselines.slice(0, 1), own];
    const rivals = all.filter((one) => one !== candidate);
    return { test: new ClaimTest(claim, rivals.length, limits), baselines: rivals };
  });
}

/** What is left to do for a candidate, or what came of it. */
function attempt(trial: Trial, candidate: string, alpha: number): TrialAction | Attempt {
  const { score } = trial;
  const pools = Map.groupBy(trial.fresh, ({ category }) => category);
  const asked = { direct: 0, indirect: 0, negative: 0 };
  const rounds: TrialPrompt[] = [];
  const contests = contestsOf(trial, candidate, alpha);
  for (;;) {
    const open = openContests(contests);
    const [leading] = open;
    if (leading === undefined) {
      return siblingsLeft(trial, candidate, { rounds, contests }) ??
        attemptOf(trial, candidate, { rounds, contests });
    }
    const next = nextFresh(trial, pools, asked, leading.test.lacking());
    if (next === undefined) {
      for (const { test } of open) test.close();
      continue;
    }
    if ("kind" in next) return next;
    const rivals = new Set(open.flatMap(({ baselines }) => baselines));
    const action = runOf(
      trial,
      next,
      [candidate, ...rivals],
      (description, model) =>
        open.some(({ test, baselines }) =>
          test.claim.models.includes(model) &&
          (description === candidate || baselines.includes(description))
        ),
    );
    if (action) return action;
    asked[next.category]++;
    rounds.push(next);
    for (const { test, baselines } of open) {
      test.add(
        next.category,
        baselines.map((baseline) =>
          test.claim.models.map((model) =>
            [score(candidate, next, model), score(baseline, next, model)] as const
          )
        ),
      );
    }
  }
}

/**
 * What a better description takes from one sibling shows on that sibling's prompts only, so enough of
 * each are asked before anything is confirmed, and all of a sibling's where one was taken.
 */
function siblingsLeft(
  trial: Trial,
  candidate: string,
  { rounds, contests }: { rounds: readonly TrialPrompt[]; contests: readonly Contest[] },
): TrialAction | undefined {
  const { fresh, score, siblingOf, baselines: [canonical] } = trial;
  const confirmed = contests.filter(({ test }) => test.outcome === "confirmed");
  const models = confirmed.flatMap(({ test }) => test.claim.models);
  if (confirmed.length === 0 || siblingOf === undefined || canonical === undefined) {
    return undefined;
  }
  const isTaken = (prompt: TrialPrompt) =>
    models.some((model) =>
      (score(candidate, prompt, model) ?? 1) < score(canonical, prompt, model)!
    );
  const siblings = Map.groupBy(fresh, (prompt) => siblingOf(prompt));
  siblings.delete(undefined);
  for (const all of siblings.values()) {
    const known = new Set([
      ...all.slice(0, LEAST_OF_SIBLING),
      ...all.filter((one) => rounds.includes(one)),
    ]);
    for (const prompts of [known, all]) {
      if (prompts === all && ![...known].some(isTaken)) break;
      for (const prompt of prompts) {
        const action = runOf(
          trial,
          prompt,
          [candidate, canonical],
          (_, model) => models.includes(model),
        );
        if (action) return action;
      }
    }
  }
  return undefined;
}

/** While a gain for all is possible, its prompts are asked; then those for each family. */
function openContests(contests: readonly Contest[]): Contest[] {
  const [all, ...families] = contests;
  if (all === undefined || all.test.outcome === "confirmed") return [];
  const open = families.filter(({ test }) => test.outcome === undefined);
  return all.test.outcome === undefined ? [all, ...open] : open;
}

function attemptOf(
  { models }: Trial,
  candidate: string,
  { rounds, contests }: { rounds: TrialPrompt[]; contests: readonly Contest[] },
): Attempt {
  const isConfirmed = ({ test }: Contest) => test.outcome === "confirmed";
  const [all, ...families] = contests;
  const found = isConfirmed(all!) ? [all!] : families.filter(isConfirmed);
  // The family with the least gain speaks for all that are named.
  const decisive = found.toSorted((one, other) => one.test.log - other.test.log)[0] ?? all!;
  const { claim, log, outcome = "undecided" } = decisive.test;
  const named = ({ baselines }: Contest, gains: readonly GainEstimate[]) =>
    Object.fromEntries(baselines.map((baseline, at) => [baseline, gains[at]!]));
  // A family that was decided first has fewer prompts than all together, else more.
  const gainsOf = (model: string) =>
    contests.map((one) => ({ one, gains: one.test.gainsOf(model) })).toSorted((one, other) =>
      (other.gains[0]?.prompts ?? 0) - (one.gains[0]?.prompts ?? 0)
    ).map(({ one, gains }) => named(one, gains))[0]!;
  const confirmedFor = found.flatMap(({ test }) => test.claim.family ?? []);
  return {
    candidate,
    outcome,
    ...(confirmedFor.length === 0 ? {} : { families: confirmedFor }),
    gains: named(decisive, decisive.test.gains()),
    ...(models.length < 2
      ? {}
      : { models: models.map(({ id }) => ({ model: id, gains: gainsOf(id) })) }),
    prompts: rounds,
    log,
    needed: claim.needed,
  };
}

/** The category that was asked least; where nothing can be written, of those that have prompts. */
function nextFresh(
  { isClosed }: Trial,
  pools: ReadonlyMap<PromptCategory, TrialPrompt[]>,
  asked: Record<PromptCategory, number>,
  among: readonly PromptCategory[],
): TrialPrompt | TrialAction | undefined {
  const left = (category: PromptCategory) => pools.get(category)?.[asked[category]];
  const open = isClosed ? among.filter((category) => left(category) !== undefined) : among;
  const [category] = open.toSorted((one, other) => asked[one] - asked[other]);
  if (category === undefined) return undefined;
  return left(category) ?? { kind: "write", category };
}

function compare(
  trial: Trial,
  prompts: readonly TrialPrompt[],
  one: string,
  other: string,
): PairedCounts {
  const counts = noCounts();
  const score = meanScores(trial);
  for (const prompt of prompts) {
    const [a, b] = [score(one, prompt), score(other, prompt)];
    // A prompt without a score on both sides compares nothing.
    if (typeof a !== "number" || typeof b !== "number") continue;
    counts[a === b ? "ties" : a > b ? "wins" : "losses"]++;
  }
  return counts;
}
