import type { EvalRun, EvaluatorKind, JobOptions } from "../core/optimization.ts";
import { CONFIRMED_DESCRIPTIONS, hasConfirmation } from "./confirmation.ts";
import { DEPTHS } from "./depths.ts";
import { forecastOf, type TestForecast, type ToolStock } from "./test_forecast.ts";
import { tooFewWords } from "./verdict.ts";

/** How many of the newest runs an estimate rests on. */
const MOST_MEASURED = 200;
const GUESSED_RUN_MS = 8_000;
/** A text of some length takes longer than the choice of a tool. */
const GENERATION_RUNS = 2;
/** A job may have hundreds of tools. */
const MOST_TOLD = 3;

export interface JobEstimate {
  tools: number;
  /** At most: an evaluation stops early where it can. */
  runs: number;
  seconds: number;
  /** Null where nothing is known about prices. */
  costUsd: number | null;
  /** In words: measured on so many runs, or a guess; and where it is too little to tell anything. */
  basis: string;
}

export interface EstimateInput {
  options: JobOptions;
  tools: readonly ToolStock[];
  /** Newest first, of all kinds. */
  recent: readonly EvalRun[];
  /** Undefined where there is no evaluator now. */
  kind: EvaluatorKind | undefined;
  concurrency: number;
}

export function estimateJob(input: EstimateInput): JobEstimate {
  const { options, tools, concurrency } = input;
  const each = tools.map((tool) => forecastOf(tool, options));
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const runs = Math.min(options.maxRuns ?? Infinity, sum(each.map((one) => runsOf(one, options))));
  const generations = sum(each.map((one) => one.generations));
  const measured = input.recent
    .filter(({ status, evaluator }) => status === "ok" && evaluator === input.kind)
    .slice(0, MOST_MEASURED);
  const runMs = median(measured.map(({ result }) => result.durationMs)) ?? GUESSED_RUN_MS;
  // Texts are written one after the other, runs are made side by side.
  const seconds = Math.ceil((runs / concurrency + GENERATION_RUNS * generations) * runMs / 1_000);
  return {
    tools: tools.length,
    runs,
    seconds,
    costUsd: costOf(measured, runs + GENERATION_RUNS * generations, options.maxCostUsd),
    basis: [
      basisOf(measured.length, input.kind, runs, generations),
      ...(options.depth === "thorough" ? tooFew(tools, each).slice(0, MOST_TOLD) : []),
    ].join("; "),
  };
}

function runsOf({ asked, candidates }: TestForecast, options: JobOptions): number {
  const descriptions = 1 + candidates +
    (hasConfirmation(options, candidates) ? CONFIRMED_DESCRIPTIONS : 0);
  return asked * descriptions * (options.repeats ?? DEPTHS[options.depth].repeats);
}

/** Of tools where so few prompts decide that nothing can come of it. */
function tooFew(tools: readonly ToolStock[], each: readonly TestForecast[]): string[] {
  return each.flatMap(({ deciding, candidates }, index) => {
    const words = tooFewWords(deciding, candidates);
    const { server, tool } = tools[index] ?? { server: "", tool: "" };
    return words === undefined ? [] : [`for ${server}.${tool}: ${words}`];
  });
}

function costOf(
  measured: readonly EvalRun[],
  requests: number,
  most: number | undefined,
): number | null {
  const prices = measured.flatMap(({ cost }) => cost.costUsd ?? []);
  if (prices.length === 0) return null;
  const mean = prices.reduce((all, price) => all + price, 0) / prices.length;
  return Math.min(mean * requests, most ?? Infinity);
}

function basisOf(
  measured: number,
  kind: EvaluatorKind | undefined,
  runs: number,
  generations: number,
): string {
  const work = `at most ${runs} ${runs === 1 ? "run" : "runs"} and ${generations} ` +
    `${generations === 1 ? "request" : "requests"} for texts`;
  if (measured > 0) {
    return `${work}; time and cost measured on the last ${measured} ` +
      `${measured === 1 ? "run" : "runs"} with ${kind}`;
  }
  return `${work}; a guess of ${GUESSED_RUN_MS / 1_000} s a run, since ` +
    (kind === undefined
      ? "there is no evaluator here now"
      : `no run with ${kind} has been measured yet`);
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
