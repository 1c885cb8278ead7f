import { CATEGORIES, type CategoryScores, type PromptCategory } from "../../core/optimization.ts";
import { noMetrics, pairedMetrics, signOf, signTest } from "./metrics.ts";
import {
  loneByCategory,
  missingCategories,
  mostChance,
  type Sides,
  thresholdRules,
  type VerdictInput,
  verdictRules,
} from "./verdict.ts";

interface UnfinishedInput extends VerdictInput {
  /** Runs to come that will count in `candidate`, `baseline` and `pairs`. */
  left: Sides<number>;
  /** How many prompts of each category decide, asked or not: no more than these can turn. */
  prompts: Record<PromptCategory, number>;
}

/** Whether runs to come, which may also fail, could change what judge() says of this candidate. */
export function canStillChange(input: UnfinishedInput): boolean {
  const { left } = input;
  const toCome = (category: PromptCategory) => left.candidate[category] + left.baseline[category];
  // Thefts are counted on negative prompts.
  const canTheftsChange = toCome("negative") > 0;
  if (!canTheftsChange && toCome("direct") + toCome("indirect") === 0) return false;
  const isGood = verdictRules(input).every(({ passed }) => passed);
  // Each rule is looked at by itself in what is for it the extreme case. A candidate's rates are
  // highest where all to come are correct and its lone mistakes drop out; a baseline's are lowest
  // the other way round. Nothing that can happen lies outside.
  const { candidate, baseline } = extremes(input, isGood ? "worst" : "best");
  const thresholds = thresholdRules(candidate, baseline, input.thresholds);
  const chance = input.depth === "thorough"
    ? extremeChance(input, toCome, isGood ? "worst" : "best")
    : 0;
  if (isGood) {
    return canTheftsChange || chance > mostChance(input) ||
      thresholds.some(({ passed }) => !passed);
  }
  return (canTheftsChange || input.thefts.length === 0) && chance <= mostChance(input) &&
    thresholds.every(({ passed }) => passed) && canGetEvidence(input);
}

function extremes(input: UnfinishedInput, which: "best" | "worst") {
  const metrics = pairedMetrics(input.pairs);
  const lone = loneByCategory(input);
  for (const side of ["candidate", "baseline"] as const) {
    const isHigh = (side === "candidate") === (which === "best");
    for (const category of CATEGORIES) {
      const { correct, total } = lone[side][category];
      const more = input.left[side][category] + (isHigh ? correct : total - correct);
      for (const sum of [metrics[side][category], metrics[side].overall]) {
        sum.total += more;
        if (isHigh) sum.correct += more;
      }
    }
  }
  return metrics;
}

/** Each run to come can turn one prompt of its category, and there are only so many prompts. */
function extremeChance(
  { pairs, prompts }: UnfinishedInput,
  toCome: (category: PromptCategory) => number,
  which: "best" | "worst",
): number {
  let [better, worse] = [0, 0];
  for (const category of CATEGORIES) {
    const signs = pairs.filter((pair) => pair.category === category).map(signOf);
    const up = signs.filter((sign) => (which === "best" ? sign > 0 : sign < 0)).length;
    const down = signs.filter((sign) => (which === "best" ? sign < 0 : sign > 0)).length;
    const leftDown = down - Math.min(down, toCome(category));
    const mostUp = Math.min(up + toCome(category), prompts[category] - leftDown);
    const [more, less] = which === "best" ? [mostUp, leftDown] : [leftDown, mostUp];
    better += more;
    worse += less;
  }
  return signTest(better, worse);
}

function canGetEvidence(input: UnfinishedInput): boolean {
  const most = (side: "candidate" | "baseline"): CategoryScores => {
    const metrics = noMetrics();
    for (const category of CATEGORIES) {
      metrics[category].total = input[side][category].total + input.left[side][category];
    }
    return metrics;
  };
  return missingCategories(most("candidate"), most("baseline")).length === 0;
}
