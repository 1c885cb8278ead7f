import {
  CATEGORIES,
  type CategoryScores,
  type PromptCategory,
  type SuccessCount,
  type Thresholds,
  type Verdict,
} from "../../core/optimization.ts";
import { pointsText, shortScore } from "./metrics.ts";

export type Rule = Verdict["rules"][number];

/**
 * Thresholds are whole millionths and are compared by multiplying out whole counts, so that no
 * float's rounding decides. Exact for up to 60,000 runs.
 */
const MILLION = 1_000_000;
const OWN = "of the server's own description";

/** The spec's thresholds on counts. A rule without data is missing: it neither passes nor fails. */
export function thresholdRules(
  candidate: CategoryScores,
  baseline: CategoryScores,
  thresholds: Thresholds,
  whose = OWN,
): Rule[] {
  return [
    atLeast("overall", candidate.overall, thresholds.minOverall),
    atLeast("negative", candidate.negative, thresholds.minNegative),
    improvement(candidate.overall, baseline.overall, thresholds.minImprovement, whose),
    regression(candidate, baseline, thresholds.maxRegression, whose),
  ].filter((rule) => rule !== undefined);
}

/** What must be known before anything is promoted and is not, as categories of prompts. */
export function missingCategories(
  candidate: CategoryScores,
  baseline: CategoryScores,
): PromptCategory[] {
  const isEmpty = (category: PromptCategory) =>
    candidate[category].total === 0 || baseline[category].total === 0;
  const missing: PromptCategory[] = isEmpty("negative") ? ["negative"] : [];
  return isEmpty("direct") && isEmpty("indirect") ? ["direct", "indirect", ...missing] : missing;
}

function atLeast(
  rule: "overall" | "negative",
  score: SuccessCount,
  threshold: number,
): Rule | undefined {
  if (score.total === 0) return undefined;
  const { passed, needed } = reach(score.correct, millionths(threshold) * score.total, MILLION);
  const aim = `the ${needed} that ${millionths(threshold) / 10_000} % needs`;
  return {
    rule,
    passed,
    words: passed
      ? `${rule} ${shortScore(score)} reaches ${aim}`
      : `${rule} ${shortScore(score)} is ${needed - score.correct} short of ${aim}`,
  };
}

function improvement(
  score: SuccessCount,
  before: SuccessCount,
  gain: number,
  whose: string,
): Rule | undefined {
  if (score.total === 0 || before.total === 0) return undefined;
  const { passed, needed } = reach(
    score.correct,
    (before.correct * MILLION + millionths(gain) * before.total) * score.total,
    before.total * MILLION,
  );
  const than = `the ${shortScore(before)} ${whose}`;
  const difference = score.correct / score.total - before.correct / before.total;
  const words = passed
    ? `overall ${shortScore(score)} is ${pointsText(difference)} above ${than}, ` +
      `at least ${pointsText(gain)} needed`
    : needed > score.total
    ? `overall ${shortScore(score)} cannot be ${pointsText(gain)} above ${than}: ` +
      "that leaves no room for such a gain"
    : `overall ${shortScore(score)} is ${needed - score.correct} short of the ${needed} that ` +
      `a gain of ${pointsText(gain)} over ${than} needs`;
  return { rule: "improvement", passed, words };
}

function regression(
  candidate: CategoryScores,
  baseline: CategoryScores,
  loss: number,
  whose: string,
): Rule | undefined {
  const failures: string[] = [];
  const empty: PromptCategory[] = [];
  for (const category of CATEGORIES) {
    const [score, before] = [candidate[category], baseline[category]];
    if (score.total === 0 || before.total === 0) {
      empty.push(category);
      continue;
    }
    const { passed, needed } = reach(
      score.correct,
      (before.correct * MILLION - millionths(loss) * before.total) * score.total,
      before.total * MILLION,
    );
    if (passed) continue;
    failures.push(
      `${category} ${shortScore(score)} is ${needed - score.correct} short of the ${needed} that ` +
        `a loss of at most ${pointsText(loss)} from the ${shortScore(before)} ${whose} needs`,
    );
  }
  if (empty.length === CATEGORIES.length) return undefined;
  const unknown = empty.length === 0 ? "" : ` (no data on ${empty.join(" and ")} prompts)`;
  const fine = `no category is more than ${pointsText(loss)} below that ${whose}`;
  return {
    rule: "regression",
    passed: failures.length === 0,
    words: `${failures.length === 0 ? fine : failures.join("; ")}${unknown}`,
  };
}

/** Whether so many are at least the fraction, and the least whole number that is. */
function reach(correct: number, numerator: number, denominator: number) {
  return {
    passed: correct * denominator >= numerator,
    needed: Math.max(0, Math.ceil(numerator / denominator)),
  };
}

function millionths(threshold: number): number {
  return Math.round(threshold * MILLION);
}
