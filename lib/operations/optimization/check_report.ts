import * as z from "zod";
import {
  CANONICAL,
  CategoryScores,
  type EvalRun,
  type Evaluation,
  type GoldenPrompt,
  isOfModel,
  type JobTool,
  PromptCategory,
} from "../../core/optimization.ts";
import { defined } from "../../core/defined.ts";
import { counted } from "../../core/text.ts";
import { checkProblem, checkRules } from "../../optimizer/jobs/check.ts";

/** A prompt that the description in force got wrong. */
const WrongPrompt = z.object({
  promptId: z.string(),
  category: PromptCategory,
  prompt: z.string(),
  /** What should have been called; null: any other tool or none. */
  expected: z.string().nullable(),
  called: z.array(z.string()),
});

export const CheckedTool = z.object({
  server: z.string(),
  tool: z.string(),
  /** Where there are several, each has an entry. */
  model: z.string().exactOptional(),
  /** How the tools were shown, if not as usual. */
  setting: z.string().exactOptional(),
  /** `error`: it could not be tested; `skipped`: it has no prompts. */
  status: z.enum(["passed", "failed", "error", "skipped"]),
  /** `canonical`, or the promoted candidate. */
  candidateId: z.string(),
  metrics: CategoryScores.nullable(),
  rules: z.array(z.object({
    rule: z.enum(["overall", "negative"]),
    passed: z.boolean(),
    words: z.string(),
  })),
  wrong: z.array(WrongPrompt),
  /** Why it was not tested. */
  problem: z.string().exactOptional(),
  seconds: z.number(),
});
export type CheckedTool = z.infer<typeof CheckedTool>;

export const CheckReport = z.object({
  /** 0: every tool reached the thresholds; 1: one did not; 2: one could not be tested. */
  exitCode: z.int().min(0).max(2),
  passed: z.int(),
  failed: z.int(),
  errors: z.int(),
  skipped: z.int(),
  tools: z.array(CheckedTool),
});
export type CheckReport = z.infer<typeof CheckReport>;

/** What came of one tool of a check, with each of its models. */
export function checkedTool(
  { server, toolName, outcome, plan }: JobTool,
  { evaluation, runs, prompts }: {
    evaluation: Evaluation | undefined;
    runs: readonly EvalRun[];
    prompts: readonly GoldenPrompt[];
  },
): CheckedTool[] {
  const [result] = evaluation?.results ?? [];
  const base = {
    server,
    tool: toolName,
    candidateId: result?.candidateId ?? CANONICAL,
    ...defined({ setting: evaluation?.setting }),
    metrics: null,
    rules: [],
    wrong: [],
    seconds: 0,
  };
  if (plan?.prompts.length === 0) {
    return [{ ...base, status: "skipped", problem: "It has no prompts" }];
  }
  if (!evaluation || !result) {
    return [{ ...base, status: "error", problem: outcome ?? "It was not tested" }];
  }
  const problem = checkProblem(evaluation);
  if (problem !== undefined) return [{ ...base, status: "error", problem }];
  const seconds = (Date.parse(evaluation.endedAt) - Date.parse(evaluation.startedAt)) / 1_000;
  const entryOf = (metrics: CategoryScores, own: readonly EvalRun[]): CheckedTool => {
    const rules = checkRules(metrics, evaluation.thresholds);
    return {
      ...base,
      status: rules.every(({ passed }) => passed) ? "passed" : "failed",
      metrics,
      rules,
      wrong: wrongPrompts(own, prompts),
      seconds,
    };
  };
  if (!result.models) return [entryOf(result.metrics, runs)];
  return result.models.map(({ model, metrics }, at) => ({
    ...entryOf(metrics, runs.filter((run) => isOfModel(run, model))),
    model,
    // The time is spent once, on all models.
    seconds: at === 0 ? seconds : 0,
  }));
}

function wrongPrompts(
  runs: readonly EvalRun[],
  prompts: readonly GoldenPrompt[],
): CheckedTool["wrong"] {
  const wrong = runs.filter(({ status, result }) => status === "ok" && !result.correct);
  return [...Map.groupBy(wrong, ({ promptId }) => promptId)].flatMap(([promptId, own]) => {
    const prompt = prompts.find(({ id }) => id === promptId);
    if (!prompt) return [];
    const { toolName, category, expectedBehavior: { shouldCallTool, expectedTool } } = prompt;
    const called = own.flatMap(({ calls }) => calls.map(({ tool, name }) => tool ?? name));
    return [{
      promptId,
      category,
      prompt: prompt.prompt,
      expected: shouldCallTool ? toolName : expectedTool ?? null,
      called: [...new Set(called)],
    }];
  }).sort((one, other) => one.promptId < other.promptId ? -1 : 1);
}

export function checkReport(tools: CheckedTool[]): CheckReport {
  const count = (status: CheckedTool["status"]) =>
    tools.filter((tool) => tool.status === status).length;
  const [passed, failed, errors, skipped] = (["passed", "failed", "error", "skipped"] as const)
    .map(count) as [number, number, number, number];
  // Where nothing was tested, nothing can be said to hold.
  const exitCode = errors > 0 || passed + failed === 0 ? 2 : failed > 0 ? 1 : 0;
  return { exitCode, passed, failed, errors, skipped, tools };
}

const MARKS: Record<CheckedTool["status"], string> = {
  passed: "OK",
  failed: "BELOW THRESHOLD",
  error: "COULD NOT RUN",
  skipped: "SKIPPED",
};

export function checkText({ passed, failed, errors, skipped, tools }: CheckReport): string {
  const lines = tools.flatMap(({ server, tool, model, status, rules, wrong, problem, ...of }) => [
    `${MARKS[status]}  ${server}.${tool}` + (model === undefined ? "" : ` with ${model}`) +
    (of.candidateId === CANONICAL ? "" : `, promoted description ${of.candidateId}`) +
    (of.setting === undefined ? "" : `, ${of.setting}`),
    ...(problem === undefined ? [] : [`  ${problem}`]),
    ...rules.map(({ words }) => `  ${words}`),
    ...(status === "failed" ? wrong.map((one) => `  ${wrongText(one)}`) : []),
  ]);
  const counts = [
    tools.some(({ model }) => model !== undefined)
      ? `${counted(tools.length, "test")} of a tool with a model: ${passed} OK`
      : `${counted(tools.length, "tool")}: ${passed} OK`,
    `${failed} below the threshold`,
    ...(errors > 0 ? [`${errors} could not be tested`] : []),
    ...(skipped > 0 ? [`${skipped} without prompts`] : []),
  ];
  return [...lines, counts.join(", ")].join("\n");
}

export function wrongText({ category, prompt, expected, called }: CheckedTool["wrong"][number]) {
  const should = expected === null ? "another tool or none" : expected;
  return `${category} "${prompt}": expected ${should}, called ${called.join(", ") || "none"}`;
}
