import {
  CATEGORIES,
  type EvalRun,
  type Evaluation,
  type EvaluatorKind,
  type GoldenPrompt,
  type JobOptions,
  type ToolCandidate,
} from "../core/optimization.ts";
import { chooseCandidates } from "./candidate_selection.ts";
import { DEPTHS } from "./depths.ts";
import { missingPrompts, wantedPrompts } from "./prompt_selection.ts";

/** How many of the newest runs an estimate rests on. */
const MOST_MEASURED = 200;
const GUESSED_RUN_MS = 8_000;
/** A text of some length takes longer than the choice of a tool. */
const GENERATION_RUNS = 2;

export interface JobEstimate {
  tools: number;
  /** At most: an evaluation stops early where it can. */
  runs: number;
  seconds: number;
  /** Null where nothing is known about prices. */
  costUsd: number | null;
  /** In words: measured on so many runs, or a guess. */
  basis: string;
}

/** What there is of one tool. */
export interface ToolStock {
  canonical: string;
  prompts: readonly GoldenPrompt[];
  /** How many prompts of siblings are put to it beside its own. */
  siblingPrompts: number;
  candidates: readonly ToolCandidate[];
  evaluations: readonly Evaluation[];
  inForce?: string | undefined;
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
  const each = tools.map((tool) => countRequests(tool, options));
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const runs = Math.min(options.maxRuns ?? Infinity, sum(each.map((count) => count.runs)));
  const generations = sum(each.map((count) => count.generations));
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
    basis: basisOf(measured.length, input.kind, runs, generations),
  };
}

function countRequests(
  tool: ToolStock,
  options: JobOptions,
): { runs: number; generations: number } {
  const wanted = wantedPrompts(options, tool.prompts);
  const missing = missingPrompts(tool.prompts, wanted);
  const chosen = chooseCandidates({
    saved: tool.candidates,
    canonical: tool.canonical,
    options,
    inForce: tool.inForce,
    evaluations: tool.evaluations,
  });
  const prompts = CATEGORIES.reduce((all, category) => all + wanted[category].all, 0);
  const candidates = chosen.candidates.length + chosen.missing;
  // The best of several is put to the same prompts once more, and so is the server's own.
  const isConfirmed = options.depth === "quick" && options.autoPromote && candidates > 1;
  const descriptions = 1 + candidates + (isConfirmed ? 2 : 0);
  const isMissingPrompts = options.generate &&
    CATEGORIES.some((category) => missing[category].all > 0);
  return {
    runs: (prompts + tool.siblingPrompts) * descriptions *
      (options.repeats ?? DEPTHS[options.depth].repeats),
    generations: (isMissingPrompts ? 1 : 0) + (chosen.missing > 0 ? 1 : 0),
  };
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
