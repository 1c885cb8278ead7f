import {
  CANONICAL,
  type EvalRun,
  type GoldenPrompt,
  type PromptCategory,
} from "../../core/optimization.ts";

const TIME = "2026-01-01T00:00:00.000Z";

/** A golden prompt of "get_forecast" of "weather". */
export function aPrompt(
  id: string,
  category: PromptCategory,
  more: Partial<GoldenPrompt> = {},
): GoldenPrompt {
  return {
    id,
    version: 1,
    server: "weather",
    toolName: "get_forecast",
    category,
    prompt: `What to ask for ${id}`,
    expectedBehavior: { shouldCallTool: category !== "negative" },
    createdAt: TIME,
    origin: "person",
    heldOut: false,
    retired: false,
    ...more,
  };
}

/** A run of a prompt that counted, correct or not. */
export function aRun(
  prompt: GoldenPrompt,
  correct: boolean,
  more: Partial<EvalRun> = {},
): EvalRun {
  const toolCalled = correct === prompt.expectedBehavior.shouldCallTool;
  return {
    id: crypto.randomUUID(),
    server: prompt.server,
    toolName: prompt.toolName,
    candidateId: CANONICAL,
    promptId: prompt.id,
    promptVersion: prompt.version,
    repeat: 0,
    timestamp: TIME,
    status: "ok",
    result: { toolCalled, correct, durationMs: 1 },
    calls: [],
    evaluator: "claude-cli",
    descriptionHash: "0",
    cost: { inputTokens: 0, outputTokens: 0 },
    attempts: 1,
    ...more,
  };
}

/** A run that says nothing, though its fields would say that all went well. */
export function aFailedRun(prompt: GoldenPrompt, more: Partial<EvalRun> = {}): EvalRun {
  return aRun(prompt, true, { status: "error", ...more });
}
