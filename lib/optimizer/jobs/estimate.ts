import {
  CANONICAL,
  CATEGORIES,
  type EvalRun,
  type JobOptions,
  modelRef,
  type PromptCategory,
} from "../../core/optimization.ts";
import {
  chooseCandidates,
  choosePrompts,
  DEPTHS,
  firstWritten,
  missingPrompts,
  mostSiblingPrompts,
  roundsOf,
  wantedPrompts,
  withHeldOut,
  writtenInView,
} from "../evaluation/selection.ts";
import type { JobEstimate } from "../../core/job_outcome.ts";
import { counted } from "../../core/text.ts";
import { familyOfModel } from "../../core/model_family.ts";
import { alphaForAll } from "../evaluation/claims.ts";
import { alphaOf, leastGain } from "../evaluation/evidence.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
import { byCategory } from "../evaluation/metrics.ts";
import { CHILDREN, LEARNED, SHARES } from "../evaluation/procedure.ts";
import { USUAL_FRESH } from "../evaluation/state.ts";
import { MOST_SIBLINGS } from "../targets.ts";
import { hasJointTest, mostJointRuns } from "./joint.ts";
import { candidatesInForce } from "./models.ts";
import type { JobsOptions } from "./run.ts";
import type { SelectedTool } from "./selection.ts";

const MOST_MEASURED = 200;
const GUESSED_RUN_MS = 8_000;
/** A text of some length takes longer than the choice of a tool. */
const GENERATION_RUNS = 2;

export function estimateJob(input: {
  options: JobOptions;
  tools: readonly ToolData[];
  recent: readonly EvalRun[];
  /** Those that would be asked; empty if none can be. */
  evaluators: readonly AskedModel[];
  concurrency: number;
}): JobEstimate {
  const { options, tools, concurrency, evaluators } = input;
  const models = Math.max(1, evaluators.length);
  const each = tools.map((tool) => forecastOf(tool, options, tools.length));
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const within = (runs: number) => Math.min(options.maxRuns ?? Infinity, runs);
  const hasJoint = options.depth === "thorough" && options.autoPromote && hasJointTest(options);
  const joint = hasJoint ? mostJointRuns(tools, models) : 0;
  const runs = within(joint + models * sum(each.map((one) => one.mostRuns)));
  const usual = within(models * sum(each.map((one) => one.usualRuns)));
  const generations = sum(each.map((one) => one.generations));
  const measured = evaluators.map((evaluator) => measuredOf(evaluator, input.recent));
  const requests = GENERATION_RUNS * generations;
  // Texts are written by the first model, one after the other; runs are made side by side.
  const ms = (at: number) => measured[at]?.runMs ?? GUESSED_RUN_MS;
  const runMs = measured.reduce((all, one) => all + one.runMs, 0) / models || GUESSED_RUN_MS;
  const seconds = Math.ceil((usual / concurrency * runMs + requests * ms(0)) / 1_000);
  return {
    tools: tools.length,
    runs,
    seconds,
    costUsd: costOf(measured, { runs: usual / models, requests, most: options.maxCostUsd }),
    basis: [
      powerText(each, options, evaluators),
      ...(roundsOf(options) > 1 ? [`candidates written in up to ${roundsOf(options)} rounds`] : []),
      `${usual < runs ? `usually about ${usual} runs, ` : ""}at most ${counted(runs, "run")}` +
      `${models > 1 ? ` with ${models} models` : ""} and ` +
      `${counted(generations, "request")} to generate text`,
      basisOf(measured),
    ].join("; "),
  };
}

type AskedModel = Pick<Evaluator, "kind" | "model" | "price">;

/** What a run with a model takes, as far as earlier runs and its price say. */
function measuredOf(evaluator: AskedModel, recent: readonly EvalRun[]) {
  const { kind, model, price } = evaluator;
  const ofKind = recent.filter((run) => run.status === "ok" && run.evaluator === kind);
  // Older runs lack what was asked.
  const own = ofKind.filter(({ askedModel = model }) => askedModel === model)
    .slice(0, MOST_MEASURED);
  const runs = own.length > 0 ? own : ofKind.slice(0, MOST_MEASURED);
  const durations = runs.map(({ result }) => result.durationMs).sort((a, b) => a - b);
  const mean = (values: number[]) => values.reduce((all, one) => all + one, 0) / values.length;
  const costs = own.flatMap(({ cost }) => cost.costUsd ?? []);
  const tokens = (which: "inputTokens" | "outputTokens") =>
    mean(runs.map((run) => run.cost[which]));
  return {
    evaluator,
    runs: runs.length,
    runMs: durations[Math.floor(durations.length / 2)] ?? GUESSED_RUN_MS,
    /** In USD; undefined if it is not known. */
    cost: costs.length > 0
      ? mean(costs)
      : price && runs.length > 0
      ? (tokens("inputTokens") * price.input + tokens("outputTokens") * price.output) / 1e6
      : undefined,
  };
}

type MeasuredModel = ReturnType<typeof measuredOf>;

/** What the prompts can tell, before anything is spent. */
function powerText(
  each: readonly TestForecast[],
  options: JobOptions,
  evaluators: readonly AskedModel[],
): string {
  if (options.check) return "tests the descriptions in use";
  if (options.depth === "quick") return "proposes candidates and confirms none";
  const models = evaluators.map((one) => ({
    id: modelRef(one),
    family: familyOfModel(one.model),
  }));
  const affordable = Math.floor(
    (options.maxRuns ?? Infinity) / Math.max(1, each.length) / Math.max(1, models.length),
  );
  const powers = each.map(({ fresh, screenRuns, descriptions, alpha, before }) => {
    const prompts = Math.min(fresh, Math.max(0, (affordable - screenRuns) / descriptions));
    return {
      prompts: Math.floor(prompts),
      gain: leastGain(prompts, alphaForAll(models, alpha * SHARES[0]!), before),
    };
  });
  // The tool with the lowest power determines the estimate.
  const weakest = powers.reduce((one, other) =>
    one.prompts !== other.prompts
      ? one.prompts < other.prompts ? one : other
      : (one.gain ?? Infinity) >= (other.gain ?? Infinity)
      ? one
      : other
  );
  const place = `with ${counted(weakest.prompts, "prompt")}${each.length > 1 ? " per tool" : ""}`;
  return weakest.gain === undefined
    ? `cannot find any gain ${place}`
    : `can find gains of ${counted(weakest.gain, "point")} or more ${place}`;
}

/** Null if the cost of one of the models is not known. */
function costOf(
  measured: readonly MeasuredModel[],
  { runs, requests, most }: { runs: number; requests: number; most: number | undefined },
): number | null {
  const costs = measured.map(({ cost }, at) =>
    cost === undefined ? undefined : cost * (runs + (at === 0 ? requests : 0))
  );
  if (costs.length === 0 || costs.includes(undefined)) return null;
  return Math.min(costs.reduce<number>((all, one) => all + (one ?? 0), 0), most ?? Infinity);
}

function basisOf(measured: readonly MeasuredModel[]): string {
  const guess = `assuming ${GUESSED_RUN_MS / 1_000} s per run, because`;
  if (measured.length === 0) return `${guess} no evaluator is available`;
  const nameOf = ({ evaluator }: MeasuredModel) =>
    measured.length > 1 ? modelRef(evaluator) : evaluator.kind;
  const known = measured.filter(({ runs }) => runs > 0)
    .map((one) => `${counted(one.runs, "run")} with ${nameOf(one)}`);
  return [
    ...(known.length > 0 ? [`time and cost based on the last ${known.join(" and ")}`] : []),
    ...measured.filter(({ runs }) => runs === 0)
      .map((one) => `${guess} no run with ${nameOf(one)} has been measured yet`),
  ].join("; ");
}

export type ToolData = Awaited<ReturnType<typeof readToolData>>[number];
type TestForecast = ReturnType<typeof forecastOf>;

/** What a tool would be tested with, as far as that is known before anything is written. */
export function forecastOf(stock: ToolData, options: JobOptions, tools = 1) {
  const saved = stock.candidates;
  const chosen = chooseCandidates({ ...stock, saved, options });
  const isCheck = options.check === true;
  const candidates = isCheck ? 0 : chosen.candidates.length + chosen.missing;
  const further = isCheck ? 0 : Math.max(0, roundsOf(options) - 1);
  const wanted = wantedPrompts(options, stock.prompts, candidates + further);
  const known = writtenInView(saved, chosen.candidates);
  const held = withHeldOut(stock.prompts, wanted, known, stock.writtenAt);
  const missing = missingPrompts(held, wanted);
  const prompts = choosePrompts(held, wanted);
  const isThorough = options.depth === "thorough";
  const sum = (of: (category: PromptCategory) => number) =>
    CATEGORIES.reduce((all, category) => all + of(category), 0);
  const isMissingPrompts = options.generate && sum((category) => missing[category].all) > 0;
  const repeats = options.repeats ?? DEPTHS[options.depth].repeats;
  const inForce = new Set([stock.inForce ?? [], ...Object.values(stock.ofFamily)].flat());
  // Each model is asked about what all clients get, and about what its family's get.
  const baselines = 1 + (isCheck ? 0 : Math.min(2, inForce.size));
  const siblingPrompts = isCheck ? 0 : stock.siblingPrompts;
  const fresh = !isThorough
    ? 0
    : options.generate
    ? CATEGORIES.length * (options.promptsPerCategory ?? DEPTHS.thorough.promptsPerCategory)
    : prompts.filter(({ heldOut }) => heldOut).length + stock.siblingPrompts;
  const screened = sum((category) => wanted[category].all - wanted[category].heldOut);
  const screenRuns = isThorough
    ? candidates > 1 ? screened * candidates * repeats : 0
    : (screened + siblingPrompts) * (candidates + baselines) * repeats;
  // Before the first candidates are written; a quick evaluation asks the same prompts anyway.
  const learned = isThorough && chosen.missing > 0 ? Math.min(LEARNED, screened) * repeats : 0;
  const furtherRuns = further * CHILDREN * repeats *
    (isThorough ? screened : screened + siblingPrompts);
  const descriptions = (1 + baselines) * repeats;
  // A second candidate is put to the same prompts, where the first fails.
  const attempts = fresh * (descriptions + (candidates > 1 ? repeats : 0)) +
    (isThorough && !isCheck ? siblingPrompts * 2 * repeats : 0);
  const bare = isThorough && options.generate ? stock.bareSiblings : 0;
  return {
    prompts,
    wanted,
    /** Fresh prompts that can be asked. */
    fresh,
    screenRuns: learned + screenRuns,
    /** Runs for one fresh prompt. */
    descriptions,
    mostRuns: learned + screenRuns + furtherRuns + attempts,
    usualRuns: learned + screenRuns + Math.min(fresh, USUAL_FRESH) * descriptions,
    alpha: alphaOf({
      earlier: stock.tests.map(({ endedAt }) => endedAt),
      now: Date.now(),
      tools,
      promoted: 0,
    }),
    /** How often the description in force was right when it was last tested. */
    before: ratesBefore(stock),
    candidates,
    generations: isCheck
      ? 0
      : (isMissingPrompts ? 1 : 0) + (chosen.missing > 0 ? 1 : 0) + further + bare,
  };
}

function ratesBefore(
  { evaluations, inForce, canonical }: ToolData,
): Record<PromptCategory, number> | undefined {
  const tested =
    evaluations.flatMap(({ results, void: voided }) =>
      voided !== undefined
        ? []
        : results.find(({ candidateId, description }) =>
          inForce === undefined
            ? candidateId === CANONICAL && description === canonical
            : candidateId === inForce
        ) ?? []
    )[0];
  if (!tested || CATEGORIES.some((category) => tested.metrics[category].total === 0)) {
    return undefined;
  }
  // Towards a half, where chance disturbs most: a few prompts say little.
  return byCategory((category) => {
    const { correct, total } = tested.metrics[category];
    return (correct + 1) / (total + 2);
  });
}

export async function readToolData(
  { targets, prompts, candidates, evaluations, promotions }: JobsOptions,
  tools: readonly SelectedTool[],
  { generate, depth }: Pick<JobOptions, "generate" | "depth">,
  evaluators: readonly { model: string }[],
) {
  const servers = new Map(
    await Promise.all([...new Set(tools.map(({ server }) => server))].map(async (server) => {
      const listed = evaluations.list(server);
      const [allPrompts, versions, allCandidates, allEvaluations, allTests] = await Promise.all([
        prompts.list(server),
        prompts.all(server),
        candidates.list(server),
        listed,
        evaluations.tests(server, undefined, listed),
      ]);
      const writtenAt = firstWritten(versions);
      return [server, { allPrompts, writtenAt, allCandidates, allEvaluations, allTests }] as const;
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
      parameters: target.parameters,
      prompts: stock.allPrompts.filter(isOwn),
      writtenAt: stock.writtenAt,
      siblingPrompts: mostSiblingPrompts(asked.length, depth),
      /** Siblings that have no prompts, and get some. */
      bareSiblings: Math.max(0, Math.min(MOST_SIBLINGS, target.siblings.length) - asked.length),
      candidates: stock.allCandidates.filter(isOwn),
      evaluations: stock.allEvaluations.filter(isOwn),
      tests: stock.allTests.filter(isOwn),
      ...candidatesInForce(promotions, target, evaluators),
    }];
  });
}
