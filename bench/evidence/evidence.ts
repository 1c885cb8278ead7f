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

/**
 * Evidence against "the mean difference is at most `mean`", as the log of an e-value: what a gambler
 * who bets against that claim has made of 1, averaged over several stakes. Under the claim it exceeds
 * 1 / alpha at any time with a probability of at most alpha, however often one looks (Ville's
 * inequality), so an evaluation may stop whenever it has seen enough.
 */
export function logEvidence(
  { wins, losses, ties }: PairedCounts,
  mean = 0,
  stakes: readonly number[] = STAKES,
): number {
  // A difference is -1, 0 or 1, so at most mean + 1 below the mean.
  const most = 1 / (1 + mean);
  const logs = stakes.map((share) => {
    const stake = share * most;
    return wins * Math.log1p(stake * (1 - mean)) + losses * Math.log1p(stake * (-1 - mean)) +
      ties * Math.log1p(-stake * mean);
  });
  return logMean(logs);
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

/** The mean difference, with an interval that holds at all times together with 1 - alpha. */
export interface Gain {
  mean: number;
  low: number;
  high: number;
  prompts: number;
}

export function gainOf(counts: PairedCounts, alpha = 0.05): Gain {
  const { wins, losses, ties } = counts;
  const prompts = wins + losses + ties;
  if (prompts === 0) return { mean: 0, low: -1, high: 1, prompts };
  const swapped = { wins: losses, losses: wins, ties };
  const mean = (wins - losses) / prompts;
  return {
    mean,
    low: Math.min(mean, lowerBound(counts, alpha / 2)),
    high: Math.max(mean, -lowerBound(swapped, alpha / 2)),
    prompts,
  };
}

/** The largest mean that is refuted at `alpha`. Evidence falls as the mean rises. */
function lowerBound(counts: PairedCounts, alpha: number): number {
  let [low, high] = [-1 + 1e-6, 1];
  if (logEvidence(counts, low, ALL_STAKES) < -Math.log(alpha)) return -1;
  while (high - low > 5e-4) {
    const middle = (low + high) / 2;
    if (logEvidence(counts, middle, ALL_STAKES) >= -Math.log(alpha)) low = middle;
    else high = middle;
  }
  return low;
}

/** The share of wrong promotions of one tool that all its evaluations of a year may make. */
export const YEARLY_ALPHA = 0.05;

/**
 * What the evaluation number `index` (from 1) of a tool in a year may spend of it: more than half for the first,
 * the rest over all that follow, so that no number of tries adds up to more.
 */
export function alphaOf(index: number): number {
  return YEARLY_ALPHA * (index <= 1 ? 0.6 : 0.4 / (index * (index - 1)));
}

/**
 * Which of a batch's tools count as improved so that at most a share `rate` of those is expected to be
 * wrong (the e-BH procedure); `logs` are their logs of e-values.
 */
export function discoveries(logs: readonly number[], rate: number): boolean[] {
  const order = logs.map((_, index) => index).sort((a, b) => logs[b]! - logs[a]!);
  let count = 0;
  for (const [rank, index] of order.entries()) {
    if (logs[index]! >= Math.log(logs.length / (rate * (rank + 1)))) count = rank + 1;
  }
  const found = new Set(order.slice(0, count));
  return logs.map((_, index) => found.has(index));
}
