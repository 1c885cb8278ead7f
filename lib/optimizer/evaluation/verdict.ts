import {
  CANONICAL,
  CATEGORIES,
  type CategoryScores,
  type Depth,
  type PromptCategory,
  type SuccessCount,
  type Thresholds,
  type Verdict,
} from "../../core/optimization.ts";
import { ModelFamily } from "../../core/model_family.ts";
import { defined } from "../../core/defined.ts";
import { counted } from "../../core/text.ts";
import type { Theft } from "./confusion.ts";
import type { GainEstimate } from "./evidence.ts";
import {
  byCategory,
  gainTextOf,
  OVER_PROMOTED,
  pairedMetrics,
  pairedSigns,
  pointsText,
  type PromptPair,
  scoreText,
  settingTexts,
  shortScore,
} from "./metrics.ts";
import type { Attempt } from "./procedure.ts";

/** What the spec asks in a category. */
const USUAL_PROMPTS = 5;
/** Siblings' prompts of which a candidate may take this share more than the description before it. */
const THEFT_MARGIN = 0.15;

export interface VerdictInput {
  depth: Depth;
  candidate: CategoryScores;
  baseline: CategoryScores;
  thresholds: Thresholds;
  thefts: readonly Theft[];
  /** What decides: only prompts that were put to both descriptions can compare them. */
  pairs: readonly PromptPair[];
  isReported?: boolean;
  beside?: number;
  setting?: string | undefined;
  /** Against another description than the canonical one: pairs, and whose they are. */
  inForce?: readonly PromptPair[] | undefined;
}

interface Sides<T> {
  candidate: Record<PromptCategory, T>;
  baseline: Record<PromptCategory, T>;
}

const IN_FORCE = "of the promoted one";

/**
 * What a look at prompts comes to that writers and selection may know: the best that it can do is to
 * propose a candidate. Only fresh prompts confirm one (`confirmedVerdict`).
 */
export function judge(input: VerdictInput): Verdict {
  const rules = verdictRules(input);
  const failed = rules.filter(({ passed }) => !passed);
  const evidence = evidenceText(input);
  const common = { promote: false, depth: input.depth, evidence, rules };
  if (failed.length === 0) {
    const words = `Proposed, not confirmed: ${evidence}. Evaluate it at the depth thorough to ` +
      "confirm it on prompts that nobody has seen.";
    return { ...common, words, proposed: true };
  }
  const reasons = failed.map(({ words }) => words).join("; ");
  const moreRuns = failed.every(({ rule }) => rule === "evidence") ? runsLacking(input) : undefined;
  const start = moreRuns === undefined
    ? `Do not promote: ${reasons}`
    : `Do not promote, not enough evidence: ${counted(moreRuns, "more run")} needed; ${reasons}`;
  return {
    ...common,
    words: `${start}; ${evidence}.`,
    ...(moreRuns === undefined ? {} : { moreRuns }),
  };
}

/** What the test on fresh prompts came to for a candidate. */
export interface ConfirmedInput extends VerdictInput {
  attempt: Attempt;
  /** Fresh prompts were all used, and no more can be written. */
  morePrompts: number;
}

/**
 * Evidence says whether a candidate is better. The thresholds are policy on top: where they refuse a
 * confirmed gain, the verdict says so, and a person can accept it.
 */
export function confirmedVerdict(input: ConfirmedInput): Verdict {
  const { attempt, depth } = input;
  const paired = pairedMetrics(input.pairs);
  const rules = [testRule(attempt, input.pairs), harmRule(attempt, input.thefts)];
  const policy = [
    ...thresholdRules(paired.candidate, paired.baseline, input.thresholds),
    ...againstInForce(input),
  ];
  const evidence = evidenceText(input, worstGain(attempt));
  const { gain, over } = worstGain(attempt);
  const families = attempt.families?.map((family) => ModelFamily.parse(family));
  const common = {
    depth,
    evidence,
    rules: [...rules, ...policy],
    gain,
    ...defined({ gainOver: over }),
    confirmed: attempt.outcome === "confirmed" && !input.thefts.some(isTheft),
  };
  const textOf = (failed: Rule[]) => failed.map(({ words }) => words).join("; ");
  const isThief = input.thefts.some(isTheft);
  if (attempt.outcome === "undecided" && !isThief) {
    const words = `Do not promote, not enough evidence: ${textOf(rules.filter(isFailed))}; ` +
      `${evidence}. About ${counted(input.morePrompts, "more prompt")} would tell.`;
    const moreRuns = input.morePrompts * (1 + Object.keys(attempt.gains).length);
    return { ...common, promote: false, words, moreRuns, morePrompts: input.morePrompts };
  }
  if (attempt.outcome !== "confirmed" || isThief) {
    const words = `Do not promote: ${textOf(rules.filter(isFailed))}; ${evidence}.`;
    return { ...common, promote: false, words };
  }
  const refused = policy.filter(isFailed);
  if (families !== undefined) {
    const names = `${families.join(" and ")} models`;
    const words = refused.length === 0
      ? `Promote for ${names} only: confirmed for them, ${evidence}.`
      : `Better with ${names}, but not by your thresholds: ${
        textOf(refused)
      }; confirmed for them, ` +
        `${evidence}. A person can accept it.`;
    return { ...common, promote: false, proposed: true, families, words };
  }
  if (refused.length === 0) {
    return { ...common, promote: true, words: `Promote: confirmed, ${evidence}.` };
  }
  const words = `Better, but not by your thresholds: ${textOf(refused)}; confirmed, ${evidence}. ` +
    "A person can accept it.";
  return { ...common, promote: false, proposed: true, words };
}

/** The families of models that a candidate may be promoted for by itself, if not for all. */
export function promotableFamilies(verdict: Verdict | undefined): readonly ModelFamily[] {
  const { families = [], rules = [], promote = false } = verdict ?? {};
  return promote || rules.some(isFailed) ? [] : families;
}

/** For a candidate that was not tested on fresh prompts because others did better before that. */
export function screenedOut(input: Pick<VerdictInput, "depth" | "candidate">): Verdict {
  const words =
    `Do not promote: other candidates did better in the screening, where this one had ` +
    `${scoreText(input.candidate.overall)}`;
  return {
    promote: false,
    depth: input.depth,
    words: `${words}.`,
    rules: [{ rule: "significance", passed: false, words }],
  };
}

function isFailed({ passed }: Rule): boolean {
  return !passed;
}

/** Whether it says no, and not that there is too little evidence or that a person may decide. */
export function isRefuted(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && !verdict.promote && !verdict.proposed &&
    verdict.moreRuns === undefined;
}

export function verdictRules(input: VerdictInput): Rule[] {
  const { candidate, baseline } = pairedMetrics(input.pairs);
  return [
    evidenceRule(input, candidate, baseline),
    ...thresholdRules(candidate, baseline, input.thresholds),
    ...againstInForce(input),
    siblingsRule(input.thefts),
  ];
}

/** The rules that compare, for the description in force. */
function againstInForce({ inForce, thresholds }: VerdictInput): Rule[] {
  if (inForce === undefined) return [];
  if (inForce.length === 0) {
    const words = "no prompt was tested with both this description and the promoted one";
    return [{ rule: "improvement", passed: false, words }];
  }
  const { candidate, baseline } = pairedMetrics(inForce);
  return thresholdRules(candidate, baseline, thresholds, IN_FORCE)
    .filter(({ rule }) => rule === "improvement" || rule === "regression");
}

interface WorstGain {
  gain: GainEstimate;
  over?: string | undefined;
}

/** The gain over the description that it beats by less. */
export function worstGain({ gains }: Pick<Attempt, "gains">): WorstGain {
  const [id, gain] = Object.entries(gains)
    .reduce((worst, one) => one[1].mean < worst[1].mean ? one : worst);
  return { gain, over: id === CANONICAL ? undefined : OVER_PROMOTED };
}

function testRule({ outcome, log, needed }: Attempt, pairs: readonly PromptPair[]): Rule {
  const { better, worse, ties } = pairedSigns(pairs);
  const words = `better on ${counted(better, "prompt")}, worse on ${worse}, same on ${ties} ` +
    `(evidence ${oddsText(log)}, ${oddsText(needed)} needed)`;
  return { rule: "significance", passed: outcome === "confirmed" || log >= needed, words };
}

/** How much likelier a gain is than chance, as bets on it pay: "120 to 1". */
function oddsText(log: number): string {
  if (log > Math.log(MILLION)) return "over a million to 1";
  return `${log < 0 ? "under 1" : Math.round(Math.exp(log))} to 1`;
}

function harmRule({ outcome, log, needed }: Attempt, thefts: readonly Theft[]): Rule {
  const of = (passed: boolean, words: string): Rule => ({ rule: "siblings", passed, words });
  const taken = theftText(thefts);
  const margin = `the ${pointsText(THEFT_MARGIN)} margin`;
  if (thefts.some(isTheft)) return of(false, taken);
  if (outcome === "harm") {
    return of(
      false,
      `it may be worse on some prompts than ${margin} allows${taken && `: ${taken}`}`,
    );
  }
  if (outcome === "undecided" && log >= needed) {
    return of(false, `there are too few prompts to rule out harm beyond ${margin}`);
  }
  return of(true, `no harm beyond ${margin} was found${taken && ` (${taken})`}`);
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

/** A model strays now and then: what counts is whether it takes clearly more than before. */
function siblingsRule(thefts: readonly Theft[]): Rule {
  const net = thefts.reduce((sum, { stolen, returned = 0 }) => sum + stolen - returned, 0);
  const of = thefts.reduce((sum, theft) => sum + theft.of, 0);
  return {
    rule: "siblings",
    passed: net <= Math.max(1, THEFT_MARGIN * of) && !thefts.some(isTheft),
    words: theftText(thefts) || "steals no prompts meant for other tools",
  };
}

/** It takes half of what one sibling has, however little that is of all prompts: of a few, more. */
function isTheft({ stolen, returned = 0, of }: Theft): boolean {
  const net = stolen - returned;
  return net >= 3 ? 2 * net >= of : net === 2 && of < 4;
}

function theftText(thefts: readonly Theft[]): string {
  return thefts.filter(({ stolen }) => stolen > 0).map(({ tool, stolen, of, model }) =>
    `steals ${stolen} of ${counted(of, "prompt")} meant for "${tool}"` +
    (model === undefined ? "" : ` with ${model}`)
  ).join("; ");
}

function evidenceText(input: VerdictInput, tested?: WorstGain): string {
  const { pairs, depth } = input;
  const { candidate, baseline } = pairedMetrics(pairs);
  const counts = CATEGORIES.map((category) =>
    `${pairs.filter((pair) => pair.category === category).length} ${category}`
  );
  const runs = candidate.overall.total + baseline.overall.total;
  const lone = loneRuns(input);
  const gain = gainTextOf(
    { gain: tested?.gain, gainOver: tested?.over },
    baseline.overall,
    candidate.overall,
  );
  return `${depth} evidence from ${counted(pairs.length, "prompt")} ` +
    `(${counts.join(", ")}; ${counted(runs, "run")} of both descriptions` +
    `${lone > 0 ? `, ${lone} without a counterpart not counted` : ""}` +
    `${input.isReported ? ", reported by a client" : ""}` +
    `${settingTexts(input).map((text) => `; ${text}`).join("")}): ` +
    `overall ${scoreText(candidate.overall)}, before ${scoreText(baseline.overall)}` +
    (gain ? `, gain ${gain}` : "");
}

/** What is lacking of both descriptions on the same prompts. */
function runsLacking(input: VerdictInput): number | undefined {
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
  // Reported runs never replace the gateway's own measurements, however many there are.
  return counterparts + prompts * runsPerPrompt || undefined;
}

function loneByCategory(input: VerdictInput): Sides<SuccessCount> {
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
