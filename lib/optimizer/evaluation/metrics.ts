import {
  CATEGORIES,
  type CategoryScores,
  type DescriptionResult,
  type EvalRun,
  type GoldenPrompt,
  MissedBy,
  type ModelResult,
  type PromptCategory,
  type SuccessCount,
  type Verdict,
} from "../../core/optimization.ts";
import { counted } from "../../core/text.ts";

/** The normal quantile of a two-sided 95 % interval. */
const Z = 1.959963984540054;

export const SCORES = [...CATEGORIES, "overall"] as const;

const UNKNOWN: Record<PromptCategory, string> = {
  direct: "nothing shows whether the tool is called when it is asked for",
  indirect: "nothing shows whether the tool is called when its use must be inferred",
  negative: "there is no data on precision (not 0 %), and nothing is promoted automatically",
};

export function promptKey(id: string, version: number): string {
  return `${version} ${id}`;
}

export function byCategory<T>(valueOf: (category: PromptCategory) => T): Record<PromptCategory, T> {
  return {
    direct: valueOf("direct"),
    indirect: valueOf("indirect"),
    negative: valueOf("negative"),
  };
}

export function noMetrics(): CategoryScores {
  const none = (): SuccessCount => ({ correct: 0, total: 0 });
  return { ...byCategory(none), overall: none() };
}

export function errorsIn(runs: readonly EvalRun[]): number {
  return runs.filter(({ status }) => status === "error").length;
}

/** Counts what went well; runs that ended in an error, or whose prompt is not among these, say nothing. */
export function countRuns(
  runs: readonly EvalRun[],
  prompts: readonly GoldenPrompt[],
): CategoryScores {
  const categories = new Map(
    prompts.map(({ id, version, category }) => [promptKey(id, version), category]),
  );
  return sumOf(
    [...scoresByPrompt(runs)].flatMap(([key, score]) => {
      const category = categories.get(key);
      return category === undefined ? [] : [{ category, score }];
    }),
  );
}

export function sumOf(
  prompts: Iterable<{ category: PromptCategory; score: SuccessCount }>,
): CategoryScores {
  const metrics = noMetrics();
  const counts = { direct: 0, indirect: 0, negative: 0, overall: 0 };
  for (const { category, score } of prompts) {
    for (const name of [category, "overall"] as const) {
      metrics[name].correct += score.correct;
      metrics[name].total += score.total;
      counts[name]++;
    }
  }
  for (const name of SCORES) {
    if (counts[name] < metrics[name].total) metrics[name].prompts = counts[name];
  }
  return metrics;
}

export function promptsIn({ total, prompts = total }: SuccessCount): number {
  return prompts;
}

export function rateOf({ correct, total }: SuccessCount): number | null {
  return total === 0 ? null : correct / total;
}

/** The 95 % Wilson score interval, over prompts: repeats of one prompt are not independent. */
export function wilson(
  { correct, total, prompts: n = total }: SuccessCount,
): { low: number; high: number } | undefined {
  if (total === 0) return undefined;
  const rate = correct / total;
  const weight = 1 + Z * Z / n;
  const center = (rate + Z * Z / (2 * n)) / weight;
  const half = Z / weight * Math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n));
  return {
    // Exact at the ends, where floats would miss them by a hair.
    low: correct === 0 ? 0 : Math.max(0, center - half),
    high: correct === total ? 1 : Math.min(1, center + half),
  };
}

/** "87 %" or "no data". */
export function percent(score: SuccessCount): string {
  return score.total === 0 ? "no data" : `${wholePercent(score)} %`;
}

/** "13/15", or "39/45 runs" if prompts were run more than once. */
function countText({ correct, total, prompts }: SuccessCount): string {
  return `${correct}/${total}${prompts === undefined ? "" : " runs"}`;
}

/** "13/15 (87 %)" or "no data". */
export function shortScore(score: SuccessCount): string {
  return score.total === 0 ? "no data" : `${countText(score)} (${percent(score)})`;
}

/** "13/15 (87 %, 95 % interval 62-96 %)" or "no data". */
export function scoreText(score: SuccessCount): string {
  const interval = wilson(score);
  if (!interval) return "no data";
  const [low, high] = [interval.low, interval.high].map((end) => Math.round(100 * end));
  return `${countText(score)} (${percent(score)}, 95 % interval ${low}-${high} %)`;
}

/** "claude-cli:sonnet: overall 9/15 (60 %, ...) -> 14/15 (93 %, ...), +33 points (...)" */
export function modelText({ model, metrics, baseline, gain }: ModelResult): string {
  const after = scoreText(metrics.overall);
  if (!baseline) return `${model}: overall ${after}`;
  const words = gainTextOf({ gain }, baseline.overall, metrics.overall);
  return `${model}: overall ${scoreText(baseline.overall)} -> ${after}${words ? `, ${words}` : ""}`;
}

/** A difference of two rates with its 95 % interval. */
export interface RateGain {
  mean: number;
  low: number;
  high: number;
}

/**
 * The difference of two rates; undefined if either has no data. The interval is Newcombe's, from both
 * Wilson intervals. It treats the two as independent: on the same prompts it is a little too wide.
 */
export function gainOf(
  before: SuccessCount | undefined,
  after: SuccessCount | undefined,
): RateGain | undefined {
  const [was, is] = [before && wilson(before), after && wilson(after)];
  if (!before || !after || !was || !is) return undefined;
  const [from, to] = [before.correct / before.total, after.correct / after.total];
  return {
    mean: to - from,
    low: to - from - Math.hypot(to - is.low, was.high - from),
    high: to - from + Math.hypot(is.high - to, from - was.low),
  };
}

/** Of several tools together, each counted alike. */
export function averageGain(gains: readonly RateGain[]): RateGain | undefined {
  if (gains.length === 0) return undefined;
  const mean = gains.reduce((sum, gain) => sum + gain.mean, 0) / gains.length;
  const side = (end: "low" | "high") =>
    Math.hypot(...gains.map((gain) => gain[end] - gain.mean)) / gains.length;
  return { mean, low: mean - side("low"), high: mean + side("high") };
}

/** "+8 points (95 % interval -4 to 21)" */
export function gainPoints({ mean, low, high }: RateGain): string {
  const [from, to] = [low, high].map((end) => Math.round(100 * end) || 0);
  const sign = mean > 0 ? "+" : "";
  return `${sign}${pointsText(mean)} (95 % interval ${from} to ${to})`;
}

/**
 * A gain that a test found. Its mean counts direct, indirect and negative prompts alike, however many
 * of each were asked, so it can be far from the difference of two overall rates beside it.
 */
export function testedGainText(gain: RateGain, over?: string): string {
  return `${gainPoints(gain)}, with each category counted alike` +
    (over === undefined ? "" : `, over ${over}`);
}

/** The gain that a test found, else the difference of the overall rates. */
export function gainTextOf(
  { gain, gainOver }: Pick<Verdict, "gain" | "gainOver">,
  before: SuccessCount | undefined,
  after: SuccessCount | undefined,
): string | undefined {
  if (gain) return testedGainText(gain, gainOver);
  const plain = gainOf(before, after);
  return plain && gainPoints(plain);
}

/** What a gain is over, where that is not the server's own description. */
export const OVER_PROMOTED = "the promoted description";

export function pointsText(fraction: number): string {
  return counted(Math.round(fraction * 1_000) / 10, "point");
}

/** How the tools were shown, if not as usual: "alongside 2 tools of other servers". */
export function settingTexts(
  { beside = 0, setting }: { beside?: number | undefined; setting?: string | undefined },
): string[] {
  return [
    ...(beside === 0 ? [] : [
      beside === 1
        ? "alongside 1 tool of another server"
        : `alongside ${beside} tools of other servers`,
    ]),
    ...(setting === undefined ? [] : [setting]),
  ];
}

const MISSED: Record<MissedBy, string> = {
  "not-searched": "never searched",
  "not-found": "searched, but not found",
  "not-called": "found, but not called",
};

/** "3 never searched, 1 found, but not called" of what should have called it; empty if all did. */
export function missedText(missed: DescriptionResult["missed"] = {}): string {
  return MissedBy.options.flatMap((why) =>
    missed[why] === undefined ? [] : [`${missed[why]} ${MISSED[why]}`]
  ).join("; ");
}

/** "2 calls with arguments that do not fit the schema"; empty if all fit. */
export function argumentsText({ invalid = 0, unexpected = 0 }: ArgumentCounts = {}): string {
  return [
    ...(invalid === 0 ? [] : [`${invalid} with arguments that do not fit the schema`]),
    ...(unexpected === 0 ? [] : [`${unexpected} with other arguments than expected`]),
  ].join("; ");
}

type ArgumentCounts = NonNullable<DescriptionResult["arguments"]>;

export function emptyCategoryWarnings(prompts: readonly GoldenPrompt[]): string[] {
  const asked = new Set(prompts.filter(({ retired }) => !retired).map(({ category }) => category));
  return CATEGORIES.filter((category) => !asked.has(category)).map((category) =>
    `Warning: No ${category} prompts defined - ${UNKNOWN[category]}`
  );
}

/** Rates in the shape of the spec; null: no data. */
export function specMetrics(metrics: CategoryScores) {
  return {
    directSuccess: rateOf(metrics.direct),
    indirectSuccess: rateOf(metrics.indirect),
    negativeSuccess: rateOf(metrics.negative),
    overall: rateOf(metrics.overall),
  };
}

/** 199 of 200 must not read as all, nor 1 of 300 as none. */
function wholePercent({ correct, total }: SuccessCount): number {
  const rounded = Math.round(100 * correct / total);
  if (correct === 0 || correct === total) return rounded;
  return Math.min(99, Math.max(1, rounded));
}

export interface PromptPair {
  promptId: string;
  category: PromptCategory;
  candidate: SuccessCount;
  baseline: SuccessCount;
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

export function pairedMetrics(
  pairs: readonly PromptPair[],
): { candidate: CategoryScores; baseline: CategoryScores } {
  const of = (side: "candidate" | "baseline") =>
    sumOf(pairs.map((pair) => ({ category: pair.category, score: pair[side] })));
  return { candidate: of("candidate"), baseline: of("baseline") };
}

/** On how many prompts the candidate did better, worse and the same. */
export function pairedSigns(
  pairs: readonly PromptPair[],
): { better: number; worse: number; ties: number } {
  // Multiplied out, since the two sides may have been asked a different number of times.
  const signs = pairs.map(({ candidate, baseline }) =>
    Math.sign(candidate.correct * baseline.total - baseline.correct * candidate.total)
  );
  const better = signs.filter((sign) => sign > 0).length;
  const worse = signs.filter((sign) => sign < 0).length;
  return { better, worse, ties: pairs.length - better - worse };
}

export function scoresByPrompt(
  runs: readonly EvalRun[],
  isSuccess = ({ result }: EvalRun) => result.correct,
): Map<string, SuccessCount> {
  const scores = new Map<string, SuccessCount>();
  for (const run of runs) {
    if (run.status !== "ok") continue;
    const key = promptKey(run.promptId, run.promptVersion);
    const score = scores.get(key) ?? { correct: 0, total: 0 };
    score.total++;
    if (isSuccess(run)) score.correct++;
    scores.set(key, score);
  }
  return scores;
}
