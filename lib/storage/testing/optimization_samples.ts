import type { EvalRun, Evaluation, GoldenPrompt, PromotedTool } from "../../core/optimization.ts";

const NOTHING = { correct: 0, total: 0 };

/** A prompt like any other. */
export function promptSample(changed: Partial<GoldenPrompt> = {}): GoldenPrompt {
  return {
    id: "prompt-1",
    version: 1,
    server: "git",
    toolName: "status",
    category: "direct",
    prompt: "Show the status of my repository",
    expectedBehavior: { shouldCallTool: true },
    createdAt: "2026-01-01T00:00:00.000Z",
    origin: "person",
    heldOut: false,
    retired: false,
    ...changed,
  };
}

export function runSample(changed: Partial<EvalRun> = {}): EvalRun {
  return {
    id: "run-1",
    server: "git",
    toolName: "status",
    candidateId: "canonical",
    promptId: "prompt-1",
    promptVersion: 1,
    repeat: 0,
    timestamp: "2026-01-01T00:00:00.000Z",
    status: "ok",
    result: { toolCalled: true, correct: true, durationMs: 1_000 },
    calls: [],
    evaluator: "claude-cli",
    descriptionHash: "0123456789abcdef",
    cost: { inputTokens: 0, outputTokens: 0 },
    attempts: 1,
    ...changed,
  };
}

export function evaluationSample(changed: Partial<Evaluation> = {}): Evaluation {
  return {
    id: "evaluation-1",
    server: "git",
    toolName: "status",
    depth: "quick",
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:01:00.000Z",
    evaluator: "claude-cli",
    thresholds: { minOverall: 0.85, minNegative: 0.8, minImprovement: 0.05, maxRegression: 0.1 },
    prompts: { direct: 5, indirect: 5, negative: 5 },
    repeats: 1,
    results: [{
      candidateId: "canonical",
      description: "Status",
      metrics: { direct: NOTHING, indirect: NOTHING, negative: NOTHING, overall: NOTHING },
      errors: 0,
      confusion: {},
      ranks: {},
    }],
    runs: 0,
    errors: 0,
    cost: { inputTokens: 0, outputTokens: 0 },
    warnings: [],
    ...changed,
  };
}

export function promotionSample(changed: Partial<PromotedTool> = {}): PromotedTool {
  return {
    id: "promotion-1",
    server: "git",
    toolName: "status",
    candidateId: "candidate-1",
    promotedAt: "2026-01-01T00:00:00.000Z",
    description: "Shows what has changed",
    by: "person",
    canonicalDescription: "Status",
    ...changed,
  };
}
