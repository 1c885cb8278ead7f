import {
  CANONICAL,
  type DescriptionResult,
  type Evaluation,
  type PromotedTool,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import type { ModelFamily } from "../../core/model_family.ts";
import { promotableFamilies } from "../evaluation/verdict.ts";
import { promotedFor } from "./models.ts";
import { parameterChanges, textOf } from "../../core/tool_text.ts";
import type { JobContext, ToolOutcome } from "./run.ts";
import type { Preparation } from "./prepare.ts";
import { toolAt } from "./record.ts";
import { bestOf, failedRules, gainText, refusalText } from "./progress.ts";
import { promptsIn } from "../evaluation/metrics.ts";

interface PromotionInput {
  test: Preparation;
  evaluation: Evaluation;
}

export async function promoteBest(
  context: JobContext,
  index: number,
  { test, evaluation }: PromotionInput,
): Promise<ToolOutcome> {
  const { options, record } = context;
  const { server, toolName } = evaluation;
  // Another process may have promoted since it was read.
  await options.promotions.load();
  const inForce = promotedFor(
    options.promotions,
    { server, name: toolName },
    context.evaluators,
  );
  const kept = inForce ? "Kept the promoted description" : "Kept the server's own description";
  const stay = (outcome: string): ToolOutcome => ({ failed: false, outcome });
  const best = evaluation.results.find(({ verdict }) => verdict?.promote) ??
    evaluation.results.find(({ verdict }) => promotableFamilies(verdict).length > 0);
  if (!best) {
    const proposed = bestOf(evaluation.results.filter(({ verdict }) => verdict?.proposed));
    const still = await keepIfGood(context, evaluation, inForce);
    if (!proposed) return stay(`${kept}: ${refusalText(evaluation)}${still}`);
    const gain = gainText(evaluation, proposed);
    const why = proposed.verdict?.confirmed
      ? `your thresholds refuse it: ${failedRules(proposed)}. A person can accept it`
      : "this is not confirmed: test it at the depth thorough";
    return {
      ...stay(
        `${kept}. Candidate "${proposed.candidateId}" looks better: ${gain}, but ${why}${still}`,
      ),
      proposedCandidateId: proposed.candidateId,
    };
  }
  const families = promotableFamilies(best.verdict);
  const gain = gainText(evaluation, best) +
    (families.length === 0 ? "" : `, for ${families.join(" and ")} models only`);
  // A process that ended right after it had promoted; somebody may have reverted it since.
  const made = await promotionsMade(context, index);
  const missing = scopesOf(families).filter((family) => !made.some((one) => one.family === family));
  if (missing.length === 0) {
    return { ...stay(`Promoted: ${gain}`), promotedCandidateId: best.candidateId };
  }
  const changed = changeOf(context, evaluation, best);
  if (changed !== undefined) return changed;
  const current = missing.map((family) => ({
    family,
    now: options.promotions.of(server, toolName, family),
    served: options.promotions.of(server, toolName, family) ??
      options.promotions.of(server, toolName),
    tested: (family && test.ofFamily.get(family)) ?? test.inForce,
  }));
  if (current.some(({ served, tested }) => served && served.candidateId !== tested?.id)) {
    const why = "it was not tested against the description that was promoted in the meantime";
    return stay(`${kept}: candidate "${best.candidateId}" has ${gain}, but ${why}`);
  }
  if (!record.job.options.autoPromote) {
    const why = `the job does not promote: candidate "${best.candidateId}", ${gain}`;
    return { ...stay(`Not promoted because ${why}`), promotableCandidateId: best.candidateId };
  }
  for (const { family, now } of current) {
    await promote(context, evaluation, best, { family, inForce: now });
  }
  return { ...stay(`Promoted: ${gain}`), promotedCandidateId: best.candidateId };
}

/** For all clients, or for each of these families. */
function scopesOf(families: readonly ModelFamily[]): (ModelFamily | undefined)[] {
  return families.length === 0 ? [undefined] : [...families];
}

/** A stale promotion that was tested again and is no worse than the server's own is no longer stale. */
async function keepIfGood(
  { options }: JobContext,
  { server, toolName: tool, results, depth }: Evaluation,
  inForce: PromotedTool | undefined,
): Promise<string> {
  if (!inForce) return "";
  const { family } = inForce;
  if (options.promotions.staleness(server, tool, family) === undefined) return "";
  const rate = (id: string) => {
    const { correct, total } = results.find(({ candidateId }) => candidateId === id)
      ?.metrics.overall ?? { correct: 0, total: 0 };
    return total === 0 ? undefined : correct / total;
  };
  const [now, own] = [rate(inForce.candidateId), rate(CANONICAL)];
  if (now === undefined || own === undefined || depth === "quick") return "";
  const both = `${Math.round(100 * now)} % against ${Math.round(100 * own)} %`;
  if (now < own) {
    return `. The promoted description now does worse than the server's own (${both}): revert it`;
  }
  await options.promotions.keep({ server, tool, family, by: "job" });
  return `. The promoted description was tested again and holds (${both})`;
}

async function promote(
  { options, signal }: JobContext,
  evaluation: Evaluation,
  { candidateId, metrics, paired, verdict, ...text }: DescriptionResult,
  { family, inForce }: { family: ModelFamily | undefined; inForce: PromotedTool | undefined },
): Promise<void> {
  const { server, toolName, id, depth, evaluator, askedModel: model } = evaluation;
  const counts = paired?.candidate ?? metrics;
  signal.throwIfAborted();
  const own = evaluation.results.find((result) => result.candidateId === CANONICAL);
  await options.promotions.promote({
    server,
    toolName,
    candidateId,
    ...textOf(text),
    metrics: counts,
    evaluationId: id,
    depth,
    prompts: promptsIn(counts.overall),
    source: "measured",
    ...defined({
      family,
      baseline: paired?.baseline ?? own?.metrics,
      verdict,
      testedWith: model === undefined ? undefined : { evaluator, model },
      testedModels: evaluation.models,
      // Whether the server has an empty one or none is left to what it says now.
      canonicalDescription: own?.description || undefined,
      canonicalParameters: text.parameters && evaluation.canonicalParameters,
    }),
    by: "job",
    over: inForce?.id ?? null,
  });
}

async function promotionsMade(
  { options, record }: JobContext,
  index: number,
): Promise<PromotedTool[]> {
  const { server, toolName, evaluationId } = toolAt(record.job, index);
  const history = await options.promotions.history(server, toolName);
  return history.flatMap(({ by, action, promotion }) =>
    by === "job" && action === "promote" && promotion?.evaluationId === evaluationId
      ? [promotion]
      : []
  );
}

/** Measurements against an outdated description promote nothing. */
function changeOf(
  { options }: JobContext,
  { server, toolName, results, canonicalParameters }: Evaluation,
  best: DescriptionResult,
): ToolOutcome | undefined {
  const tested = results.find(({ candidateId }) => candidateId === CANONICAL)?.description;
  const target = options.targets.find(server, toolName);
  const isSame = target && (target.canonicalDescription ?? "") === tested &&
    parameterChanges(best, canonicalParameters, target.parameters).length === 0;
  if (isSame) return undefined;
  return {
    failed: true,
    outcome: target
      ? "Nothing was promoted: the server's own description changed during the test; " +
        "run the test again"
      : "Nothing was promoted: the tool no longer exists",
  };
}
