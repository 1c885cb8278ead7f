import {
  CANONICAL,
  type DescriptionResult,
  type Evaluation,
  newId,
  type PromotedTool,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { hasConfirmation } from "../evaluation/selection.ts";
import { whyNotInstead } from "../evaluation/comparison.ts";
import { isRefuted } from "../evaluation/verdict.ts";
import type { JobContext, ToolOutcome } from "./run.ts";
import { evaluateForJob } from "./evaluate.ts";
import type { Preparation } from "./prepare.ts";
import { toolAt } from "./record.ts";
import { bestOf, gainText, refusalText } from "./progress.ts";
import { promptsIn } from "../evaluation/metrics.ts";
import type { Target } from "../targets.ts";

interface PromotionInput {
  target: Target;
  test: Preparation;
  evaluation: Evaluation;
}

export async function promoteBest(
  context: JobContext,
  index: number,
  input: PromotionInput,
): Promise<ToolOutcome> {
  const { options, record } = context;
  const { evaluation } = input;
  const { server, toolName } = evaluation;
  // Another process may have promoted since it was read.
  await options.promotions.load();
  const inForce = options.promotions.of(server, toolName);
  const isInForce = ({ candidateId }: DescriptionResult) => candidateId === inForce?.candidateId;
  const kept = inForce ? "Kept the promoted description" : "Kept the server's own description";
  const stay = (outcome: string): ToolOutcome => ({ failed: false, outcome });
  const allowed = evaluation.results.filter(({ verdict }) => verdict?.promote)
    // Of equals, what is in force stays.
    .toSorted((one, other) => Number(isInForce(other)) - Number(isInForce(one)));
  const best = bestOf(allowed);
  if (!best) {
    // Where a budget ended it, or it was not tested, nothing speaks against it.
    const isAgainst = isRefuted(evaluation.results.find(isInForce)?.verdict);
    const although = isAgainst ? ", although this evaluation does not support it" : "";
    return stay(`${kept}${although}: ${refusalText(evaluation)}`);
  }
  const gain = gainText(evaluation, best);
  // A process that ended right after it had promoted; somebody may have reverted it since.
  const made = await promotionMade(context, index);
  if (made) {
    return { ...stay(`Promoted: ${gain}`), promotedCandidateId: made.candidateId };
  }
  if (isInForce(best)) return stay(`${kept}, which is still the best: ${gain}`);
  const changed = changeOf(context, evaluation);
  if (changed !== undefined) return changed;
  const why = inForce && await whyNot(context, input, best, inForce);
  if (why !== undefined) {
    return stay(`${kept}: the best of the others scored ${gain}, but ${why}`);
  }
  if (!record.job.options.autoPromote) {
    const why = `the job does not promote: candidate "${best.candidateId}", ${gain}`;
    return { ...stay(`Not promoted because ${why}`), promotableCandidateId: best.candidateId };
  }
  if (!hasConfirmation(record.job.options, evaluation.results.length - 1)) {
    return await promote(context, evaluation, best, { gain, inForce });
  }
  const second = await confirm(context, index, input, best);
  const again = second.results.find(({ candidateId }) => candidateId === best.candidateId);
  if (second.void !== undefined || !again?.verdict?.promote) {
    const refusal = second.void ?? refusalText(second);
    return stay(
      `${kept}: the best of ${evaluation.results.length - 1} candidates scored ${gain}, but a ` +
        `second evaluation on the same prompts did not confirm it: ${refusal}`,
    );
  }
  const twice = `${gain}, confirmed by a second evaluation on the same prompts: ${
    gainText(second, again)
  }`;
  return changeOf(context, second) ??
    await promote(context, second, again, { gain: twice, inForce });
}

async function promote(
  { options, signal }: JobContext,
  evaluation: Evaluation,
  { candidateId, description, metrics, paired, verdict }: DescriptionResult,
  { gain, inForce }: { gain: string; inForce: PromotedTool | undefined },
): Promise<ToolOutcome> {
  const { server, toolName, id, depth } = evaluation;
  const counts = paired?.candidate ?? metrics;
  signal.throwIfAborted();
  const own = evaluation.results.find((result) => result.candidateId === CANONICAL);
  await options.promotions.promote({
    server,
    toolName,
    candidateId,
    description,
    metrics: counts,
    evaluationId: id,
    depth,
    prompts: promptsIn(counts.overall),
    source: "measured",
    ...defined({
      baseline: paired?.baseline ?? own?.metrics,
      verdict,
      // Whether the server has an empty one or none is left to what it says now.
      canonicalDescription: own?.description || undefined,
    }),
    by: "job",
    over: inForce?.id ?? null,
  });
  return { failed: false, outcome: `Promoted: ${gain}`, promotedCandidateId: candidateId };
}

async function confirm(
  context: JobContext,
  index: number,
  { target, test, evaluation }: PromotionInput,
  { candidateId }: DescriptionResult,
): Promise<Evaluation> {
  const { options, record, signal } = context;
  const known = toolAt(record.job, index).confirmation;
  const confirmation = known?.candidateId === candidateId
    ? known
    : { candidateId, evaluationId: newId("evaluation") };
  await record.stepTool(index, { phase: "evaluating", confirmation });
  signal.throwIfAborted();
  const { server, toolName } = evaluation;
  const candidates = test.candidates.filter(({ id }) => id === candidateId);
  const second = await options.evaluations.find(server, toolName, confirmation.evaluationId) ??
    await evaluateForJob(context, index, {
      id: confirmation.evaluationId,
      confirms: evaluation.id,
      target,
      test: { ...test, candidates, warnings: [] },
    });
  await record.stepTool(index, { phase: "promoting" });
  signal.throwIfAborted();
  return second;
}

async function promotionMade(
  { options, record }: JobContext,
  index: number,
): Promise<PromotedTool | undefined> {
  const { server, toolName, evaluationId, confirmation } = toolAt(record.job, index);
  const ids = [evaluationId, confirmation?.evaluationId];
  const history = await options.promotions.history(server, toolName);
  const event = history.find(({ by, action, promotion }) =>
    by === "job" && action === "promote" && promotion?.evaluationId !== undefined &&
    ids.includes(promotion.evaluationId)
  );
  return event?.promotion ?? undefined;
}

/** Measurements against an outdated description promote nothing. */
function changeOf({ options }: JobContext, evaluation: Evaluation): ToolOutcome | undefined {
  const { server, toolName, results } = evaluation;
  const tested = results.find(({ candidateId }) => candidateId === CANONICAL)?.description;
  const target = options.targets.find(server, toolName);
  if (target && (target.canonicalDescription ?? "") === tested) return undefined;
  return {
    failed: true,
    outcome: target
      ? "Nothing was promoted: the server's own description changed during the test; " +
        "run the test again"
      : "Nothing was promoted: the tool no longer exists",
  };
}

async function whyNot(
  { options }: JobContext,
  { test, evaluation }: PromotionInput,
  { candidateId }: DescriptionResult,
  inForce: PromotedTool,
): Promise<string | undefined> {
  const { server, toolName, id, depth } = evaluation;
  return whyNotInstead({
    evaluation,
    candidateId,
    inForce: inForce.description,
    runs: await options.runs.list(server, toolName, { evaluationId: id }),
    prompts: test.prompts.filter(({ heldOut }) => depth === "quick" || heldOut),
    asked: [...test.prompts, ...test.siblingPrompts],
  });
}
