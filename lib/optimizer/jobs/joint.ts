import {
  CATEGORIES,
  type GoldenPrompt,
  type JointTest,
  type SuccessCount,
  type ToolText,
} from "../../core/optimization.ts";
import { counted } from "../../core/text.ts";
import { addCosts, spentBy } from "../cost.ts";
import { estimateGain, type PairedCounts, promptsOf as promptsIn } from "../evaluation/evidence.ts";
import { TRIAL_LIMITS } from "../evaluation/procedure.ts";
import { percent, testedGainText } from "../evaluation/metrics.ts";
import { runWithRetries } from "../evaluation/run.ts";
import { takeTurns } from "../evaluation/selection.ts";
import type { Evaluator, ShownTool } from "../evaluators/evaluator.ts";
import type { JobContext } from "./run.ts";

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
  const promoted = record.job.tools.filter((tool) => tool.promotedCandidateId !== undefined);
  for (const [server, tools] of Map.groupBy(promoted, (tool) => tool.server)) {
    const isDone = record.job.joint?.some((one) => one.server === server);
    if (tools.length < 2 || isDone) continue;
    const joint = await testServer(context, server, tools.map(({ toolName }) => toolName));
    signal.throwIfAborted();
    if (joint) await record.step((job) => ({ ...job, joint: [...job.joint ?? [], joint] }));
  }
}

async function testServer(
  context: JobContext,
  server: string,
  tools: readonly string[],
): Promise<JointTest | undefined> {
  const { options: { promotions, prompts, targets, concurrency }, evaluators } = context;
  const inForce = tools.filter((tool) => promotions.of(server, tool) !== undefined);
  if (inForce.length < 2) return undefined;
  const fieldOf = (textOf: (tool: string) => ToolText): ShownTool[] =>
    inForce.reduce((field: readonly ShownTool[], tool) => {
      const shown = targets.shown(server, tool, textOf(tool), []);
      if (field.length === 0) return shown;
      const own = shown.find((one) => one.tool === tool);
      return field.map((one) => own && one.name === own.name ? own : one);
    }, []).slice();
  const ownText = (tool: string): ToolText => ({
    description: targets.find(server, tool)?.canonicalDescription ?? "",
  });
  const before = fieldOf(ownText);
  const after = fieldOf((tool) => promotions.of(server, tool) ?? ownText(tool));
  const saved = await prompts.list(server);
  const asked = takeTurns(inForce.map((tool) => promptsOf(saved, tool))).slice(0, MOST_PROMPTS);
  const counts: [PairedCounts, PairedCounts] = [
    { wins: 0, losses: 0, ties: 0 },
    { wins: 0, losses: 0, ties: 0 },
  ];
  const scores: { before: SuccessCount; after: SuccessCount } = {
    before: { correct: 0, total: 0 },
    after: { correct: 0, total: 0 },
  };
  // A prompt counts once, as the mean of all models.
  const share = 1 / evaluators.length;
  const all = asked.flatMap((prompt) => evaluators.map((evaluator) => ({ prompt, evaluator })));
  for (let at = 0; at < all.length; at += concurrency) {
    const pairs = await Promise.all(
      all.slice(at, at + concurrency).map(async ({ prompt, evaluator }) => {
        const old = await isRight(context, evaluator, prompt, before);
        return { prompt, old, now: await isRight(context, evaluator, prompt, after) };
      }),
    );
    for (const { prompt, old, now } of pairs) {
      if (old === undefined || now === undefined) continue;
      const kind = counts[prompt.category === "negative" ? 1 : 0];
      kind[old === now ? "ties" : now ? "wins" : "losses"] += share;
      scores.before = added(scores.before, old);
      scores.after = added(scores.after, now);
    }
  }
  if (scores.after.total === 0) return undefined;
  const measured = estimateGain(counts);
  const gain = { ...measured, prompts: Math.round(measured.prompts) };
  const isHarmful = gain.mean < 0 ||
    counts.some((one) => one.losses - one.wins > TRIAL_LIMITS.margin * promptsIn(one));
  return { server, tools: [...inForce], ...scores, gain, isHarmful };
}

/** Categories take turns, fresh prompts first. */
function promptsOf(saved: readonly GoldenPrompt[], tool: string): GoldenPrompt[] {
  const own = saved.filter(({ toolName }) => toolName === tool)
    .toSorted((one, other) => Number(other.heldOut) - Number(one.heldOut));
  return takeTurns(CATEGORIES.map((kind) => own.filter(({ category }) => category === kind)))
    .slice(0, PROMPTS_OF_TOOL);
}

/** Undefined if the run failed, or the budget is used up. */
async function isRight(
  { options, budget, record, signal }: JobContext,
  evaluator: Evaluator,
  { prompt, server, toolName, expectedBehavior }: GoldenPrompt,
  tools: readonly ShownTool[],
): Promise<boolean | undefined> {
  const target = tools.find((one) => one.server === server && one.tool === toolName)?.name;
  if (target === undefined || budget.takeRun() !== undefined) return undefined;
  const { observation, cost } = await runWithRetries(
    evaluator,
    { prompt, tools, target, signal },
    options.retryDelayMs,
  );
  budget.runEnded(cost);
  const isOk = observation.status === "ok";
  record.progress((job) => ({
    ...job,
    runs: job.runs + 1,
    errors: job.errors + (isOk ? 0 : 1),
    cost: addCosts(...spentBy(job), cost),
  }));
  if (!isOk) return undefined;
  const isCalled = observation.calls.some(({ name }) => name === target);
  return isCalled === expectedBehavior.shouldCallTool;
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
