import type { CategoryScores, Evaluation, Thresholds } from "../../core/optimization.ts";
import { counted } from "../../core/text.ts";
import { scoreText } from "../evaluation/metrics.ts";
import type { Target } from "../targets.ts";
import { candidatesInForce } from "./models.ts";
import type { Preparation } from "./prepare.ts";
import type { JobContext, ToolOutcome } from "./run.ts";

/** What a check tests a tool with: the description in force, and every saved prompt. */
export async function prepareCheck(
  { options: { prompts, promotions, candidates }, record, evaluators }: JobContext,
  target: Target,
): Promise<Preparation> {
  const { server, name } = target;
  const { promptsPerCategory = Infinity } = record.job.options;
  const promoted = candidatesInForce(promotions, target, evaluators).inForce;
  const asked = new Map<string, number>();
  return {
    prompts: (await prompts.list(server, name)).filter(({ category }) => {
      const nth = (asked.get(category) ?? 0) + 1;
      asked.set(category, nth);
      return nth <= promptsPerCategory;
    }),
    siblingPrompts: [],
    candidates: [],
    inForce: promoted === undefined ? undefined : await candidates.resolve(server, promoted),
    ofFamily: new Map(),
    alpha: 0,
    warnings: [],
  };
}

export interface CheckedRule {
  rule: "overall" | "negative";
  passed: boolean;
  words: string;
}

/** A category without prompts has no rate, and no rule. Whole numbers: 17 of 20 is 85 %. */
export function checkRules(
  metrics: CategoryScores,
  { minOverall, minNegative }: Pick<Thresholds, "minOverall" | "minNegative">,
): CheckedRule[] {
  const least = { overall: minOverall, negative: minNegative };
  return (["overall", "negative"] as const).flatMap((rule) => {
    const { correct, total } = metrics[rule];
    if (total === 0) return [];
    const needed = Math.ceil(least[rule] * total - 1e-9);
    const percent = Math.round(1_000 * least[rule]) / 10;
    const passed = correct >= needed;
    const words = `${rule} ${scoreText(metrics[rule])}, ${percent} % required` +
      (passed ? "" : ` (${needed - correct} too few)`);
    return [{ rule, passed, words }];
  });
}

/** Why an evaluation that was cut short says nothing, or undefined. */
export function checkProblem(
  { prompts, repeats, runs, models, void: voided }: Evaluation,
): string | undefined {
  const wanted = repeats * (models?.length ?? 1) *
    (prompts.direct + prompts.indirect + prompts.negative);
  return voided ??
    (runs < wanted ? `only ${runs} of ${counted(wanted, "run")} were made` : undefined);
}

export function checkOutcome(evaluation: Evaluation): ToolOutcome {
  const { results: [result], thresholds } = evaluation;
  const problem = checkProblem(evaluation);
  if (!result || problem !== undefined) {
    return { failed: true, outcome: `Inconclusive: ${problem}` };
  }
  // Every model has to reach them.
  const rules = result.models
    ? result.models.flatMap(({ model, metrics }) =>
      checkRules(metrics, thresholds).map((rule) => ({ ...rule, words: `${model} ${rule.words}` }))
    )
    : checkRules(result.metrics, thresholds);
  const below = rules.filter(({ passed }) => !passed);
  const words = (below.length > 0 ? below : rules).map((rule) => rule.words).join("; ");
  return { failed: false, outcome: `${below.length > 0 ? "Below the threshold" : "OK"}: ${words}` };
}
