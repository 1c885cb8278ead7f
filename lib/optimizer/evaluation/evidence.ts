import type { PromptCategory } from "../../core/optimization.ts";

/** How two descriptions did on the same prompts: where only one was right, and where both were alike. */
export interface PairedCounts {
  wins: number;
  losses: number;
  ties: number;
}

/** Stakes of the bets, as shares of the largest stake that cannot lose everything. */
const STAKES = [0.15, 0.3, 0.5, 0.7, 0.85];
/** For bounds, which are looked for far from what was seen as well. */
const ALL_STAKES = [0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97];
/** For a margin, where few losses are expected. */
const MARGIN_STAKES = [0.45, 0.65, 0.8, 0.92];

/** The logs of what each stake makes of 1 by a win, a loss and a tie. */
type Bets = [win: number, loss: number, tie: number][];

/** Bets against "the mean difference is at most `mean`". */
function betsAgainst(mean: number, stakes: readonly number[]): Bets {
  // A difference is -1, 0 or 1, so at most mean + 1 below the mean.
  const most = 1 / (1 + mean);
  return stakes.map((share) => [
    Math.log1p(share * most * (1 - mean)),
    Math.log1p(-share),
    Math.log1p(-share * most * mean),
  ]);
}

const AGAINST_NO_GAIN = betsAgainst(0, STAKES);

/** Bets against "it loses at least the margin". */
export function betsAgainstHarm(margin: number): Bets {
  return betsAgainst(-margin, MARGIN_STAKES);
}

/**
 * Evidence against a claim as the log of an e-value: what a gambler who bets against it has made of 1,
 * averaged over several stakes. If the claim is true, the e-value ever exceeds 1 / alpha with a
 * probability of at most alpha (Ville's inequality), so an evaluation may look after every prompt and
 * stop when it has seen enough.
 */
export function logEvidence(
  { wins, losses, ties }: PairedCounts,
  bets: Bets = AGAINST_NO_GAIN,
): number {
  return logMean(bets.map(([win, loss, tie]) => wins * win + losses * loss + ties * tie));
}

/** The log of the (weighted) mean of numbers given by their logs. */
export function logMean(logs: readonly number[], weights?: readonly number[]): number {
  const top = Math.max(...logs);
  const sum = logs.reduce(
    (sum, one, at) => sum + Math.exp(one - top) * (weights?.[at] ?? 1 / logs.length),
    0,
  );
  return top + Math.log(sum);
}

/** A mean difference as a fraction, with an interval that holds at every look with 1 - alpha. */
export interface GainEstimate {
  mean: number;
  low: number;
  high: number;
  prompts: number;
}

/** Evidence of a gain: on prompts for the tool, and on those for others or none. */
export const KIND_WEIGHTS = [2 / 3, 1 / 3];
const STEP = 0.0125;

/** The weighted mean of the differences on prompts for the tool and on the others. */
export function estimateGain(pair: readonly PairedCounts[], alpha = 0.05): GainEstimate {
  const mean = pair.reduce((sum, one, at) => {
    const prompts = promptsOf(one);
    return prompts === 0 ? sum : sum + KIND_WEIGHTS[at]! * (one.wins - one.losses) / prompts;
  }, 0);
  const swapped = pair.map(({ wins, losses, ties }) => ({ wins: losses, losses: wins, ties }));
  return {
    mean,
    low: Math.min(mean, lowerBound(pair, alpha / 2)),
    high: Math.max(mean, -lowerBound(swapped, alpha / 2)),
    prompts: pair.reduce((sum, one) => sum + promptsOf(one), 0),
  };
}

/** Means that are looked at, with the bets against each. */
const MEANS = Array.from({ length: 2 / STEP + 1 }, (_, at) => Math.max(-1 + 1e-6, at * STEP - 1));
const BETS = MEANS.map((mean) => betsAgainst(mean, ALL_STAKES));

/**
 * The least weighted mean that is not refuted. The product of the evidence on both kinds of prompts is
 * an e-value too, so all pairs of means whose product stays below 1 / alpha are possible.
 */
function lowerBound([own, others]: readonly PairedCounts[], alpha: number): number {
  const against = (counts: PairedCounts) => BETS.map((bets) => logEvidence(counts, bets));
  const [mine, theirs] = [against(own!), against(others!)];
  let least = 1;
  // Evidence falls as the mean rises, so that the other mean falls as this one rises.
  for (let at = 0, other = MEANS.length - 1; at < MEANS.length; at++) {
    // Between two means the truth may be anywhere: each is taken to its lower end.
    const left = -Math.log(alpha) - mine[Math.min(at + 1, MEANS.length - 1)]!;
    if (theirs[other]! >= left) continue;
    while (other > 0 && theirs[other]! < left) other--;
    least = Math.min(least, KIND_WEIGHTS[0]! * MEANS[at]! + KIND_WEIGHTS[1]! * MEANS[other]!);
    if (theirs[other]! >= left) other++;
  }
  return least;
}

/** The mean difference of pairs, with an interval that holds at every look with 1 - alpha. */
export function differenceInterval(
  { wins, losses, ties }: PairedCounts,
  alpha = 0.05,
): { low: number; high: number } {
  const least = (counts: PairedCounts) => {
    const at = BETS.findIndex((bets) => logEvidence(counts, bets) < -Math.log(alpha / 2));
    // Between two means the truth may be anywhere: each is taken to its lower end.
    return MEANS[Math.max(0, at - 1)]!;
  };
  return {
    low: least({ wins, losses, ties }),
    high: -least({ wins: losses, losses: wins, ties }),
  };
}

export function promptsOf({ wins, losses, ties }: PairedCounts): number {
  return wins + losses + ties;
}

/** The probability of a wrong promotion that all evaluations of a tool within a year share. */
export const YEARLY_ALPHA = 0.05;
export const YEAR_MS = 365 * 86_400_000;
/** The share of a batch's promotions that may be wrong. */
const FALSE_DISCOVERIES = 0.1;

/**
 * What a test may spend on chance. Of the tool's year: more than half for the first test, the rest over
 * all that follow, so that no number of tries adds up to more (in any 365 days: a test's number is
 * never below its rank in them). Of the batch: the e-LOND rule with equal weights, so that at most a
 * tenth of a batch's promotions are expected to be wrong, however many tools it has.
 */
export function alphaOf(input: {
  /** When earlier tests of the tool ended. */
  earlier: readonly string[];
  now: number;
  /** Tools in the batch, and how many of them have been promoted so far. */
  tools: number;
  promoted: number;
}): number {
  const { earlier, now, tools, promoted } = input;
  const number = 1 + earlier.filter((time) => Date.parse(time) > now - YEAR_MS).length;
  const share = number === 1 ? 0.6 : 0.4 / (number * (number - 1));
  return Math.min(YEARLY_ALPHA * share, FALSE_DISCOVERIES * (promoted + 1) / Math.max(1, tools));
}

/**
 * The normal quantile of 95 %: the test itself finds such a gain in 19 of 20 cases. The screening has to
 * choose it among up to eight candidates first, which leaves four of five for a whole job.
 */
const POWER = 1.6449;
/** Of prompts for others or none, where nothing is known of a description. */
const USUAL_NEGATIVE = 0.95;

/**
 * The least overall gain, in whole points, that a job with so many prompts finds in four of five
 * cases, over a description that gets these shares of prompts right. All of it is on prompts for the
 * tool, in proportion to what is wrong there, and answers are as independent as they can be: a prompt
 * that both descriptions get right half the time is won or lost by chance half the time.
 */
export function leastGain(
  prompts: number,
  alpha: number,
  before?: Record<PromptCategory, number>,
): number | undefined {
  const own = prompts * KIND_WEIGHTS[0]!;
  const { negative } = before ?? { negative: USUAL_NEGATIVE };
  const noise = negative * (1 - negative);
  const others = likelyEvidence(prompts - own, [[noise, noise]], 0);
  for (let points = 1; points <= 66; points++) {
    const gain = points / 100 / KIND_WEIGHTS[0]!;
    // Chance disturbs most where half is right, or as much as leaves room for the gain.
    const usual = Math.min(0.5, 1 - gain);
    const rates = before ? [before.direct, before.indirect] : [usual];
    const share = gain / (1 - meanOf(rates));
    // NaN, where nothing is wrong, is no share either.
    if (!(share < 1 + 1e-9)) return undefined;
    const changes = rates.map((rate): Change => {
      const after = rate + (1 - rate) * share;
      return [after * (1 - rate), rate * (1 - after)];
    });
    const evidence = likelyEvidence(own, changes, POWER);
    if (logMean([evidence, others], KIND_WEIGHTS) >= -Math.log(alpha)) return points;
  }
  return undefined;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

type Change = [win: number, loss: number];

/** A lower bound on the evidence from this many prompts, at the probability of a normal quantile. */
function likelyEvidence(prompts: number, changes: readonly Change[], quantile: number): number {
  return logMean(AGAINST_NO_GAIN.map(([win, loss]) => {
    let [mean, variance] = [0, 0];
    for (const [wins, losses] of changes) {
      const each = wins * win + losses * loss;
      mean += each * prompts / changes.length;
      variance += (wins * win ** 2 + losses * loss ** 2 - each ** 2) * prompts / changes.length;
    }
    return mean - quantile * Math.sqrt(Math.max(0, variance));
  }));
}
