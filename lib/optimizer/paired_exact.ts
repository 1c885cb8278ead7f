import type {
  EvalRun,
  GoldenPrompt,
  Metrics,
  PromptCategory,
  Score,
} from "../core/optimization.ts";
import { promptKey, sumOf } from "./metrics.ts";

/** One prompt that was put to both descriptions. */
export interface PromptPair {
  promptId: string;
  category: PromptCategory;
  candidate: Score;
  baseline: Score;
}

/** Prompts without a run that counts on both sides are left out: they compare nothing. */
export function pairRuns(
  candidate: readonly EvalRun[],
  baseline: readonly EvalRun[],
  prompts: readonly GoldenPrompt[],
): PromptPair[] {
  const mine = scoresByPrompt(candidate);
  const theirs = scoresByPrompt(baseline);
  return prompts.flatMap(({ id, version, category }) => {
    const ours = mine.get(promptKey(id, version));
    const before = theirs.get(promptKey(id, version));
    if (!ours || !before) return [];
    return [{ promptId: id, category, candidate: ours, baseline: before }];
  });
}

/** What both descriptions came to on the prompts that both have answered. */
export function pairedMetrics(
  pairs: readonly PromptPair[],
): { candidate: Metrics; baseline: Metrics } {
  const of = (side: "candidate" | "baseline") =>
    sumOf(pairs.map((pair) => ({ category: pair.category, score: pair[side] })));
  return { candidate: of("candidate"), baseline: of("baseline") };
}

/** Above 0: the candidate did better on this prompt; below 0: worse. */
export function signOf({ candidate, baseline }: PromptPair): number {
  // Multiplied out, since the two sides may have been asked a different number of times.
  return Math.sign(candidate.correct * baseline.total - baseline.correct * candidate.total);
}

/**
 * One-sided sign test. Over prompts, not runs: repeats of one prompt are not independent, and
 * counting them as if they were would make any difference look certain.
 */
export function exactTest(
  pairs: readonly PromptPair[],
): { better: number; worse: number; ties: number; p: number } {
  const signs = pairs.map(signOf);
  const better = signs.filter((sign) => sign > 0).length;
  const worse = signs.filter((sign) => sign < 0).length;
  return { better, worse, ties: pairs.length - better - worse, p: signTest(better, worse) };
}

/** How likely so many or more are better where better and worse are equally likely. */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  let ways = 1n; // to choose k of n
  let tail = 0n;
  for (let k = 0; k <= n; k++) {
    if (k >= better) tail += ways;
    ways = ways * BigInt(n - k) / BigInt(k + 1);
  }
  // Both may be too large for a float, their quotient is not.
  const scale = 1n << 60n;
  return Number(tail * scale / (1n << BigInt(n))) / Number(scale);
}

function scoresByPrompt(runs: readonly EvalRun[]): Map<string, Score> {
  const scores = new Map<string, Score>();
  for (const run of runs) {
    if (run.status !== "ok") continue;
    const key = promptKey(run.promptId, run.promptVersion);
    const score = scores.get(key) ?? { correct: 0, total: 0 };
    score.total++;
    if (run.result.correct) score.correct++;
    scores.set(key, score);
  }
  return scores;
}
