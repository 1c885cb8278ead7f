import { GatewayError } from "../core/errors.ts";
import {
  CANONICAL,
  CATEGORIES,
  type GoldenPrompt,
  type PromptCategory,
  type Score,
} from "../core/optimization.ts";
import { scoreText, shortScore } from "../optimizer/metrics.ts";
import type { RunSummary } from "../surfaces/optimization/tool_results.ts";
import type { OptimizationAdmin, ToolOptimizationDetail } from "../surfaces/optimization_admin.ts";

/** What became of one prompt in one run. */
export interface RunView {
  state: "passed" | "failed" | "error";
  /** "called", "not called", "called find_loans instead" */
  words: string;
  reasoning?: string;
}

export interface PromptView {
  prompt: GoldenPrompt;
  runs: RunView[];
  /** passed: every run that counts; missing where none does. */
  state?: "passed" | "failed";
  /** It was written anew after it was put to the description. */
  isChanged: boolean;
}

export interface PromptsView {
  /** Whose runs are shown: `canonical`, or a candidate's id. */
  of: string;
  groups: { category: PromptCategory; score: string; prompts: PromptView[] }[];
  total: number;
  /** "13/15 (87 %)", with its interval; missing where nothing has run. */
  rate?: { short: string; text: string };
}

/** The golden prompts, with what came of each under one description. */
export async function promptsView(
  admin: Pick<OptimizationAdmin, "results">,
  detail: ToolOptimizationDetail,
  of = CANONICAL,
): Promise<PromptsView> {
  const { server, tool, prompts } = detail;
  const [result] = await admin.results({ server, tool, candidateId: of }).catch((error) => {
    // No run yet, or no such candidate.
    if (error instanceof GatewayError && error.httpStatus < 500) return [];
    throw error;
  });
  const byPrompt = Map.groupBy(result?.runs ?? [], ({ promptId }) => promptId);
  const judgedAt = result?.evidence?.time ?? "";
  const views = prompts.map((prompt): PromptView => {
    const found = byPrompt.get(prompt.id) ?? [];
    const isChanged = found.length > 0 && prompt.createdAt > judgedAt;
    const runs = isChanged ? [] : found.map((run) => runView(run, prompt));
    const counted = runs.filter(({ state }) => state !== "error");
    const isPassed = counted.every(({ state }) => state === "passed");
    return {
      prompt,
      runs,
      ...(counted.length === 0 ? {} : { state: isPassed ? "passed" : "failed" }),
      isChanged,
    };
  });
  const all = scoreOf(views);
  return {
    of,
    groups: CATEGORIES.map((category) => {
      const own = views.filter(({ prompt }) => prompt.category === category);
      return { category, score: shortScore(scoreOf(own)), prompts: own };
    }),
    total: prompts.length,
    ...(all.total === 0 ? {} : { rate: { short: shortScore(all), text: scoreText(all) } }),
  };
}

function scoreOf(views: readonly PromptView[]): Score {
  const runs = views.flatMap((view) => view.runs).filter(({ state }) => state !== "error");
  return { correct: runs.filter(({ state }) => state === "passed").length, total: runs.length };
}

function runView(run: RunSummary, { expectedBehavior }: GoldenPrompt): RunView {
  const { status, correct, toolCalled, otherTools, error, reasoning } = run;
  const why = reasoning === undefined || reasoning === "" ? {} : { reasoning };
  if (status === "error") {
    return { state: "error", words: `not counted: ${error ?? "the run failed"}`, ...why };
  }
  return {
    state: correct ? "passed" : "failed",
    words: callWords(toolCalled, otherTools, expectedBehavior.shouldCallTool),
    ...why,
  };
}

function callWords(toolCalled: boolean, others: string[], shouldCall: boolean): string {
  const named = others.join(", ");
  if (toolCalled) {
    const also = named === "" ? "" : `, and ${named}`;
    return `${shouldCall ? "called" : "called, though it should not be"}${also}`;
  }
  if (named === "") return shouldCall ? "not called, nor any other tool" : "not called";
  return shouldCall ? `called ${named} instead` : `not called; ${named} was`;
}
