import {
  descriptionHash,
  type DescriptionResult,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
} from "../core/optimization.ts";
import { pairedMetrics, pairRuns } from "./paired_exact.ts";
import { thresholdRules } from "./promotion_rules.ts";
import { judge } from "./verdict.ts";

export interface InForceInput {
  evaluation: Evaluation;
  /** All runs that were saved for it, oldest first. */
  runs: readonly EvalRun[];
  /** Those that decide. */
  prompts: readonly GoldenPrompt[];
  /** What would be promoted. */
  best: DescriptionResult;
  /** The promoted description, as it did in the same evaluation. */
  inForce: DescriptionResult;
}

/**
 * Why a description should not take the place of the promoted one, which it was tested beside: it
 * has to be better by as much as it has to be better than the server's own, or chance would replace
 * one by the other each time.
 */
export function whyNotInstead(input: InForceInput): string | undefined {
  const { evaluation, runs, prompts, best, inForce } = input;
  const { depth, thresholds, results } = evaluation;
  // Those of a model that was given up are older.
  const { askedModel } = runs.at(-1) ?? {};
  const runsOf = ({ candidateId, description }: DescriptionResult) =>
    runs.filter((run) =>
      run.candidateId === candidateId && run.askedModel === askedModel &&
      run.descriptionHash === descriptionHash(description)
    );
  const pairs = pairRuns(runsOf(best), runsOf(inForce), prompts);
  const { candidate, baseline } = pairedMetrics(pairs);
  const gain = thresholdRules(candidate, baseline, thresholds, "of the promoted one")
    .find(({ rule }) => rule === "improvement");
  if (!gain) return "no prompt was put to both it and the promoted one";
  if (!gain.passed) return gain.words;
  // One that the evaluation does not support need not be proven worse, too.
  if (depth === "quick" || !inForce.verdict?.promote) return undefined;
  const { rules } = judge({
    depth,
    candidate,
    baseline,
    thresholds,
    thefts: [],
    pairs,
    candidates: results.length - 1,
  });
  const chance = rules.find(({ rule }) => rule === "significance");
  return chance?.passed === false ? `beside the promoted one ${chance.words}` : undefined;
}
