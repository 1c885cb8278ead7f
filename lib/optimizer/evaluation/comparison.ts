import {
  CANONICAL,
  descriptionHash,
  type DescriptionResult,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
} from "../../core/optimization.ts";
import { theftsOf } from "./confusion.ts";
import { pairedMetrics, pairRuns } from "./metrics.ts";
import { isRefuted, type Rule, verdictRules } from "./verdict.ts";

/** The rules that compare two descriptions; the others concern only the candidate. */
const COMPARING: readonly Rule["rule"][] = [
  "improvement",
  "regression",
  "siblings",
  "significance",
];

export const NOT_TESTED_BESIDE =
  "it was not tested against the promoted description, which it must beat; evaluate it " +
  "again to test both";

/** A candidate must beat the promoted description too, or chance would swap the two repeatedly. */
export function whyNotInstead(input: {
  evaluation: Evaluation;
  candidateId: string;
  inForce: string;
  /** All runs that count, oldest first. */
  runs: readonly EvalRun[];
  prompts: readonly GoldenPrompt[];
  asked: readonly GoldenPrompt[];
}): string | undefined {
  const { evaluation, inForce, prompts, asked } = input;
  const { depth, thresholds, results } = evaluation;
  const candidate = results.find(({ candidateId }) => candidateId === input.candidateId);
  const promoted = results.find(({ description }) => description === inForce);
  if (!candidate || !promoted) return NOT_TESTED_BESIDE;
  // The candidate's verdict already covers the canonical description, which has the same text.
  if (promoted.candidateId === CANONICAL || promoted === candidate) return undefined;
  // Runs of a model that is no longer used are older.
  const { askedModel } = input.runs.at(-1) ?? {};
  const runsOf = ({ candidateId, description }: DescriptionResult) =>
    input.runs.filter((run) =>
      run.candidateId === candidateId && run.askedModel === askedModel &&
      run.descriptionHash === descriptionHash(description)
    );
  const [runs, before] = [runsOf(candidate), runsOf(promoted)];
  const pairs = pairRuns(runs, before, prompts);
  if (pairs.length === 0) {
    return "no prompt was tested with both this description and the promoted one";
  }
  // A refuted description is tested less, so significance against it cannot be shown.
  const failed = verdictRules({
    depth,
    ...pairedMetrics(pairs),
    thresholds,
    thefts: theftsOf(runs, before, asked),
    pairs,
    candidates: results.length - 1,
    whose: "of the promoted one",
  }).filter(({ rule, passed }) =>
    !passed && COMPARING.includes(rule) && (rule !== "significance" || !isRefuted(promoted.verdict))
  );
  return failed.length === 0
    ? undefined
    : `compared with the promoted one, ${failed.map(({ words }) => words).join("; ")}`;
}
