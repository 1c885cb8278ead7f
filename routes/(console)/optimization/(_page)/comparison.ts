import { CategoryScores } from "../../../../lib/core/optimization.ts";
import {
  CANONICAL,
  CATEGORIES,
  type Depth,
  type Evaluation,
  type PromotedTool,
  type PromptCategory,
  type SuccessCount,
  type ToolCandidate,
  type Verdict,
} from "../../../../lib/core/optimization.ts";
import {
  besideText,
  percent,
  pointsText,
  promptsIn,
  rateOf,
  scoreText,
  shortScore,
  wilson,
} from "../../../../lib/optimizer/evaluation/metrics.ts";
import { type TextSegment, wordDiff } from "../../../../lib/catalog/word_diff.ts";
import {
  addConfusions,
  type Confusion,
  NONE,
} from "../../../../lib/optimizer/evaluation/confusion.ts";
import { costText, knownCost } from "../../../../lib/optimizer/cost.ts";
import { type Evidence, refusalOf } from "../../../../lib/operations/optimization/evidence.ts";
import type { ToolOptimizationDetail } from "../../../../lib/operations/optimization_admin.ts";
import { formatCount } from "../../../../lib/console/ui/format.ts";

/** Which tool was called, by which should have been. */
export interface ConfusionTable {
  /** The names of the tools that were called. */
  called: string[];
  rows: { should: string; counts: { called: string; count: number; isRight: boolean }[] }[];
}

/** With the server's own description and with the candidate. */
export interface Confusions {
  before?: ConfusionTable;
  after?: ConfusionTable;
  /** Where they are about less than the numbers. */
  note?: string;
}

/** Where a search of our own has the tool for one prompt: its place, or null where it is not found. */
export interface RankLine {
  prompt: string;
  category: PromptCategory;
  before: number | null | undefined;
  after: number | null | undefined;
}

/** A candidate beside the server's own description. */
export interface Comparison {
  candidate: CandidateView;
  segments: TextSegment[];
  scores: ScorePair[];
  /** "Tested against 15 prompts (5 direct, 5 indirect, 5 negative)"; missing where it was not. */
  tested?: string;
  /** "Quick evidence, once each, by claude-cli (sonnet), $0.12" */
  how?: string;
  time?: string;
  verdict?: Verdict;
  warnings: string[];
  confusion: Confusions;
  ranks: RankLine[];
}

export function comparisonOf(
  candidate: CandidateView,
  detail: ToolOptimizationDetail,
  all: readonly CandidateView[],
): Comparison {
  const { canonicalDescription } = detail;
  const { evidence, metrics, baseline } = candidate;
  const evaluation = detail.evaluations.find((one) => one.id === evidence?.evaluationId);
  const verdict = evidence?.verdict;
  const time = evaluation?.endedAt ?? evidence?.time;
  const resultOf = (candidateId: string) =>
    evaluation?.results.find((result) => result.candidateId === candidateId);
  const [before, after] = [resultOf(CANONICAL), resultOf(candidate.id)];
  return {
    candidate,
    segments: wordDiff(canonicalDescription ?? "", candidate.description),
    scores: metrics === undefined ? [] : scorePairs(baseline, metrics),
    ...(evaluation && evidence
      ? { tested: testedText(evidence.metrics), how: methodText(evaluation, evidence) }
      : {}),
    ...(evidence?.source === "reported" && !evaluation
      ? { tested: `Tested by a caller in ${formatCount(evidence.metrics.overall.total, "run")}` }
      : {}),
    ...(time === undefined ? {} : { time }),
    ...(verdict === undefined ? {} : { verdict }),
    warnings: (evaluation?.warnings ?? []).map((warning) => withLabels(warning, all)),
    confusion: evaluation && evidence
      ? confusionsOf(candidate.id, detail, evaluation, evidence)
      : {},
    ranks: rankLines(detail, before?.ranks ?? {}, after?.ranks ?? {}),
  };
}

/** Of all evaluations that the numbers count together, as far as these are known. */
function confusionsOf(
  candidateId: string,
  { tool, evaluations }: ToolOptimizationDetail,
  evaluation: Evaluation,
  evidence: Evidence,
): Confusions {
  const counted = new Set(evidence.evaluationIds ?? [evaluation.id]);
  const tableOf = (id: string) => {
    const found = evaluations.filter((one) => counted.has(one.id))
      .flatMap(({ results }) => results.find((result) => result.candidateId === id) ?? []);
    const confusion = addConfusions(found.map((result) => result.confusion));
    return found.length === 0 ? undefined : confusionTable(confusion, tool);
  };
  const [before, after] = [tableOf(CANONICAL), tableOf(candidateId)];
  return {
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
    ...(isPooled(evaluation, evidence) && evidence.evaluationIds === undefined
      ? { note: "Of the newest of the evaluations that the numbers count together" }
      : {}),
  };
}

/** `tool`: the one on trial. Which other tool is called in the place of another decides nothing. */
export function confusionTable(confusion: Confusion, tool: string): ConfusionTable {
  const rows = Object.entries(confusion);
  const names = [...new Set(rows.flatMap(([should, row]) => [should, ...Object.keys(row)]))];
  // Where nothing was to be called, or was, stands last.
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

/** Candidates by the names they have on the page. */
function withLabels(text: string, candidates: readonly CandidateView[]): string {
  return candidates.reduce((words, { id, label }) => words.replaceAll(`"${id}"`, label), text)
    .replaceAll("candidate Candidate", "candidate");
}

/** Of the prompts that the scores count. */
function testedText(metrics: CategoryScores): string {
  const each = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const count = formatCount(promptsIn(metrics.overall), "prompt");
  return `Tested against ${count} (${each.join(", ")})`;
}

function methodText(evaluation: Evaluation, evidence: Evidence): string {
  const { depth, evaluator, model, beside } = evaluation;
  const { overall } = evidence.metrics;
  const isOfSeveral = isPooled(evaluation, evidence);
  const { errors } = isOfSeveral ? evidence : evaluation;
  return [
    depth === "thorough" ? "Thorough evidence" : "Quick evidence",
    ...repeatsText(overall.total, promptsIn(overall)),
    ...(isOfSeveral ? [`${evidence.tries ?? "several"} evaluations counted together`] : []),
    `by ${evaluator}${model === undefined ? "" : ` (${model})`}`,
    ...(beside === undefined ? [] : [besideText(beside.length)]),
    ...(errors === 0 ? [] : [`${formatCount(errors, "run")} failed and not counted`]),
    // What the others cost is not part of this one.
    ...(isOfSeveral ? [] : costTexts(evaluation)),
  ].join(", ");
}

/** A promotion keeps the counts and not how many evaluations they come from. */
function isPooled({ repeats }: Evaluation, { tries, metrics: { overall } }: Evidence): boolean {
  return tries !== undefined || overall.total > repeats * promptsIn(overall);
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

/** Of the prompts that there still are. */
function rankLines(
  { prompts }: ToolOptimizationDetail,
  before: Record<string, number | null>,
  after: Record<string, number | null>,
): RankLine[] {
  const ids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return ids.flatMap((id) => {
    const found = prompts.find((prompt) => prompt.id === id);
    if (!found) return [];
    const { prompt, category } = found;
    return [{ prompt, category, before: before[id], after: after[id] }];
  });
}

/** A candidate with what is known of it. */
export interface CandidateView {
  id: string;
  /** "Candidate 2": by the order in which they came. */
  label: string;
  description: string;
  example?: string;
  chars: number;
  origin: ToolCandidate["origin"];
  createdAt: string;
  isInForce: boolean;
  /** What its numbers, its verdict and its refusal all come from. */
  evidence: Evidence | null;
  /** What its numbers are and what they are compared with. */
  metrics?: CategoryScores;
  baseline?: CategoryScores;
  depth?: Depth;
  /** Why it may not be promoted without a reason; missing where it may. */
  refusal?: string;
  /** Where it would be good to look first. */
  isBest: boolean;
}

/** In the order in which they came. */
export function candidateViews(detail: ToolOptimizationDetail): CandidateView[] {
  const { promotion } = detail;
  const views = detail.candidates.map((candidate, index): CandidateView => {
    const { id, description, example, charCount, origin, createdAt } = candidate;
    const isInForce = promotion?.candidateId === id;
    // What it was promoted on stands, also when the server has since changed its own description.
    const evidence = (isInForce ? promotedOn(promotion, detail) : undefined) ?? candidate.evidence;
    const { metrics, baseline, depth } = evidence ?? {};
    const refusal = refusalOf(evidence ?? undefined);
    return {
      id,
      label: `Candidate ${index + 1}`,
      description,
      ...(example === undefined ? {} : { example }),
      chars: charCount,
      origin,
      createdAt,
      isInForce,
      evidence,
      ...(metrics === undefined ? {} : { metrics }),
      ...(baseline === undefined ? {} : { baseline }),
      ...(depth === undefined ? {} : { depth }),
      ...(refusal === undefined ? {} : { refusal }),
      isBest: false,
    };
  });
  const best = bestCandidate(views);
  return views.map((view) => ({ ...view, isBest: view === best && view.metrics !== undefined }));
}

/** What went on record with a promotion; undefined where that was no number. */
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
    ...(evaluationId === undefined ? {} : { evaluationId }),
    time: evaluation?.endedAt ?? promotion.promotedAt,
    ...(verdict === undefined ? {} : { verdict }),
  };
}

/** One that may be promoted before one that may not; then by overall success; of equals the newest. */
export function bestCandidate(candidates: readonly CandidateView[]): CandidateView | undefined {
  const worth = ({ refusal, metrics }: CandidateView) =>
    (refusal === undefined ? 2 : 0) + (metrics ? rateOf(metrics.overall) ?? -1 : -1);
  return candidates.toReversed().toSorted((one, other) => worth(other) - worth(one))[0];
}

/** One number with what it rests on, ready to be drawn from 0 to 100. */
export interface DrawnScore {
  /** "87 %" or "no data". */
  percent: string;
  /** "13/15 (87 %)" or "no data". */
  short: string;
  /** "13/15 (87 %, 95 % interval 62-96 %)" or "no data". */
  text: string;
  rate: number;
  low: number;
  high: number;
  hasData: boolean;
}

/** One kind of prompts with the server's own description and with another. */
export interface ScorePair {
  label: string;
  before?: DrawnScore;
  after?: DrawnScore;
  /** "+8 points"; missing where there is nothing to compare. */
  gain?: string;
  isBetter: boolean;
  isWorse: boolean;
}

const LABELS = { direct: "Direct", indirect: "Indirect", negative: "Negative", overall: "Overall" };
export const SCORES = [...CATEGORIES, "overall"] as const;

export function labelOf(score: keyof CategoryScores): string {
  return LABELS[score];
}

export function drawnScore(score: SuccessCount): DrawnScore {
  const interval = wilson(score) ?? { low: 0, high: 0 };
  return {
    percent: percent(score),
    short: shortScore(score),
    text: scoreText(score),
    rate: round(100 * (rateOf(score) ?? 0)),
    low: round(100 * interval.low),
    high: round(100 * interval.high),
    hasData: score.total > 0,
  };
}

export function scorePairs(before?: CategoryScores, after?: CategoryScores): ScorePair[] {
  return SCORES.map((name) => {
    const [old, fresh] = [before?.[name], after?.[name]];
    const [low, high] = [old && rateOf(old), fresh && rateOf(fresh)];
    const difference = typeof low === "number" && typeof high === "number" ? high - low : undefined;
    return {
      label: LABELS[name],
      ...(old === undefined ? {} : { before: drawnScore(old) }),
      ...(fresh === undefined ? {} : { after: drawnScore(fresh) }),
      ...(difference === undefined ? {} : { gain: signedPoints(difference) }),
      isBetter: (difference ?? 0) > 0,
      isWorse: (difference ?? 0) < 0,
    };
  });
}

/** "+8 points", "0 points", "-3.3 points" */
export function signedPoints(fraction: number): string {
  return fraction > 0 ? `+${pointsText(fraction)}` : pointsText(fraction);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
