import { CATEGORIES, type PromptCategory } from "../../lib/core/optimization.ts";
import { alphaOf, type Gain, gainOf, logEvidence, logMean, type PairedCounts } from "./evidence.ts";

/**
 * The one test of descriptions: outcomes in, next action out. Candidates are first put to `screen`
 * prompts to choose the best; then only it and the descriptions it has to beat are put to fresh prompts,
 * until there is enough evidence of a gain (`confirm`) and of no harm to other tools (`guard`).
 */
export type Stage = "screen" | "confirm";

export interface Outcome {
  description: string;
  prompt: string;
  category: PromptCategory;
  stage: Stage;
  correct: boolean;
}

export interface Trial {
  candidates: readonly string[];
  /** What a candidate has to beat: the description in force, and the canonical one. */
  baselines: readonly string[];
  /** Which evaluation of the tool it is this year, from 1; decides how much may be spent on chance. */
  index: number;
  outcomes: readonly Outcome[];
  limits: Limits;
}

export interface Limits {
  /** Prompts of the screening. */
  screen: number;
  /** Prompts to confirm one winner with, and to guard others with. */
  confirm: number;
  guard: number;
  /** Winners that are tried one after the other. */
  winners: number;
  /** How much worse on prompts that are meant for others counts as harm. */
  margin: number;
}

export const LIMITS: Limits = { screen: 24, confirm: 210, guard: 120, winners: 2, margin: 0.15 };

export type Action =
  /** Put the next fresh prompt of the category to these descriptions. */
  | { kind: "run"; stage: Stage; category: PromptCategory; descriptions: string[] }
  | { kind: "end"; results: Attempt[]; confirmed?: string };

export interface Attempt {
  candidate: string;
  /** Against each baseline. */
  gains: Record<string, Gain>;
  outcome: "confirmed" | "no-gain" | "harm" | "undecided";
  log: number;
}

/** The first winner may spend most: the second is tried only if the first was none. */
const SHARES = [0.8, 0.2];
/** Chance that a candidate does harm of at least the margin and is taken for harmless. */
const HARM_ALPHA = 0.05;

export function nextAction(trial: Trial): Action {
  const { candidates, limits } = trial;
  const screening = screen(trial);
  if (screening.action) return screening.action;
  const results: Attempt[] = [];
  for (const candidate of screening.order.slice(0, Math.min(limits.winners, candidates.length))) {
    const alpha = alphaOf(trial.index) * (SHARES[results.length] ?? 0);
    const step = attempt(trial, candidate, alpha);
    if (step.action) return step.action;
    results.push(step.result!);
    if (step.result!.outcome === "confirmed") return { kind: "end", results, confirmed: candidate };
  }
  return { kind: "end", results };
}

interface Screening {
  action?: Action;
  /** Best first. */
  order: string[];
}

/** Drops candidates that fall behind, until one is left or the prompts are used up. */
function screen({ candidates, outcomes, limits }: Trial): Screening {
  if (candidates.length === 1) return { order: [...candidates] };
  const rounds = roundsOf(outcomes.filter(({ stage }) => stage === "screen"));
  const left = new Set(candidates);
  const last = new Map<string, number>();
  for (const [number, round] of rounds.entries()) {
    for (const candidate of left) if (round.has(candidate)) last.set(candidate, number);
    const scores = [...left].map((candidate) => [candidate, right(rounds, candidate)] as const);
    const [leader] = scores.reduce((best, one) => one[1] > best[1] ? one : best);
    if (number + 1 < MIN_SCREEN) continue;
    for (const [candidate] of scores) {
      const { wins, losses } = compare(rounds.slice(0, number + 1), leader, candidate);
      const lead = wins - losses;
      if (candidate !== leader && lead >= BEHIND * Math.sqrt(wins + losses) + 1) {
        left.delete(candidate);
      }
    }
  }
  const score = (candidate: string) =>
    right(rounds, candidate) / Math.max(1, (last.get(candidate) ?? 0) + 1);
  const order = candidates.toSorted((a, b) =>
    Number(left.has(b)) - Number(left.has(a)) || score(b) - score(a)
  );
  if (left.size === 1 || rounds.length >= limits.screen) return { order };
  return {
    order,
    action: {
      kind: "run",
      stage: "screen",
      category: nextCategory(rounds.length),
      descriptions: [...left],
    },
  };
}

const MIN_SCREEN = 6;
const BEHIND = 1.2;
const MIN_CONFIRM = 18;
/** Standard errors of optimism before a confirmation is given up. */
const HOPE = 1.8;

/** Of the evidence of a gain: on prompts for the tool, and on those for others or none. */
const WEIGHTS = [2 / 3, 1 / 3];

function attempt(
  { baselines, outcomes, limits }: Trial,
  candidate: string,
  alpha: number,
): { action?: Action; result?: Attempt } {
  const rounds = roundsOf(outcomes.filter(({ stage }) => stage === "confirm"))
    .filter((round) => round.has(candidate));
  const isOthers = (round: Round) => categoryOf(round) === "negative";
  const strata = [rounds.filter((round) => !isOthers(round)), rounds.filter(isOthers)];
  const counts = baselines.map((baseline) =>
    strata.map((stratum) => compare(stratum, candidate, baseline))
  );
  const needed = -Math.log(alpha);
  const log = Math.min(
    ...counts.map((pair) => logMean(pair.map((one) => logEvidence(one)), WEIGHTS)),
  );
  const gains = Object.fromEntries(
    baselines.map((baseline, at) => [baseline, overallGain(counts[at]!)]),
  );
  const end = (outcome: Attempt["outcome"]) => ({ result: { candidate, gains, outcome, log } });
  const run = (category: PromptCategory) => ({
    action: {
      kind: "run" as const,
      stage: "confirm" as const,
      category,
      descriptions: [candidate, ...baselines],
    },
  });
  if (counts.some((pair) => pair.some((one) => isHarmful(one, limits.margin)))) return end("harm");
  if (log < needed) {
    if (counts.some((pair) => isHopeless(pair, limits.confirm, needed))) return end("no-gain");
    if (rounds.length >= limits.confirm) return end("undecided");
    return run(nextCategory(rounds.length));
  }
  const harmless = [0, 1].map((at) =>
    Math.min(...counts.map((pair) => logEvidence(pair[at]!, -limits.margin, GUARD_STAKES)))
  );
  const lacking = harmless.findIndex((one) => one < -Math.log(HARM_ALPHA));
  if (lacking === -1) return end("confirmed");
  if (strata[lacking]!.length >= limits.guard) return end("harm");
  return run(lacking === 1 ? "negative" : nextPositive(strata[0]!.length));
}

const GUARD_STAKES = [0.45, 0.65, 0.8, 0.92];

/** Two parts prompts for the tool, one part prompts for others or none. */
function overallGain([own, others]: PairedCounts[]): Gain {
  const [a, b] = [gainOf(own!, 0.025), gainOf(others!, 0.025)];
  const mix = (one: number, other: number) => (2 * one + other) / 3;
  return {
    mean: mix(a.mean, b.mean),
    low: mix(a.low, b.low),
    high: mix(a.high, b.high),
    prompts: a.prompts + b.prompts,
  };
}

/** Even if the rest went better than so far, there would not be enough evidence in the end. */
function isHopeless(pair: readonly PairedCounts[], most: number, needed: number): boolean {
  const seen = pair.reduce((sum, one) => sum + total(one), 0);
  if (seen < MIN_CONFIRM) return false;
  const expected = pair.map((one) => {
    const { wins, losses, ties } = one;
    const n = total(one);
    const rest = (most - seen) * n / seen;
    const rate = (count: number, sign: number) => {
      const share = (count + 0.5) / (n + 1);
      return Math.min(1, Math.max(0, share + sign * HOPE * Math.sqrt(share * (1 - share) / n)));
    };
    const [win, loss] = [rate(wins, 1), rate(losses, -1)];
    return logEvidence({
      wins: wins + rest * win,
      losses: losses + rest * loss,
      ties: ties + rest * Math.max(0, 1 - win - loss),
    });
  });
  return logMean(expected, WEIGHTS) < needed;
}

function total({ wins, losses, ties }: PairedCounts): number {
  return wins + losses + ties;
}

/** Clearly over the margin: further prompts would only cost. */
function isHarmful(counts: PairedCounts, margin: number): boolean {
  const { wins, losses, ties } = counts;
  const seen = wins + losses + ties;
  return losses - wins > margin * seen + 3;
}

type Round = Map<string, Outcome>;

/** One map for each prompt that was put to more than one description. */
function roundsOf(outcomes: readonly Outcome[]): Round[] {
  const rounds = new Map<string, Round>();
  for (const outcome of outcomes) {
    const round: Round = rounds.get(outcome.prompt) ?? new Map();
    rounds.set(outcome.prompt, round.set(outcome.description, outcome));
  }
  return [...rounds.values()];
}

function categoryOf(round: Round): PromptCategory | undefined {
  return round.values().next().value?.category;
}

function right(rounds: readonly Round[], description: string): number {
  return rounds.reduce((sum, round) => sum + Number(round.get(description)?.correct ?? false), 0);
}

function compare(rounds: readonly Round[], one: string, other: string): PairedCounts {
  const counts = { wins: 0, losses: 0, ties: 0 };
  for (const round of rounds) {
    const [a, b] = [round.get(one), round.get(other)];
    if (!a || !b) continue;
    if (a.correct === b.correct) counts.ties++;
    else if (a.correct) counts.wins++;
    else counts.losses++;
  }
  return counts;
}

/** Equal shares, in turn. */
function nextCategory(done: number): PromptCategory {
  return CATEGORIES[done % CATEGORIES.length]!;
}

function nextPositive(done: number): PromptCategory {
  return done % 2 === 0 ? "direct" : "indirect";
}
