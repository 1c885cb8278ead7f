import type { SuccessCount } from "../../core/optimization.ts";
import type { TaskComparison, TaskRun } from "../../core/task_comparison.ts";
import { csvField } from "../../core/text.ts";
import { gainOf, gainPoints, type RateGain, scoreText } from "../evaluation/metrics.ts";
import { addCosts, costText, knownCost } from "../cost.ts";

/** What is compared besides success, for one run; less is better. */
export const MEASURES = ["inputTokens", "outputTokens", "turns", "durationMs", "costUsd"] as const;
export type Measure = typeof MEASURES[number];

export interface SetUpResult {
  setup: string;
  /** Over runs; the interval counts tasks, since runs of one task are not independent. */
  success: SuccessCount;
  errors: number;
  /** Means of the runs that count; null where nothing is known. */
  means: Record<Measure, number | null>;
  totalCostUsd: number | null;
}

/** A set-up against the first one, on tasks that both have runs of. */
export interface SetUpDifference {
  setup: string;
  baseline: string;
  tasks: number;
  success: RateGain | null;
  measures: Record<Measure, MeanDifference | null>;
}

/** The mean over tasks of the differences of their means; the interval needs two tasks. */
export interface MeanDifference {
  mean: number;
  low: number | null;
  high: number | null;
}

export interface ComparisonResult {
  setups: SetUpResult[];
  differences: SetUpDifference[];
  tasks: { task: string; setups: { setup: string; correct: number; total: number }[] }[];
}

export function comparisonResult(
  { options: { setups }, tasks }: Pick<TaskComparison, "options" | "tasks">,
  runs: readonly TaskRun[],
): ComparisonResult {
  const counted = runs.filter(({ status }) => status !== "error");
  const of = (setup: string, task?: string) =>
    counted.filter((run) => run.setup === setup && (task === undefined || run.task === task));
  const names = tasks.map(({ name }) => name);
  return {
    setups: setups.map((setup) => setUpResult(setup, runs.filter((run) => run.setup === setup))),
    differences: setups.slice(1).map((setup) => {
      const pairs = names.map((task) => [of(setups[0]!, task), of(setup, task)] as const)
        .filter(([before, after]) => before.length > 0 && after.length > 0);
      return differenceOf({ setup, baseline: setups[0]!, pairs });
    }),
    tasks: names.map((task) => ({
      task,
      setups: setups.map((setup) => {
        const { correct, total } = successOf(of(setup, task));
        return { setup, correct, total };
      }),
    })),
  };
}

function setUpResult(setup: string, runs: readonly TaskRun[]): SetUpResult {
  const counted = runs.filter(({ status }) => status !== "error");
  const means = Object.fromEntries(
    MEASURES.map((measure) => [measure, meanOf(counted, measure)]),
  ) as SetUpResult["means"];
  const { costUsd } = knownCost([addCosts(...runs.map(({ cost }) => cost))]);
  return {
    setup,
    success: successOf(counted),
    errors: runs.length - counted.length,
    means,
    totalCostUsd: runs.length === 0 ? 0 : costUsd,
  };
}

type Pair = readonly [before: readonly TaskRun[], after: readonly TaskRun[]];

function differenceOf(
  { setup, baseline, pairs }: { setup: string; baseline: string; pairs: readonly Pair[] },
): SetUpDifference {
  const [before, after] = [pairs.flatMap(([runs]) => runs), pairs.flatMap(([, runs]) => runs)];
  const measures = Object.fromEntries(MEASURES.map((measure) => {
    const differences = pairs.flatMap(([before, after]) => {
      const [was, is] = [meanOf(before, measure), meanOf(after, measure)];
      return was === null || is === null ? [] : is - was;
    });
    return [measure, meanDifference(differences)];
  })) as SetUpDifference["measures"];
  const success = gainOf(successOf(before), successOf(after)) ?? null;
  return { setup, baseline, tasks: pairs.length, success, measures };
}

function successOf(runs: readonly TaskRun[]): SuccessCount {
  return {
    correct: runs.filter(({ status }) => status === "success").length,
    total: runs.length,
    prompts: new Set(runs.map(({ task }) => task)).size,
  };
}

function meanOf(runs: readonly TaskRun[], measure: Measure): number | null {
  const values = runs.flatMap((run) => {
    const { inputTokens, outputTokens, costUsd } = run.cost;
    return { ...run, inputTokens, outputTokens, costUsd }[measure] ?? [];
  });
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Quantiles of Student's t for a two-sided 95 % interval, by degrees of freedom from 1. */
const T95 = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228],
  ...[2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086],
  ...[2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];

export function meanDifference(differences: readonly number[]): MeanDifference | null {
  const n = differences.length;
  if (n === 0) return null;
  const mean = differences.reduce((sum, one) => sum + one, 0) / n;
  if (n === 1) return { mean, low: null, high: null };
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1);
  // Beyond 30 the quantile of 30 is a little too wide.
  const half = (T95[Math.min(n - 1, T95.length) - 1] ?? 0) * Math.sqrt(variance / n);
  return { mean, low: mean - half, high: mean + half };
}

export const MEASURE_NAMES: Record<Measure, string> = {
  inputTokens: "Tokens in",
  outputTokens: "Tokens out",
  turns: "Turns",
  durationMs: "Duration",
  costUsd: "Cost",
};

export function measureText(measure: Measure, value: number | null): string {
  if (value === null) return "not known";
  if (measure === "costUsd") return costText({ costUsd: value });
  if (measure === "durationMs") return `${(value / 1_000).toFixed(1)} s`;
  return measure === "turns" ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}

/** "+1,200 (95 % interval 900 to 1,500)". */
export function differenceText(measure: Measure, found: MeanDifference | null): string {
  if (found === null) return "not known";
  const signed = (value: number) => {
    const text = measureText(measure, Math.abs(value));
    return /[1-9]/.test(text) ? `${value < 0 ? "-" : "+"}${text}` : text;
  };
  const { mean, low, high } = found;
  if (low === null || high === null) return `${signed(mean)} (one task: no interval)`;
  return `${signed(mean)} (95 % interval ${signed(low)} to ${signed(high)})`;
}

export function successText({ success, errors }: SetUpResult): string {
  const text = scoreText(success);
  return errors === 0 ? text : `${text}, ${errors} ${errors === 1 ? "error" : "errors"}`;
}

export function successGainText(gain: RateGain | null): string {
  return gain === null ? "no data" : gainPoints(gain);
}

export function comparisonMarkdown(comparison: TaskComparison, result: ComparisonResult): string {
  const { setups, differences, tasks } = result;
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
    [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
  const names = MEASURES.map((measure) => MEASURE_NAMES[measure]);
  return [
    `# Comparison ${comparison.id}`,
    `${comparison.status}, ${comparison.done} of ${comparison.total} runs, model ` +
    `${comparison.model}, ${comparison.createdAt}. Servers: ${comparison.servers.join(", ")}.`,
    ...comparison.warnings.map((warning) => `- ${warning}`),
    "## By set-up, means of one run",
    table(
      ["Set-up", "Success", ...names],
      setups.map((one) => [
        one.setup,
        successText(one),
        ...MEASURES.map((measure) => measureText(measure, one.means[measure])),
      ]),
    ),
    "## Differences, paired by task",
    table(
      ["Set-up", "Success", ...names],
      differences.map(({ setup, baseline, success, measures }) => [
        `${setup} - ${baseline}`,
        successGainText(success),
        ...MEASURES.map((measure) => differenceText(measure, measures[measure])),
      ]),
    ),
    "## By task",
    table(
      ["Task", ...setups.map(({ setup }) => setup)],
      tasks.map(({ task, setups }) => [
        task,
        ...setups.map(({ correct, total }) => `${correct}/${total}`),
      ]),
    ),
    "",
  ].join("\n\n");
}

export function comparisonCsv(runs: readonly TaskRun[]): string {
  const head = [
    ...["task", "setup", "repeat", "status", "reason", "turns", "duration_ms"],
    ...["input_tokens", "output_tokens", "cost_usd", "calls"],
  ];
  const rows = runs.map((run) => [
    ...[run.task, run.setup, run.repeat + 1, run.status, run.reason, run.turns, run.durationMs],
    ...[run.cost.inputTokens, run.cost.outputTokens, run.cost.costUsd],
    run.calls.map(({ tool, failed }) => failed ? `${tool} (failed)` : tool).join(" "),
  ]);
  return [head, ...rows].map((row) => `${row.map(csvField).join(",")}\n`).join("");
}
