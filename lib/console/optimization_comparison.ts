import { type TextSegment, wordDiff } from "../catalog/word_diff.ts";
import {
  CANONICAL,
  CATEGORIES,
  type Evaluation,
  type Metrics,
  type PromptCategory,
  type Verdict,
} from "../core/optimization.ts";
import type { Confusion } from "../optimizer/confusion.ts";
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
  confusion: { before?: ConfusionTable; after?: ConfusionTable };
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
    confusion: {
      ...(before ? { before: confusionTable(before.confusion) } : {}),
      ...(after ? { after: confusionTable(after.confusion) } : {}),
    },
    ranks: rankLines(detail, before?.ranks ?? {}, after?.ranks ?? {}),
  };
}

export function confusionTable(confusion: Confusion): ConfusionTable {
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
        isRight: name === should,
      })),
    })),
  };
}

const NONE = "(none)";

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
  const { depth, evaluator, model, repeats } = evaluation;
  const { overall } = evidence.metrics;
  // A promotion keeps the counts and not how many evaluations they come from.
  const isPooled = evidence.tries !== undefined || overall.total > repeats * promptsIn(overall);
  const { errors } = isPooled ? evidence : evaluation;
  return [
    depth === "thorough" ? "Thorough evidence" : "Quick evidence",
    ...timesWords(overall.total, promptsIn(overall)),
    ...(isPooled ? [`${evidence.tries ?? "several"} evaluations counted together`] : []),
    `by ${evaluator}${model === undefined ? "" : ` (${model})`}`,
    ...(errors === 0 ? [] : [`${formatCount(errors, "run")} failed and not counted`]),
    // What the others cost is not part of this one.
    ...(isPooled ? [] : costWords(evaluation)),
  ].join(", ");
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
