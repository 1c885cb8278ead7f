import { CATEGORIES, type PromptCategory } from "../../core/optimization.ts";
import {
  betsAgainstHarm,
  estimateGain,
  type GainEstimate,
  KIND_WEIGHTS,
  logEvidence,
  logMean,
  type PairedCounts,
  promptsOf,
} from "./evidence.ts";
import { failuresOf, paretoFront } from "./front.ts";

/**
 * The one test of descriptions: scores in, next action out. Candidates are first screened on prompts
 * that their writers may know, and further ones are written from what these get wrong. Then the best one and the descriptions it has to beat are put to fresh
 * prompts, until there is enough evidence of a gain and of no harm, or no hope of it.
 */
export interface Trial {
  candidates: readonly string[];
  /** What a candidate has to beat: the canonical description, and the one in force. */
  baselines: readonly string[];
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
  /** The share of correct runs; null: all runs failed; undefined: not run yet. */
  score(description: string, prompt: TrialPrompt): number | null | undefined;
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
  | { kind: "run"; prompt: TrialPrompt; descriptions: string[] }
  /** No fresh prompt of this category is left. */
  | { kind: "write"; category: PromptCategory }
  /** Candidates are to be written from what this description got wrong. */
  | { kind: "reflect"; parent: string; failures: TrialPrompt[]; count: number }
  | { kind: "end"; attempts: Attempt[]; confirmed?: string };

export type AttemptOutcome = "confirmed" | "no-gain" | "harm" | "undecided";

export interface Attempt {
  candidate: string;
  outcome: AttemptOutcome;
  /** Against each baseline. */
  gains: Record<string, GainEstimate>;
  /** The fresh prompts that it rests on. */
  prompts: TrialPrompt[];
  /** The log of the evidence, and of what was needed. */
  log: number;
  needed: number;
}

/** The second candidate is tested only if the first was not confirmed, and may spend less. */
export const SHARES = [0.8, 0.2];
/** The probability that a candidate that does harm of the margin is taken for harmless. */
const HARM_ALPHA = 0.05;
const LEAST_SCREENED = 6;
/** Prompts that a description is put to before candidates are written from its failures. */
export const LEARNED = 15;
/** Candidates that a further round writes. */
export const CHILDREN = 2;
/** With fewer failures there is too little to learn from. */
const LEAST_FAILURES = 2;
const BEHIND = 1.2;
const LEAST_CONFIRMED = 15;
/** Standard errors of optimism before a candidate is given up. */
const HOPE = 1.8;

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
  const { writing, score } = trial;
  const [leader] = order;
  if (!writing || leader === undefined) return undefined;
  const done = writing.parents.length + Number(writing.first === 0);
  if (done >= writing.rounds) return undefined;
  const action = learn(trial, leader);
  if (action) return action;
  if (failuresAmong(trial, leader).length < LEAST_FAILURES) return undefined;
  const parents = paretoFront(order, writing.prompts, score).map(({ description }) => description)
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

function failuresAmong({ writing, score }: Trial, description: string): TrialPrompt[] {
  return failuresOf(description, writing?.prompts ?? [], score);
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
  const scores = new Map(candidates.map((candidate) => [
    candidate,
    prompts.reduce((sum, prompt) => sum + (trial.score(candidate, prompt) ?? 0), 0),
  ]));
  return candidates.sort((one, other) => scores.get(other)! - scores.get(one)!);
}

/** Undefined if the prompt has been put to all of them. */
function runOf(trial: Trial, prompt: TrialPrompt, all: string[]): TrialAction | undefined {
  const descriptions = all.filter((one) => trial.score(one, prompt) === undefined);
  return descriptions.length === 0 ? undefined : { kind: "run", prompt, descriptions };
}

/** What is left to do for a candidate, or what came of it. */
function attempt(trial: Trial, candidate: string, alpha: number): TrialAction | Attempt {
  const { limits } = trial;
  const baselines = trial.baselines.filter((one) => one !== candidate);
  const needed = -Math.log(alpha);
  const guard = betsAgainstHarm(limits.margin);
  const pools = Map.groupBy(trial.fresh, ({ category }) => category);
  const asked = { direct: 0, indirect: 0, negative: 0 };
  const rounds: TrialPrompt[] = [];
  /** Of each baseline: on prompts for the tool, and on those for others or none. */
  const counts = baselines.map(() => [noCounts(), noCounts()]);
  for (;;) {
    const log = Math.min(...counts.map(logOf));
    const end = (outcome: AttemptOutcome): Attempt => ({
      candidate,
      outcome,
      gains: Object.fromEntries(
        baselines.map((baseline, at) => [baseline, estimateGain(counts[at]!)]),
      ),
      prompts: rounds,
      log,
      needed,
    });
    if (counts.flat().some((one) => isHarmful(one, limits.margin))) return end("harm");
    const totals = [asked.direct + asked.indirect, asked.negative];
    let among: readonly PromptCategory[] = CATEGORIES;
    if (log < needed) {
      if (counts.some((pair) => isHopeless(pair, limits.confirm, needed))) return end("no-gain");
      if (totals[0]! + totals[1]! >= limits.confirm) return end("undecided");
    } else {
      const unsafe = totals.findIndex((_, at) =>
        counts.some((pair) => logEvidence(pair[at]!, guard) < -Math.log(HARM_ALPHA))
      );
      if (unsafe === -1) return end("confirmed");
      if (totals[unsafe]! >= limits.guard) return end("harm");
      among = unsafe === 1 ? ["negative"] : ["direct", "indirect"];
    }
    const next = nextFresh(trial, pools, asked, among);
    if (next === undefined) return end("undecided");
    if ("kind" in next) return next;
    const action = runOf(trial, next, [candidate, ...baselines]);
    if (action) return action;
    asked[next.category]++;
    rounds.push(next);
    for (const [at, baseline] of baselines.entries()) {
      count(counts[at]![Number(next.category === "negative")]!, trial, next, candidate, baseline);
    }
  }
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

function logOf(pair: readonly PairedCounts[]): number {
  return logMean(pair.map((one) => logEvidence(one)), KIND_WEIGHTS);
}

/** Even if the rest went better than so far, there would not be enough evidence in the end. */
function isHopeless(pair: readonly PairedCounts[], most: number, needed: number): boolean {
  const seen = pair.reduce((sum, one) => sum + promptsOf(one), 0);
  if (seen < LEAST_CONFIRMED) return false;
  const hoped = pair.map((one) => {
    const n = promptsOf(one);
    const rest = Math.max(0, most - seen) * n / seen;
    const rate = (count: number, sign: number) => {
      const share = (count + 0.5) / (n + 1);
      return Math.min(
        1,
        Math.max(0, share + sign * HOPE * Math.sqrt(share * (1 - share) / (n + 1))),
      );
    };
    const [win, loss] = [rate(one.wins, 1), rate(one.losses, -1)];
    return {
      wins: one.wins + rest * win,
      losses: one.losses + rest * loss,
      ties: one.ties + rest * Math.max(0, 1 - win - loss),
    };
  });
  return logOf(hoped) < needed;
}

/** Clearly over the margin: further prompts would only cost. */
function isHarmful(counts: PairedCounts, margin: number): boolean {
  return counts.losses - counts.wins > margin * promptsOf(counts) + 3;
}

function compare(
  trial: Trial,
  prompts: readonly TrialPrompt[],
  one: string,
  other: string,
): PairedCounts {
  const counts = noCounts();
  for (const prompt of prompts) count(counts, trial, prompt, one, other);
  return counts;
}

/** A prompt without a score on both sides compares nothing. */
function count(
  counts: PairedCounts,
  { score }: Trial,
  prompt: TrialPrompt,
  one: string,
  other: string,
): void {
  const [a, b] = [score(one, prompt), score(other, prompt)];
  if (typeof a !== "number" || typeof b !== "number") return;
  counts[a === b ? "ties" : a > b ? "wins" : "losses"]++;
}

function noCounts(): PairedCounts {
  return { wins: 0, losses: 0, ties: 0 };
}
