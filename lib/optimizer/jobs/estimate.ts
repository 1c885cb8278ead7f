import {
  CATEGORIES,
  type EvalRun,
  type EvaluatorKind,
  type JobEstimate,
  type JobOptions,
  type PromptCategory,
} from "../../core/optimization.ts";
import {
  chooseCandidates,
  choosePrompts,
  CONFIRMED_DESCRIPTIONS,
  DEPTHS,
  firstWritten,
  hasConfirmation,
  missingPrompts,
  mostSiblingPrompts,
  wantedPrompts,
  withHeldOut,
  writtenInView,
} from "../evaluation/selection.ts";
import { counted } from "../../core/text.ts";
import { showsTheft } from "../evaluation/confusion.ts";
import { tooFewPrompts } from "../evaluation/verdict.ts";
import type { JobsOptions } from "./run.ts";
import type { SelectedTool } from "./selection.ts";

const MOST_MEASURED = 200;
const GUESSED_RUN_MS = 8_000;
/** A text of some length takes longer than the choice of a tool. */
const GENERATION_RUNS = 2;
const MOST_NAMED = 3;

export function estimateJob(input: {
  options: JobOptions;
  tools: readonly ToolData[];
  recent: readonly EvalRun[];
  kind: EvaluatorKind | undefined;
  concurrency: number;
}): JobEstimate {
  const { options, tools, concurrency } = input;
  const each = tools.map((tool) => forecastOf(tool, options));
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const runs = Math.min(options.maxRuns ?? Infinity, sum(each.map((one) => runsOf(one, options))));
  const generations = sum(each.map((one) => one.generations));
  const measured = input.recent
    .filter(({ status, evaluator }) => status === "ok" && evaluator === input.kind)
    .slice(0, MOST_MEASURED);
  const durations = measured.map(({ result }) => result.durationMs).sort((a, b) => a - b);
  const runMs = durations[Math.floor(durations.length / 2)] ?? GUESSED_RUN_MS;
  // Texts are written one after the other, runs are made side by side.
  const seconds = Math.ceil((runs / concurrency + GENERATION_RUNS * generations) * runMs / 1_000);
  return {
    tools: tools.length,
    runs,
    seconds,
    costUsd: costOf(measured, runs + GENERATION_RUNS * generations, options.maxCostUsd),
    basis: [
      `at most ${counted(runs, "run")} and ${counted(generations, "request")} to generate text`,
      basisOf(measured.length, input.kind),
      ...(options.depth === "thorough" ? tooFew(tools, each).slice(0, MOST_NAMED) : []),
    ].join("; "),
  };
}

function runsOf({ asked, candidates }: TestForecast, options: JobOptions): number {
  const descriptions = 1 + candidates +
    (hasConfirmation(options, candidates) ? CONFIRMED_DESCRIPTIONS : 0);
  return asked * descriptions * (options.repeats ?? DEPTHS[options.depth].repeats);
}

function tooFew(tools: readonly ToolData[], each: readonly TestForecast[]): string[] {
  return each.flatMap(({ deciding, candidates }, index) => {
    const words = tooFewPrompts(deciding, candidates);
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

function basisOf(measured: number, kind: EvaluatorKind | undefined): string {
  if (measured > 0) {
    return `time and cost based on the last ${counted(measured, "run")} with ${kind}`;
  }
  return `assuming ${GUESSED_RUN_MS / 1_000} s per run, because ` +
    (kind === undefined
      ? "no evaluator is available"
      : `no run with ${kind} has been measured yet`);
}

export type ToolData = Awaited<ReturnType<typeof readToolData>>[number];
type TestForecast = ReturnType<typeof forecastOf>;

/** What a tool would be tested with, as far as that is known before anything is written. */
export function forecastOf(stock: ToolData, options: JobOptions) {
  const saved = stock.candidates;
  const chosen = chooseCandidates({ ...stock, saved, options });
  const wanted = wantedPrompts(options, stock.prompts);
  const known = writtenInView(saved, chosen.candidates);
  const held = withHeldOut(stock.prompts, wanted, known, stock.writtenAt);
  const missing = missingPrompts(held, wanted);
  const prompts = choosePrompts(held, wanted);
  const isThorough = options.depth === "thorough";
  const sum = (of: (category: PromptCategory) => number) =>
    CATEGORIES.reduce((all, category) => all + of(category), 0);
  const deciding = sum((category) => {
    if (!isThorough) return wanted[category].all;
    const there = prompts.filter((prompt) => prompt.heldOut && prompt.category === category).length;
    return there + (options.generate ? missing[category].heldOut : 0);
  });
  const isMissingPrompts = options.generate && sum((category) => missing[category].all) > 0;
  return {
    prompts,
    wanted,
    /** How many prompts would be put to each description at most, siblings' included. */
    asked: deciding + (isThorough ? theftPrompts() : 0) + stock.siblingPrompts,
    deciding,
    candidates: chosen.candidates.length + chosen.missing,
    generations: (isMissingPrompts ? 1 : 0) + (chosen.missing > 0 ? 1 : 0),
  };

  /** Own ones that decide nothing and show what is taken; those that are written name whose they are. */
  function theftPrompts(): number {
    const { all, heldOut } = missing.negative;
    const there = prompts.filter((prompt) => !prompt.heldOut && showsTheft(prompt)).length;
    const most = wanted.negative.all - wanted.negative.heldOut;
    return options.generate ? Math.min(most, there + all - heldOut) : there;
  }
}

export async function readToolData(
  { targets, prompts, candidates, evaluations, promotions }: JobsOptions,
  tools: readonly SelectedTool[],
  { generate }: Pick<JobOptions, "generate">,
) {
  const servers = new Map(
    await Promise.all([...new Set(tools.map(({ server }) => server))].map(async (server) => {
      const [allPrompts, versions, allCandidates, allEvaluations] = await Promise.all([
        prompts.list(server),
        prompts.all(server),
        candidates.list(server),
        evaluations.list(server),
      ]);
      const writtenAt = firstWritten(versions);
      return [server, { allPrompts, writtenAt, allCandidates, allEvaluations }] as const;
    })),
  );
  return tools.flatMap(({ server, tool }) => {
    const target = targets.find(server, tool);
    const stock = servers.get(server);
    if (!target || !stock) return [];
    const isOwn = ({ toolName }: { toolName: string }) => toolName === tool;
    // Prompts of all tools are written before any is tested.
    const asked = target.siblings.filter(({ name }) =>
      stock.allPrompts.some(({ toolName, category }) =>
        toolName === name && category === "direct"
      ) || (generate && tools.some((one) => one.server === server && one.tool === name))
    );
    return [{
      server,
      tool,
      canonical: target.canonicalDescription ?? "",
      prompts: stock.allPrompts.filter(isOwn),
      writtenAt: stock.writtenAt,
      siblingPrompts: mostSiblingPrompts(asked.length),
      candidates: stock.allCandidates.filter(isOwn),
      evaluations: stock.allEvaluations.filter(isOwn),
      inForce: promotions.of(server, tool)?.candidateId,
    }];
  });
}
