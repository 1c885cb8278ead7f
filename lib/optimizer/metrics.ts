import {
  CATEGORIES,
  type EvalRun,
  type GoldenPrompt,
  type Metrics,
  type PromptCategory,
  type Score,
} from "../core/optimization.ts";

/** The normal quantile of a two-sided 95 % interval. */
const Z = 1.959963984540054;

/** What the lack of each category leaves unknown. */
const UNKNOWN: Record<PromptCategory, string> = {
  direct: "nothing shows whether the tool is called when it is asked for",
  indirect: "nothing shows whether the tool is called when its use must be inferred",
  negative: "there is no data on precision (not 0 %), and nothing can be promoted by itself",
};

/** Rates in the shape of the spec; null: no data. */
export interface SpecMetrics {
  directSuccess: number | null;
  indirectSuccess: number | null;
  negativeSuccess: number | null;
  overall: number | null;
}

/** Names one version of a prompt. */
export function promptKey(id: string, version: number): string {
  return `${version} ${id}`;
}

export function noMetrics(): Metrics {
  const none = (): Score => ({ correct: 0, total: 0 });
  return { direct: none(), indirect: none(), negative: none(), overall: none() };
}

/** Counts what went well; runs that ended in an error, or whose prompt is not among these, say nothing. */
export function countRuns(
  runs: readonly EvalRun[],
  prompts: readonly GoldenPrompt[],
): Metrics {
  const categories = new Map(
    prompts.map(({ id, version, category }) => [promptKey(id, version), category]),
  );
  const scores = new Map<string, { category: PromptCategory; score: Score }>();
  for (const run of runs) {
    const key = promptKey(run.promptId, run.promptVersion);
    const category = categories.get(key);
    if (run.status !== "ok" || category === undefined) continue;
    const { score } = scores.get(key) ?? { score: { correct: 0, total: 0 } };
    score.total++;
    if (run.result.correct) score.correct++;
    scores.set(key, { category, score });
  }
  return sumOf(scores.values());
}

/** The sum of what single prompts came to. */
export function sumOf(
  prompts: Iterable<{ category: PromptCategory; score: Score }>,
): Metrics {
  const metrics = noMetrics();
  const counts = { direct: 0, indirect: 0, negative: 0, overall: 0 };
  for (const { category, score } of prompts) {
    for (const name of [category, "overall"] as const) {
      metrics[name].correct += score.correct;
      metrics[name].total += score.total;
      counts[name]++;
    }
  }
  for (const name of [...CATEGORIES, "overall"] as const) {
    if (counts[name] < metrics[name].total) metrics[name].prompts = counts[name];
  }
  return metrics;
}

/** How many prompts have runs that count. */
export function promptsIn({ total, prompts = total }: Score): number {
  return prompts;
}

/** Null: no data. */
export function rateOf({ correct, total }: Score): number | null {
  return total === 0 ? null : correct / total;
}

/**
 * The 95 % Wilson score interval: stays within 0 and 1, and holds for small counts too. Repeats of
 * one prompt are not independent, so that prompts are counted, not runs.
 */
export function wilson(
  { correct, total, prompts: n = total }: Score,
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
export function percent(score: Score): string {
  return score.total === 0 ? "no data" : `${wholePercent(score)} %`;
}

/** "13/15 (87 %)" or "no data". */
export function shortScore(score: Score): string {
  return score.total === 0 ? "no data" : `${score.correct}/${score.total} (${percent(score)})`;
}

/** "13/15 (87 %, 95 % interval 62-96 %)" or "no data". */
export function scoreText(score: Score): string {
  const interval = wilson(score);
  if (!interval) return "no data";
  const [low, high] = [interval.low, interval.high].map((end) => Math.round(100 * end));
  return `${score.correct}/${score.total} (${percent(score)}, 95 % interval ${low}-${high} %)`;
}

/** One for each category that nothing asks about. */
export function emptyCategoryWarnings(prompts: readonly GoldenPrompt[]): string[] {
  const asked = new Set(prompts.filter(({ retired }) => !retired).map(({ category }) => category));
  return CATEGORIES.filter((category) => !asked.has(category)).map((category) =>
    `Warning: No ${category} prompts defined - ${UNKNOWN[category]}`
  );
}

export function specMetrics(metrics: Metrics): SpecMetrics {
  return {
    directSuccess: rateOf(metrics.direct),
    indirectSuccess: rateOf(metrics.indirect),
    negativeSuccess: rateOf(metrics.negative),
    overall: rateOf(metrics.overall),
  };
}

/** 199 of 200 must not read as all, nor 1 of 300 as none. */
function wholePercent({ correct, total }: Score): number {
  const rounded = Math.round(100 * correct / total);
  if (correct === 0 || correct === total) return rounded;
  return Math.min(99, Math.max(1, rounded));
}
