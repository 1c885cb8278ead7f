import { type TextSegment, wordDiff } from "../catalog/word_diff.ts";
import {
  CANONICAL,
  CATEGORIES,
  type Evaluation,
  type Metrics,
  type PromptCategory,
  type Verdict,
} from "../core/optimization.ts";
import { besideText } from "../optimizer/beside.ts";
import { addConfusions, type Confusion, NONE } from "../optimizer/confusion.ts";
import { promptsIn } from "../optimizer/metrics.ts";
import { costText, knownCost } from "../optimizer/run_cost.ts";
import type { Evidence } from "../surfaces/optimization/evidence.ts";
import type { ToolOptimizationDetail } from "../surfaces/optimization_admin.ts";
import type { CandidateView } from "./optimization_candidates.ts";
import { type ScorePair, scorePairs } from "./optimization_scores.ts";
import { formatCount } from "./ui/format.ts";

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
      ? { tested: testedWords(evidence.metrics), how: howWords(evaluation, evidence) }
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
function testedWords(metrics: Metrics): string {
  const each = CATEGORIES.map((category) => `${promptsIn(metrics[category])} ${category}`);
  const count = formatCount(promptsIn(metrics.overall), "prompt");
  return `Tested against ${count} (${each.join(", ")})`;
}

function howWords(evaluation: Evaluation, evidence: Evidence): string {
  const { depth, evaluator, model, beside } = evaluation;
  const { overall } = evidence.metrics;
  const isOfSeveral = isPooled(evaluation, evidence);
  const { errors } = isOfSeveral ? evidence : evaluation;
  return [
    depth === "thorough" ? "Thorough evidence" : "Quick evidence",
    ...timesWords(overall.total, promptsIn(overall)),
    ...(isOfSeveral ? [`${evidence.tries ?? "several"} evaluations counted together`] : []),
    `by ${evaluator}${model === undefined ? "" : ` (${model})`}`,
    ...(beside === undefined ? [] : [besideText(beside.length)]),
    ...(errors === 0 ? [] : [`${formatCount(errors, "run")} failed and not counted`]),
    // What the others cost is not part of this one.
    ...(isOfSeveral ? [] : costWords(evaluation)),
  ].join(", ");
}

/** A promotion keeps the counts and not how many evaluations they come from. */
function isPooled({ repeats }: Evaluation, { tries, metrics: { overall } }: Evidence): boolean {
  return tries !== undefined || overall.total > repeats * promptsIn(overall);
}

/** From the counts that are shown, so that they cannot contradict it. */
function timesWords(runs: number, prompts: number): string[] {
  if (prompts === 0) return [];
  if (runs === prompts) return ["once each"];
  return [runs % prompts === 0 ? `${runs / prompts} times each` : `in ${formatCount(runs, "run")}`];
}

function costWords({ cost, runs }: Evaluation): string[] {
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
