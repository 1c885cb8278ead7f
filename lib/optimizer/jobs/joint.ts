import {
  CANONICAL,
  CATEGORIES,
  type EvalRun,
  type GoldenPrompt,
  type JobOptions,
  type JointTest,
  modelRef,
  type OptimizationJob,
  type SuccessCount,
  type ToolText,
} from "../../core/optimization.ts";
import { familyOfModel } from "../../core/model_family.ts";
import { counted } from "../../core/text.ts";
import { estimateGain, type PairedCounts, promptsOf as promptsIn } from "../evaluation/evidence.ts";
import { TRIAL_LIMITS } from "../evaluation/procedure.ts";
import { percent, promptKey, testedGainText } from "../evaluation/metrics.ts";
import { modelOf } from "../evaluation/result.ts";
import { runOf, runWithRetries } from "../evaluation/run.ts";
import { takeTurns } from "../evaluation/selection.ts";
import type { Evaluator, ShownTool } from "../evaluators/evaluator.ts";
import { NothingCanWork } from "./models.ts";
import { countedRun, takeRun } from "./record.ts";
import type { JobContext } from "./run.ts";
import { shownBeside } from "./selection.ts";

/** Prompts of each tool, and of all of them. */
const PROMPTS_OF_TOOL = 12;
const MOST_PROMPTS = 120;

/** Runs that the joint tests of a job may take. */
export function mostJointRuns(tools: readonly { server: string }[], models = 1): number {
  const servers = Map.groupBy(tools, ({ server }) => server);
  return [...servers.values()].filter(({ length }) => length > 1)
    .reduce(
      (sum, own) => sum + 2 * models * Math.min(MOST_PROMPTS, PROMPTS_OF_TOOL * own.length),
      0,
    );
}

/**
 * Each promotion was tested with the texts that its siblings had before. After several, all of them
 * together are put to prompts of all these tools, against the server's own texts.
 */
export async function testTogether(context: JobContext): Promise<void> {
  const { record, signal } = context;
  if (!hasJointTest(record.job.options)) return;
  const promoted = record.job.tools.filter((tool) => tool.promotedCandidateId !== undefined);
  for (const [server, tools] of Map.groupBy(promoted, (tool) => tool.server)) {
    const isDone = record.job.joint?.some((one) => one.server === server);
    if (tools.length < 2 || isDone) continue;
    const joint = await testServer(context, server, tools.map(({ toolName }) => toolName));
    signal.throwIfAborted();
    if (joint) await record.step((job) => ({ ...job, joint: [...job.joint ?? [], joint] }));
  }
}

/** Discovery shows no tools side by side: each was found beside all others as they are. */
export function hasJointTest({ surface }: Pick<JobOptions, "surface">): boolean {
  return surface !== "discovery";
}

/** Which texts a run was shown: the server's own, or the promoted ones. */
const SIDES = ["before", "after"] as const;
type Side = typeof SIDES[number];

/** Which evaluations the runs of a job's joint tests belong to, also after a restart. */
export function jointIds(job: OptimizationJob): string[] {
  return SIDES.map((side) => jointId(job, side));
}

// Not by candidate: a tool without a promotion for a model's family has its own text on both sides.
function jointId({ id }: OptimizationJob, side: Side): string {
  return `joint-${id}-${side}`;
}

/** What a tool has before and after: the id of its candidate, and the text. */
interface JointText extends ToolText {
  candidateId: string;
}

/** The tools as a model gets them, with the texts of those that are tested. */
interface JointField {
  side: Side;
  texts: ReadonlyMap<string, JointText>;
  tools: readonly ShownTool[];
}

async function testServer(
  context: JobContext,
  server: string,
  tools: readonly string[],
): Promise<JointTest | undefined> {
  const { options: { promotions, prompts, targets }, evaluators } = context;
  const own = (tool: string): JointText => ({
    candidateId: CANONICAL,
    description: targets.find(server, tool)?.canonicalDescription ?? "",
  });
  const owns = new Map(tools.map((tool) => [tool, own(tool)]));
  const before = { side: "before", ...fieldOf(context, server, owns) } as const;
  // Each model gets what clients with such a model get.
  const asked = evaluators.flatMap((evaluator) => {
    const family = familyOfModel(evaluator.model);
    const texts = tools.map((tool) =>
      [tool, promotions.of(server, tool, family) ?? promotions.of(server, tool)] as const
    );
    const promoted = texts.filter(([, text]) => text !== undefined);
    if (promoted.length < 2) return [];
    const after = new Map(texts.map(([tool, text]) => [tool, text ?? own(tool)]));
    return [{ evaluator, after: { side: "after", ...fieldOf(context, server, after) } as const }];
  });
  if (asked.length === 0) return undefined;
  const saved = await prompts.list(server);
  const all = takeTurns(tools.map((tool) => promptsOf(saved, tool))).slice(0, MOST_PROMPTS);
  const counts: [PairedCounts, PairedCounts] = [
    { wins: 0, losses: 0, ties: 0 },
    { wins: 0, losses: 0, ties: 0 },
  ];
  const scores: { before: SuccessCount; after: SuccessCount } = {
    before: { correct: 0, total: 0 },
    after: { correct: 0, total: 0 },
  };
  // A prompt counts once, as the mean of all models.
  const share = 1 / asked.length;
  const runner = await JointRunner.open(context, server, tools);
  const pairs = await runner.each(
    all.flatMap((prompt) => asked.map(({ evaluator, after }) => ({ prompt, evaluator, after }))),
    async ({ prompt, evaluator, after }) => {
      const old = await runner.isRight(evaluator, prompt, before);
      // Without a run of one of them there is nothing to compare.
      if (old === undefined) return [];
      const now = await runner.isRight(evaluator, prompt, after);
      return now === undefined ? [] : [{ prompt, old, now }];
    },
  );
  for (const { prompt, old, now } of pairs.flat()) {
    const kind = counts[prompt.category === "negative" ? 1 : 0];
    kind[old === now ? "ties" : now ? "wins" : "losses"] += share;
    scores.before = added(scores.before, old);
    scores.after = added(scores.after, now);
  }
  if (scores.after.total === 0) return undefined;
  const measured = estimateGain(counts);
  const gain = { ...measured, prompts: Math.round(measured.prompts) };
  const isHarmful = gain.mean < 0 ||
    counts.some((one) => one.losses - one.wins > TRIAL_LIMITS.margin * promptsIn(one));
  return { server, tools: [...tools], ...scores, gain, isHarmful };
}

function fieldOf(
  { options: { targets }, record }: JobContext,
  server: string,
  texts: ReadonlyMap<string, JointText>,
): Omit<JointField, "side"> {
  const { beside, only } = shownBeside(targets, record.job, server);
  let tools: readonly ShownTool[] = [];
  for (const [tool, text] of texts) {
    const shown = targets.shown(server, tool, text, beside, only);
    const own = shown.find((one) => one.server === server && one.tool === tool);
    tools = tools.length === 0
      ? shown
      : tools.map((one) => own && one.name === own.name ? own : one);
  }
  return { texts, tools };
}

/** Categories take turns, fresh prompts first. */
function promptsOf(saved: readonly GoldenPrompt[], tool: string): GoldenPrompt[] {
  const own = saved.filter(({ toolName }) => toolName === tool)
    .toSorted((one, other) => Number(other.heldOut) - Number(one.heldOut));
  return takeTurns(CATEGORIES.map((kind) => own.filter(({ category }) => category === kind)))
    .slice(0, PROMPTS_OF_TOOL);
}

/** Makes the runs of a joint test, but for those that were made before a restart. */
class JointRunner {
  readonly #context: JobContext;
  readonly #finished: Map<string, EvalRun>;

  private constructor(context: JobContext, finished: readonly EvalRun[]) {
    this.#context = context;
    this.#finished = new Map(finished.map((run) => [runKey(run, modelOf(run)), run]));
  }

  static async open(context: JobContext, server: string, tools: readonly string[]) {
    const { options: { runs }, record } = context;
    const finished = await Promise.all(
      jointIds(record.job).flatMap((evaluationId) =>
        tools.map((tool) => runs.list(server, tool, { evaluationId }))
      ),
    );
    return new JointRunner(context, finished.flat());
  }

  /** As many at once as the job may. */
  async each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const { concurrency } = this.#context.options;
    const results: R[] = [];
    for (let at = 0; at < items.length; at += concurrency) {
      const batch = await Promise.allSettled(items.slice(at, at + concurrency).map(work));
      for (const one of batch) {
        if (one.status === "rejected") throw one.reason;
        results.push(one.value);
      }
    }
    return results;
  }

  /** Undefined if the run failed, or the budget is used up. */
  async isRight(
    evaluator: Evaluator,
    prompt: GoldenPrompt,
    { side, texts, tools }: JointField,
  ): Promise<boolean | undefined> {
    const { server, toolName, id: promptId, version: promptVersion } = prompt;
    const text = texts.get(toolName);
    const target = tools.find((one) => one.server === server && one.tool === toolName)?.name;
    if (text === undefined || target === undefined) return undefined;
    const { candidateId } = text;
    const evaluationId = jointId(this.#context.record.job, side);
    const known = this.#finished.get(
      runKey({ evaluationId, candidateId, promptId, promptVersion }, modelRef(evaluator)),
    );
    const run = known ??
      await this.#make(evaluator, prompt, { id: evaluationId, text, target, tools });
    return run?.status === "ok" ? run.result.correct : undefined;
  }

  async #make(
    evaluator: Evaluator,
    prompt: GoldenPrompt,
    { id, text, target, tools }: {
      id: string;
      text: JointText;
      target: string;
      tools: readonly ShownTool[];
    },
  ): Promise<EvalRun | undefined> {
    const { options, budget, record, answering, signal } = this.#context;
    const { view, strict: isStrict } = record.job.options;
    if (await takeRun(this.#context) !== undefined) return undefined;
    signal.throwIfAborted();
    const request = { prompt: prompt.prompt, tools, target, view, signal };
    const tried = await runWithRetries(evaluator, request, options.retryDelayMs);
    const { server, toolName: tool } = prompt;
    const run = runOf(
      { id, server, tool, target, isStrict, text, tools },
      { candidateId: text.candidateId, prompt, repeat: 0, evaluator },
      tried,
    );
    await options.runs.save(run);
    budget.runEnded(run.cost);
    record.progress((job) => countedRun(job, run));
    const { observation } = tried;
    const model = modelRef(evaluator);
    if (observation.status === "ok") answering.answered(model);
    else if (observation.isGeneral) throw new NothingCanWork(observation.reason);
    else if (observation.isTimeout) answering.hung(model, observation.reason);
    return run;
  }
}

function runKey(
  { evaluationId, candidateId, promptId, promptVersion }: Pick<
    EvalRun,
    "evaluationId" | "candidateId" | "promptId" | "promptVersion"
  >,
  model: string,
): string {
  return `${evaluationId} ${candidateId} ${promptKey(promptId, promptVersion)} ${model}`;
}

function added({ correct, total }: SuccessCount, isCorrect: boolean): SuccessCount {
  return { correct: correct + Number(isCorrect), total: total + 1 };
}

/** What the promotions of a server came to together. */
export function jointText({ server, tools, before, after, gain, isHarmful }: JointTest): string {
  return `All ${tools.length} promoted descriptions of ${server} together: ${percent(before)} -> ` +
    `${percent(after)} of ${counted(gain.prompts, "prompt")}, ${testedGainText(gain)}` +
    (isHarmful
      ? `. Together they do harm on some kind of prompts: revert ${
        tools.join(", ")
      }, or test them again`
      : "");
}
