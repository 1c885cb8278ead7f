import { defined } from "../../core/defined.ts";
import { GatewayError } from "../../core/errors.ts";
import {
  CANONICAL,
  CATEGORIES,
  type EvalRun,
  type Evaluation,
  type JobOptions,
  textHash,
  type ToolText,
} from "../../core/optimization.ts";
import { textOf } from "../../core/tool_text.ts";
import { TRIAL_LIMITS, type TrialLimits } from "../evaluation/procedure.ts";
import { DEPTHS, roundsOf } from "../evaluation/selection.ts";
import { errorsIn } from "../evaluation/metrics.ts";
import { modelOf } from "../evaluation/result.ts";
import { evaluate } from "../evaluation/run.ts";
import type { JobContext } from "./run.ts";
import { shownBeside, toolsetOf } from "./selection.ts";
import { idsOf, type Preparation, writeFresh } from "./prepare.ts";
import { jointIds } from "./joint.ts";
import { NothingCanWork } from "./models.ts";
import { writeRound } from "./round.ts";
import { countedRun, takeRun, toolAt, withTool } from "./record.ts";
import { addCosts } from "../cost.ts";
import { searchRanking } from "../evaluation/search_ranks.ts";
import type { Target } from "../targets.ts";

const MOST_NAMED = 3;

export async function evaluateForJob(
  context: JobContext,
  index: number,
  { id, target, test }: { id: string; target: Target; test: Preparation },
): Promise<Evaluation> {
  const { options, record, budget } = context;
  const { server, toolName } = toolAt(record.job, index);
  const { depth, repeats, thresholds, promptsPerCategory, generate, view, strict } =
    record.job.options;
  const setting = settingOf(record.job.options);
  const { beside, only } = shownBeside(options.targets, record.job, server);
  await using discovery = record.job.options.surface === "discovery"
    ? options.openDiscovery(server, toolName)
    : undefined;
  // There every tool can be found.
  const reachable = discovery
    ? options.targets.tools().filter((tool) => tool.enabled && tool.server !== server)
    : beside;
  const { check = false } = record.job.options;
  const ofFamily = [...new Map([...test.ofFamily.values()].map((one) => [one.id, one])).values()];
  const isTested = (candidateId: string) => test.candidates.some(({ id }) => id === candidateId);
  const canonical: ToolText = { description: target.canonicalDescription ?? "" };
  const descriptions = [
    // A check is about what clients see now.
    ...(check && test.inForce ? [] : [{ candidateId: CANONICAL, ...canonical }]),
    ...(test.inForce
      ? [{ candidateId: test.inForce.id, ...textOf(test.inForce), isBaseline: true }]
      : []),
    ...test.candidates.map((candidate) => ({ candidateId: candidate.id, ...textOf(candidate) })),
    ...ofFamily.filter(({ id }) => id !== test.inForce?.id && !isTested(id))
      .map((candidate) => ({
        candidateId: candidate.id,
        ...textOf(candidate),
        isOfFamily: true,
      })),
  ];
  const { finished, asked } = await finishedRuns(context, {
    ...{ id, server, toolName, beside, test, setting },
  });
  // All at once, so that each is shown among the same tools, whatever changes meanwhile.
  const shown = new Map(descriptions.map((text) => [
    textHash(text),
    options.targets.shown(server, toolName, text, reachable, only),
  ]));
  for (const tools of shown.values()) {
    // Runs from before a restart were made beside all of them.
    const names = new Set(tools.map((tool) => `${tool.server}.${tool.tool}`));
    const gone = beside.map((one) => `${one.server}.${one.tool}`)
      .filter((name) => !names.has(name));
    if (gone.length > 0) throw toolsGone(`${server}.${toolName}`, gone);
  }
  const own = shown.get(textHash(canonical)) ?? [];
  /** Among the tools that the others are shown with, however these have changed since. */
  const showWritten = (text: ToolText) => {
    const now = options.targets.shown(server, toolName, text, reachable);
    const written = now.find(({ name }) => name === target.flatName);
    shown.set(textHash(text), own.map((tool) => tool.name === written?.name ? written : tool));
  };
  const ranksOf = searchRanking(options.targets.searched(), target);
  const { evaluation, lasting } = await evaluate({
    id,
    ofFamily: idsOf(test.ofFamily),
    ...defined({
      retryDelayMs: options.retryDelayMs,
      write: generate && depth === "thorough"
        ? () => writeFresh(context, index, target)
        : undefined,
      writing: test.writing && { ...test.writing, rounds: roundsOf(record.job.options) },
    }),
    reflect: async (lesson) => {
      const written = await writeRound(context, index, { target, test, lesson });
      for (const candidate of written) showWritten(candidate);
      return written.map((candidate) => ({ candidateId: candidate.id, ...textOf(candidate) }));
    },
    server,
    tool: toolName,
    depth,
    repeats: repeats ?? DEPTHS[depth].repeats,
    thresholds,
    descriptions,
    ownParameters: target.parameters,
    prompts: test.prompts,
    siblingPrompts: test.siblingPrompts,
    alpha: test.alpha,
    limits: limitsOf(promptsPerCategory, asked),
    evaluators: context.evaluators,
    shown: (text) => shown.get(textHash(text)) ?? [],
    target: target.flatName,
    view,
    ...defined({
      openSteps: discovery && ((text: ToolText) => discovery.open(text)),
    }),
    isStrict: strict,
    setting,
    concurrency: options.concurrency,
    finished,
    ranks: (text) => ranksOf(text, test.prompts),
    mayRun: () => takeRun(context),
    save: async (run) => {
      await options.runs.save(run);
      if (run.status === "ok") context.answering.answered(modelOf(run));
      budget.runEnded(run.cost);
      count(context, index, run);
    },
    onProgress: ({ runsTotal, byCategory, currentCandidate }) =>
      record.progress((job) =>
        withTool(job, index, { runsTotal, byCategory, ...defined({ currentCandidate }) })
      ),
    signal: context.signal,
  });
  const whole = { ...evaluation, warnings: [...test.warnings, ...evaluation.warnings] };
  await options.evaluations.save(whole);
  if (lasting !== undefined) throw new NothingCanWork(lasting);
  return whole;
}

/**
 * Its own runs from before a restart, and those of earlier tests of the same candidates: a further
 * test goes on where they ended, with prompts that were not asked yet.
 */
async function finishedRuns(
  { options, record }: JobContext,
  { id, server, toolName, beside, test, setting }: {
    id: string;
    server: string;
    toolName: string;
    beside: readonly { server: string; tool: string }[];
    test: Preparation;
    setting: string | undefined;
  },
): Promise<{ finished: EvalRun[]; asked: number }> {
  const own = await options.runs.list(server, toolName, { evaluationId: id });
  if (record.job.options.depth !== "thorough") return { finished: own, asked: 0 };
  const candidates = new Set(test.candidates.map((candidate) => candidate.id));
  const earlier = (await options.evaluations.list(server, toolName)).filter((one) =>
    one.id !== id && one.depth === "thorough" && one.void === undefined &&
    (one.beside?.length ?? 0) === beside.length && one.setting === setting &&
    one.results.some(({ candidateId }) => candidates.has(candidateId))
  );
  const runs = await Promise.all(
    earlier.map((one) => options.runs.list(server, toolName, { evaluationId: one.id })),
  );
  const fresh = new Set(
    [...test.prompts.filter(({ heldOut }) => heldOut), ...test.siblingPrompts]
      .map((prompt) => prompt.id),
  );
  const known = runs.flat().filter(({ promptId }) => fresh.has(promptId));
  const asked = new Set(
    known.filter(({ candidateId }) => candidates.has(candidateId)).map(({ promptId }) => promptId),
  );
  return { finished: [...own, ...known], asked: asked.size };
}

/** Prompts that earlier tests asked do not count against this one's limit. */
function limitsOf(promptsPerCategory: number | undefined, asked: number): TrialLimits {
  const most = CATEGORIES.length * (promptsPerCategory ?? DEPTHS.thorough.promptsPerCategory);
  return { ...TRIAL_LIMITS, confirm: most + asked, guard: TRIAL_LIMITS.guard + asked };
}

/** Counts a job's runs from the store: its record is written only now and then. */
export async function countFinished({ options, record, budget }: JobContext): Promise<void> {
  const finished = await Promise.all(record.job.tools.map(async (tool) => {
    const { server, toolName, evaluationId } = tool;
    if (tool.plan === undefined) return [];
    return await options.runs.list(server, toolName, { evaluationId });
  }));
  const promoted = record.job.tools.filter((tool) => tool.promotedCandidateId !== undefined);
  const joint = await Promise.all(
    jointIds(record.job).flatMap((evaluationId) =>
      promoted.map((tool) => options.runs.list(tool.server, tool.toolName, { evaluationId }))
    ),
  );
  const runs = [...finished, ...joint].flat();
  const { writingCost } = record.job;
  if (writingCost) budget.spend(writingCost);
  for (const { cost } of runs) budget.runFound(cost);
  budget.resume(record.job.begun ?? 0);
  record.progress((job) => ({
    ...job,
    runs: runs.length,
    errors: errorsIn(runs),
    cost: addCosts(...(writingCost ? [writingCost] : []), ...runs.map(({ cost }) => cost)),
    tools: job.tools.map((tool, at) => ({ ...tool, runsDone: finished[at]?.length ?? 0 })),
  }));
}

function count({ record }: JobContext, index: number, run: EvalRun): void {
  record.progress((job) =>
    countedRun(withTool(job, index, { runsDone: toolAt(job, index).runsDone + 1 }), run)
  );
}

/** What differs from a server's tools that are all shown at once. */
export function settingOf(
  { view, strict, surface }: Pick<JobOptions, "view" | "strict" | "surface">,
): string | undefined {
  const toolset = toolsetOf(surface);
  const parts = [
    ...(toolset === undefined ? [] : [`in toolset "${toolset}"`]),
    ...(surface === "discovery" ? ["found by the gateway's own search"] : []),
    ...(view === "deferred" ? ["deferred behind the client's own tool search"] : []),
    ...(strict ? ["strict scoring"] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

function toolsGone(name: string, gone: readonly string[]): GatewayError {
  const more = gone.length > MOST_NAMED ? ` and ${gone.length - MOST_NAMED} more` : "";
  return new GatewayError("CANNOT_EVALUATE", {
    message: `Cannot test "${name}" with the toolset that was equipped when the ` +
      `job started. No longer available: ${gone.slice(0, MOST_NAMED).join(", ")}${more}`,
    recoveryAction: "Start a new job with the toolset that is equipped now",
  });
}
