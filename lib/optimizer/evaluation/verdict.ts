import {
  CATEGORIES,
  type CategoryScores,
  type Depth,
  type PromptCategory,
  type SuccessCount,
  type Thresholds,
  type Verdict,
} from "../../core/optimization.ts";
import { counted } from "../../core/text.ts";
import type { Theft } from "./confusion.ts";
import {
  besideText,
  byCategory,
  exactTest,
  pairedMetrics,
  pointsText,
  type PromptPair,
  scoreText,
  shortScore,
  signTest,
} from "./metrics.ts";

const MOST_CHANCE = 0.05;
/** What the spec asks in a category. */
const USUAL_PROMPTS = 5;
/** A difference that shows only after so many more prompts is too small to look for. */
const MOST_FURTHER_PROMPTS = 300;

export interface VerdictInput {
  depth: Depth;
  candidate: CategoryScores;
  baseline: CategoryScores;
  thresholds: Thresholds;
  thefts: readonly Theft[];
  /** What decides: only prompts that were put to both descriptions can compare them. */
  pairs: readonly PromptPair[];
  isReported?: boolean;
  candidates?: number;
  beside?: number;
  /** The description that `baseline` belongs to, if not the canonical one. */
  whose?: string;
}

/** Runs to come, or runs of one description that the other has no counterpart for. */
export interface Sides<T> {
  candidate: Record<PromptCategory, T>;
  baseline: Record<PromptCategory, T>;
}

export function judge(input: VerdictInput): Verdict {
  const rules = verdictRules(input);
  const failed = rules.filter(({ passed }) => !passed);
  const evidence = evidenceText(input);
  if (failed.length === 0) {
    const chance = rules.find(({ rule }) => rule === "significance");
    const words = `Promote: ${evidence}${chance ? `; ${chance.words}` : ""}.`;
    return { promote: true, depth: input.depth, words, evidence, rules };
  }
  const reasons = failed.map(({ words }) => words).join("; ");
  const more = failed.every(({ rule }) => rule === "evidence" || rule === "significance")
    ? whatWouldTell(input)
    : undefined;
  const start = more === undefined
    ? `Do not promote: ${reasons}`
    : `Do not promote, not enough evidence: ${lackText(more)} needed; ${reasons}`;
  return {
    promote: false,
    depth: input.depth,
    words: `${start}; ${evidence}.`,
    evidence,
    rules,
    ...more,
  };
}

/** Whether it says no, and not that there is too little evidence. */
export function isRefuted(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && !verdict.promote && verdict.moreRuns === undefined;
}

/** Each rule with its outcome; if all pass, the candidate may be promoted. */
export function verdictRules(input: VerdictInput): Rule[] {
  const { candidate, baseline } = pairedMetrics(input.pairs);
  return [
    evidenceRule(input, candidate, baseline),
    ...thresholdRules(candidate, baseline, input.thresholds, input.whose),
    siblingsRule(input.thefts),
    ...(input.depth === "thorough" ? [significanceRule(input)] : []),
  ];
}

/** How many prompts have to decide at least: with fewer, chance explains it if all are better. */
export function leastDeciding(candidates: number): number {
  let prompts = 1;
  while (signTest(prompts, 0) > mostChance({ candidates })) prompts++;
  return prompts;
}

/** Why nothing can be promoted if too few prompts decide a thorough evaluation. */
export function tooFewPrompts(deciding: number, candidates: number): string | undefined {
  const least = leastDeciding(candidates);
  if (deciding >= least) return undefined;
  const shared = candidates > 1 ? ` for ${candidates} candidates` : "";
  return `only ${
    counted(deciding, "prompt")
  } can decide, but at least ${least} are needed${shared}: ` +
    "with fewer, even a candidate that is better on all of them could be so by chance";
}

/** Of several candidates one is likelier to look good by chance, so that they share what is allowed. */
export function mostChance({ candidates = 1 }: Pick<VerdictInput, "candidates">): number {
  return MOST_CHANCE / Math.max(1, candidates);
}

function evidenceRule(
  input: VerdictInput,
  candidate: CategoryScores,
  baseline: CategoryScores,
): Rule {
  const of = (passed: boolean, words: string): Rule => ({ rule: "evidence", passed, words });
  const missing = missingCategories(candidate, baseline);
  if (missing.length > 0) {
    const kinds = missing.length === CATEGORIES.length ? "" : `${missing.join(" or ")} `;
    return of(false, `no ${kinds}prompts were tested with both descriptions`);
  }
  const lone = loneRuns(input);
  if (input.isReported) {
    return of(
      false,
      lone > 0
        ? `the reported runs are incomplete: ${counted(lone, "run")} without a counterpart for ` +
          "the other description"
        : "the runs were reported by a client, not measured by the gateway",
    );
  }
  const empty = CATEGORIES.filter((category) => candidate[category].total === 0);
  return of(
    true,
    empty.length === 0
      ? "there is data on every category of prompts"
      : `there is data to decide on, but none on ${empty.join(" and ")} prompts`,
  );
}

function siblingsRule(thefts: readonly Theft[]): Rule {
  const words = thefts.map(({ tool, stolen, of }) =>
    `steals ${stolen} of ${counted(of, "prompt")} meant for "${tool}"`
  );
  return {
    rule: "siblings",
    passed: thefts.length === 0,
    words: words.join("; ") ||
      "steals no prompts meant for other tools",
  };
}

function significanceRule(input: VerdictInput): Rule {
  const { candidates = 1 } = input;
  const { better, worse, ties, p } = exactTest(input.pairs);
  const counts = `better on ${counted(better, "prompt")}, worse on ${worse}, same on ${ties}`;
  const chance = p < 0.001 ? "p < 0.001" : `p = ${roundedUp(p, candidates > 1 ? 4 : 3)}`;
  const passed = p <= mostChance(input);
  const shared = candidates > 1 ? ` because ${candidates} candidates share ${MOST_CHANCE}` : "";
  const needed = passed && shared === ""
    ? ""
    : `, at most ${roundedDown(mostChance(input))} needed${shared}`;
  return { rule: "significance", passed, words: `${counts} (${chance}${needed})` };
}

function evidenceText(input: VerdictInput): string {
  const { pairs, depth } = input;
  const { candidate, baseline } = pairedMetrics(pairs);
  const counts = CATEGORIES.map((category) =>
    `${pairs.filter((pair) => pair.category === category).length} ${category}`
  );
  const runs = candidate.overall.total + baseline.overall.total;
  const lone = loneRuns(input);
  return `${depth} evidence from ${counted(pairs.length, "prompt")} ` +
    `(${counts.join(", ")}; ${counted(runs, "run")} of both descriptions` +
    `${lone > 0 ? `, ${lone} without a counterpart not counted` : ""}` +
    `${input.isReported ? ", reported by a client" : ""}` +
    `${input.beside ? `; ${besideText(input.beside)}` : ""}): ` +
    `overall ${scoreText(candidate.overall)}, before ${scoreText(baseline.overall)}`;
}

/** What a verdict lacks: runs, and the prompts that they are for where those are lacking. */
type More = { moreRuns: number } & Pick<Verdict, "morePrompts">;

/** The least at the rates seen so far; undefined where no number is likely to. */
function whatWouldTell(input: VerdictInput): More | undefined {
  const { pairs } = input;
  const paired = pairedMetrics(pairs);
  const runs = paired.candidate.overall.total + paired.baseline.overall.total;
  const runsPerPrompt = pairs.length === 0 ? 2 : Math.ceil(runs / pairs.length);
  const missing = missingCategories(paired.candidate, paired.baseline);
  const lone = loneByCategory(input);
  let [counterparts, prompts] = [0, 0];
  for (const category of CATEGORIES) {
    const unpaired = lone.candidate[category].total + lone.baseline[category].total;
    const isMissing = missing.includes(category);
    if (unpaired > 0 && (input.isReported || isMissing)) counterparts += unpaired;
    else if (isMissing) prompts += USUAL_PROMPTS;
  }
  if (counterparts + prompts > 0) {
    return lacking(input, counterparts + prompts * runsPerPrompt, prompts);
  }
  // Reported runs never replace the gateway's own measurements, however many there are.
  if (input.isReported) return undefined;
  const { better, worse } = exactTest(pairs);
  for (let further = 1; further <= MOST_FURTHER_PROMPTS; further++) {
    const growth = 1 + further / pairs.length;
    // Rounded to the candidate's disadvantage: a promise of too few would be broken. The hair
    // keeps a product such as 3 * (1 + 1 / 3) whole.
    const p = signTest(Math.floor(better * growth + 1e-9), Math.ceil(worse * growth - 1e-9));
    if (p <= mostChance(input)) return lacking(input, further * runsPerPrompt, further);
  }
  return undefined;
}

/** Repeats of prompts that decided already tell a thorough evaluation nothing. */
function lacking({ depth }: VerdictInput, moreRuns: number, prompts: number): More {
  return { moreRuns, ...(depth === "thorough" && prompts > 0 ? { morePrompts: prompts } : {}) };
}

function lackText({ moreRuns, morePrompts }: More): string {
  if (morePrompts === undefined) return counted(moreRuns, "more run");
  return `${counted(morePrompts, "more prompt")} hidden from ` +
    `the candidates' author (${counted(moreRuns, "run")})`;
}

export function loneByCategory(input: VerdictInput): Sides<SuccessCount> {
  const paired = pairedMetrics(input.pairs);
  const of = (side: "candidate" | "baseline") =>
    byCategory((category) => {
      const [all, used] = [input[side][category], paired[side][category]];
      const correct = Math.max(0, all.correct - used.correct);
      const wrong = Math.max(0, all.total - all.correct - (used.total - used.correct));
      return { correct, total: correct + wrong };
    });
  return { candidate: of("candidate"), baseline: of("baseline") };
}

function loneRuns(input: VerdictInput): number {
  const lone = loneByCategory(input);
  return [...Object.values(lone.candidate), ...Object.values(lone.baseline)]
    .reduce((sum, { total }) => sum + total, 0);
}

/** Never shows more certainty than there is: 0.0504 is not 0.05. */
function roundedUp(p: number, digits: number): string {
  return String(Math.ceil(p * 10 ** digits - 1e-9) / 10 ** digits);
}

function roundedDown(p: number): string {
  return String(Math.floor(p * 10_000 + 1e-9) / 10_000);
}

export type Rule = Verdict["rules"][number];

/** Thresholds are whole millionths, compared by multiplying counts, so that no rounding decides. */
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
  const aim = `the ${millionths(threshold) / 10_000} % minimum`;
  return {
    rule,
    passed,
    words: passed
      ? `${rule} ${shortScore(score)} meets ${aim}`
      : `${rule} ${shortScore(score)} is below ${aim} (${needed} needed)`,
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
    ? `overall ${shortScore(score)} is ${pointsText(difference)} above ${than} ` +
      `(minimum: ${pointsText(gain)})`
    : needed > score.total
    ? `overall ${shortScore(score)} cannot be ${pointsText(gain)} above ${than}, ` +
      "which is too close to the maximum"
    : `overall ${shortScore(score)} is not ${pointsText(gain)} above ${than} ` +
      `(${needed} needed)`;
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
      `${category} ${shortScore(score)} is more than ${pointsText(loss)} below the ` +
        `${shortScore(before)} ${whose} (${needed} needed)`,
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

function reach(correct: number, numerator: number, denominator: number) {
  return {
    passed: correct * denominator >= numerator,
    needed: Math.max(0, Math.ceil(numerator / denominator)),
  };
}

function millionths(threshold: number): number {
  return Math.round(threshold * MILLION);
}
