import {
  CANONICAL,
  CATEGORIES,
  type CategoryScores,
  type Evaluation,
  type ModelResult,
  type PromotedTool,
  type SuccessCount,
} from "../../../../lib/core/optimization.ts";
import {
  gainOf,
  gainPoints,
  missedText,
  percent,
  promptsIn,
  rateOf,
  SCORES,
  scoreText,
  settingTexts,
  shortScore,
  wilson,
} from "../../../../lib/optimizer/evaluation/metrics.ts";
import { type ParameterDiff, parameterDiffs } from "../../../../lib/catalog/parameter_texts.ts";
import { type TextSegment, wordDiff } from "../../../../lib/catalog/word_diff.ts";
import { type Confusion, NONE } from "../../../../lib/optimizer/evaluation/confusion.ts";
import { lineageText } from "../../../../lib/optimizer/jobs/progress.ts";
import { costText, knownCost } from "../../../../lib/optimizer/cost.ts";
import { type Evidence, refusalOf } from "../../../../lib/operations/optimization/evidence.ts";
import type { ToolOptimizationDetail } from "../../../../lib/operations/optimization_admin.ts";
import { defined } from "../../../../lib/core/defined.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";

export type Comparison = ReturnType<typeof comparisonOf>;

export function comparisonOf(
  candidate: CandidateView,
  detail: ToolOptimizationDetail,
  all: readonly CandidateView[],
) {
  const { evidence } = candidate;
  const evaluation = detail.evaluations.find((one) => one.id === evidence?.evaluationId);
  const ranksOf = (candidateId: string) =>
    evaluation?.results.find((result) => result.candidateId === candidateId)?.ranks ?? {};
  return {
    candidate,
    scores: evidence ? scorePairs(evidence.baseline, evidence.metrics) : [],
    models: (evidence?.models ?? []).map(modelLine),
    /** "Tested against 15 prompts (5 direct, 5 indirect, 5 negative)" */
    tested: evidence ? testedText(evidence, evaluation) : undefined,
    /** "Quick evidence, once each, by claude-cli (sonnet), $0.12" */
    how: evaluation && evidence ? methodText(evaluation, evidence) : undefined,
    time: evaluation?.endedAt ?? evidence?.time,
    verdict: evidence?.verdict,
    warnings: (evaluation?.warnings ?? []).map((warning) => withLabels(warning, all)),
    confusion: evaluation && evidence ? confusionsOf(candidate.id, detail, evaluation) : undefined,
    ranks: rankLines(detail, ranksOf(CANONICAL), ranksOf(candidate.id)),
    missed: evaluation && evidence ? missedTexts(candidate.id, evaluation) : [],
  };
}

/** Why the tool was not called, before and after, where it has to be found first. */
function missedTexts(candidateId: string, { results }: Evaluation): string[] {
  const textOf = (id: string) => missedText(results.find((one) => one.candidateId === id)?.missed);
  const [before, after] = [textOf(CANONICAL), textOf(candidateId)];
  if (before === "" && after === "") return [];
  return [
    `Server's description: ${before || "always called"}`,
    `This description: ${after || "always called"}`,
  ];
}

function confusionsOf(
  candidateId: string,
  { tool }: ToolOptimizationDetail,
  { results }: Evaluation,
) {
  const tableOf = (id: string) => {
    const found = results.find((result) => result.candidateId === id);
    return found && confusionTable(found.confusion, tool);
  };
  return { before: tableOf(CANONICAL), after: tableOf(candidateId) };
}

export type ConfusionTable = ReturnType<typeof confusionTable>;

/** `tool`: the one on trial. Which other tool is called in the place of another decides nothing. */
export function confusionTable(confusion: Confusion, tool: string) {
  const rows = Object.entries(confusion);
  const names = [...new Set(rows.flatMap(([should, row]) => [should, ...Object.keys(row)]))];
  const called = names.sort((one, other) =>
    Number(one === NONE) - Number(other === NONE) || (one < other ? -1 : 1)
  );
  return {
    called,
    rows: called.filter((name) => confusion[name] !== undefined).map((should) => ({
      should,
      counts: called.map((name) => ({
        called: name,
        count: confusion[should]?.[name] ?? 0,
        isRight: (name === tool) === (should === tool),
      })),
    })),
  };
}

function withLabels(text: string, candidates: readonly CandidateView[]): string {
  return candidates.reduce((words, { id, label }) => words.replaceAll(`"${id}"`, label), text)
    .replaceAll("candidate Candidate", "candidate");
}

function testedText(
  { source, metrics }: Evidence,
  evaluation: Evaluation | undefined,
): string | undefined {
  if (evaluation === undefined) {
    return source === "reported"
      ? `Tested by a client in ${formatCount(metrics.overall.total, "run")}`
      : undefined;
  }
  const each = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const count = formatCount(promptsIn(metrics.overall), "prompt");
  return `Tested against ${count} (${each.join(", ")})`;
}

function methodText(evaluation: Evaluation, evidence: Evidence): string {
  const { depth, evaluator, model, beside, setting, errors } = evaluation;
  const { metrics: { overall }, models, verdict } = evidence;
  // What is confirmed for some families rests on their models.
  const asked = models?.filter(({ family }) =>
    verdict?.families === undefined || (family !== undefined && verdict.families.includes(family))
  );
  return [
    depth === "thorough" ? "Thorough evidence" : "Quick evidence, not confirmed",
    ...repeatsText(overall.total, promptsIn(overall)),
    asked
      ? `by ${asked.map((one) => one.model).join(" and ")}`
      : `by ${evaluator}${model === undefined ? "" : ` (${model})`}`,
    ...settingTexts({ beside: beside?.length, setting }),
    ...(errors === 0 ? [] : [`${formatCount(errors, "failed run")} not counted`]),
    ...costTexts(evaluation),
  ].join(", ");
}

/** From the counts that are shown, so that they cannot contradict it. */
function repeatsText(runs: number, prompts: number): string[] {
  if (prompts === 0) return [];
  if (runs === prompts) return ["once each"];
  return [runs % prompts === 0 ? `${runs / prompts} times each` : `in ${formatCount(runs, "run")}`];
}

function costTexts({ cost, runs }: Evaluation): string[] {
  if (runs === 0) return [];
  const known = knownCost([cost]);
  return [known.costUsd === null ? "cost not known" : costText(known)];
}

/** The tool's place in our own search for each prompt; null: not found. */
function rankLines(
  { prompts }: ToolOptimizationDetail,
  before: Record<string, number | null>,
  after: Record<string, number | null>,
) {
  return Object.keys({ ...before, ...after }).flatMap((id) => {
    const found = prompts.find((prompt) => prompt.id === id);
    if (!found) return [];
    const { prompt, category } = found;
    return [{ prompt, category, before: before[id], after: after[id] }];
  });
}

type Candidate = ToolOptimizationDetail["candidates"][number];

export interface CandidateView extends Candidate {
  /** "Candidate 2": by the order in which they came. */
  label: string;
  /** How it differs from the server's own description, by word. */
  segments: TextSegment[];
  /** And its texts for parameters. */
  parameterDiffs: ParameterDiff[];
  isInForce: boolean;
  /** Why it may not be promoted without a reason; undefined where it may. */
  refusal: string | undefined;
  isBest: boolean;
  /** "Round 2, from 3 failures of Candidate 1: ..." */
  ancestry: string | undefined;
}

export function candidateViews(detail: ToolOptimizationDetail): CandidateView[] {
  const { promotion } = detail;
  const views = detail.candidates.map((candidate, index): CandidateView => {
    const isInForce = promotion?.candidateId === candidate.id;
    // What it was promoted on stands, also when the server has since changed its own description.
    const evidence = (isInForce ? promotedOn(promotion, detail) : undefined) ?? candidate.evidence;
    return {
      ...candidate,
      evidence,
      label: `Candidate ${index + 1}`,
      segments: wordDiff(detail.canonicalDescription ?? "", candidate.description),
      parameterDiffs: parameterDiffs(candidate.parameters, detail.canonicalParameters),
      isInForce,
      refusal: refusalOf(evidence ?? undefined),
      isBest: false,
      ancestry: lineageText(candidate),
    };
  });
  const best = bestCandidate(views);
  return views.map((view) => ({
    ...view,
    isBest: view === best && standingOf(view) > 0,
    ancestry: view.ancestry === undefined ? undefined : withLabels(view.ancestry, views),
  }));
}

/** What went on record with a promotion; undefined if that was no number. */
function promotedOn(
  promotion: PromotedTool,
  { evaluations }: Pick<ToolOptimizationDetail, "evaluations">,
): Evidence | undefined {
  const { candidateId, metrics, baseline, depth, evaluationId, verdict } = promotion;
  if (!metrics || !baseline || !depth) return undefined;
  const evaluation = evaluations.find(({ id }) => id === evaluationId);
  const result = evaluation?.results.find((one) => one.candidateId === candidateId);
  return {
    source: promotion.source ?? "measured",
    depth,
    metrics,
    baseline,
    prompts: promptsIn(metrics.overall),
    errors: result?.errors ?? 0,
    time: evaluation?.endedAt ?? promotion.promotedAt,
    ...defined({ evaluationId, verdict, models: result?.models }),
  };
}

/** 2: may be promoted; 1: is proposed to a person; 0: neither. */
function standingOf({ refusal, evidence }: CandidateView): number {
  if (refusal === undefined) return 2;
  return evidence?.problem === undefined && evidence?.verdict?.proposed ? 1 : 0;
}

/** One that may be promoted before one that may not; then by overall success; of equals the newest. */
export function bestCandidate(candidates: readonly CandidateView[]): CandidateView | undefined {
  const worth = (view: CandidateView) =>
    2 * standingOf(view) + (view.evidence ? rateOf(view.evidence.metrics.overall) ?? -1 : -1);
  return candidates.toReversed().toSorted((one, other) => worth(other) - worth(one))[0];
}

/** One of several models: its overall rates, and the gain that the test found with it. */
function modelLine({ model, baseline, metrics, gain }: ModelResult) {
  const found = gain ?? gainOf(baseline?.overall, metrics.overall);
  const rates = [baseline?.overall, metrics.overall].flatMap((one) => one ? [scoreText(one)] : []);
  return { model, text: rates.join(" → ") + (found ? `, ${gainPoints(found)}` : "") };
}

export const SCORE_LABELS = {
  direct: "Direct",
  indirect: "Indirect",
  negative: "Negative",
  overall: "Overall",
};

export type DrawnScore = ReturnType<typeof drawnScore>;

/** One number with what it rests on, ready to be drawn from 0 to 100. */
export function drawnScore(score: SuccessCount) {
  const interval = wilson(score) ?? { low: 0, high: 0 };
  const round = (fraction: number) => Math.round(fraction * 1_000) / 10;
  return {
    percent: percent(score),
    short: shortScore(score),
    text: scoreText(score),
    rate: round(rateOf(score) ?? 0),
    low: round(interval.low),
    high: round(interval.high),
    hasData: score.total > 0,
  };
}

export function drawnScores(metrics: CategoryScores) {
  return SCORES.map((name) => ({ label: SCORE_LABELS[name], ...drawnScore(metrics[name]) }));
}

export type ScorePair = ReturnType<typeof scorePairs>[number];

export function scorePairs(before: CategoryScores, after: CategoryScores) {
  return SCORES.map((name) => {
    const gain = gainOf(before[name], after[name]);
    return {
      label: SCORE_LABELS[name],
      before: drawnScore(before[name]),
      after: drawnScore(after[name]),
      /** With its interval; undefined if there is nothing to compare. */
      gain: gain === undefined ? undefined : gainPoints(gain),
      isBetter: (gain?.mean ?? 0) > 0,
      isWorse: (gain?.mean ?? 0) < 0,
    };
  });
}
