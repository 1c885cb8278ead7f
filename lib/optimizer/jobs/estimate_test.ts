import assert from "node:assert/strict";
import { JobOptions } from "../../core/optimization.ts";
import { estimateJob, type ToolData } from "./estimate.ts";
import { aPrompt, aRun } from "../testing/runs.ts";
import { somePrompts } from "../testing/weather.ts";

const empty: ToolData = {
  server: "weather",
  tool: "get_forecast",
  parameters: {},
  canonical: "Own",
  prompts: [],
  writtenAt: new Map(),
  siblingPrompts: 0,
  bareSiblings: 0,
  candidates: [],
  evaluations: [],
  tests: [],
  inForce: undefined,
  ofFamily: {},
};
const base = {
  options: JobOptions.parse({}),
  recent: [],
  evaluators: [{ kind: "claude-cli" as const, model: "sonnet" }],
};

Deno.test("estimateJob() guesses where nothing was measured, and says so", () => {
  const estimate = estimateJob({ ...base, tools: [empty, empty], concurrency: 2 });
  assert.equal(estimate.tools, 2);
  // 15 prompts, 5 descriptions, 2 tools.
  assert.equal(estimate.runs, 150);
  // 75 runs side by side, and 4 texts that take twice as long.
  assert.equal(estimate.seconds, 83 * 8);
  assert.equal(estimate.costUsd, null);
  assert.match(estimate.basis, /assuming 8 s per run/);
  assert.match(
    estimate.basis,
    /^proposes candidates and confirms none; at most 150 runs and 4 requests/,
  );
});

Deno.test("estimateJob() measures on runs of the same kind that went well", () => {
  const prompt = aPrompt("p", "direct");
  const run = (durationMs: number, more = {}) =>
    aRun(prompt, true, {
      result: { toolCalled: true, correct: true, durationMs },
      cost: { inputTokens: 1, outputTokens: 1, costUsd: 0.01 },
      ...more,
    });
  const recent = [
    run(2_000),
    run(1_000),
    run(90_000),
    run(500_000, { status: "error" }),
    run(500_000, { evaluator: "messages-api" }),
  ];
  const stock = { ...empty, prompts: somePrompts(5) };
  const estimate = estimateJob({ ...base, recent, tools: [stock], concurrency: 1 });
  assert.equal(estimate.runs, 75);
  assert.equal(estimate.seconds, 2 * (75 + 2));
  assert.equal(estimate.costUsd?.toFixed(2), "0.77");
  assert.match(estimate.basis, /based on the last 3 runs with claude-cli/);
});

Deno.test("estimateJob() keeps within a budget, and counts siblings' prompts", () => {
  const tools = [{ ...empty, siblingPrompts: 4 }];
  const estimateOf = (options: object) =>
    estimateJob({ ...base, options: JobOptions.parse(options), tools, concurrency: 1 });
  assert.equal(estimateOf({}).runs, (15 + 4) * 5);
  assert.equal(estimateOf({ repeats: 2 }).runs, (15 + 4) * 5 * 2);
  assert.equal(estimateOf({ maxRuns: 10 }).runs, 10);
});

Deno.test("estimateJob() says what a thorough test can find, usually takes and takes at most", () => {
  const estimateOf = (options: object, more: Partial<ToolData> = {}) =>
    estimateJob({
      ...base,
      options: JobOptions.parse({ depth: "thorough", ...options }),
      tools: [{ ...empty, ...more }],
      concurrency: 1,
    });
  const four = estimateOf({});
  // Four candidates are screened; a second one is tested where the first fails.
  // Before, the description in force is put to 15 prompts; each further round writes two more.
  assert.equal(four.runs, 15 + 30 * (4 + 2 + 2) + 240 * 3);
  assert.match(
    four.basis,
    /^can find gains of \d+ points or more with 240 prompts; candidates written in up to 3 rounds; /,
  );
  assert.match(four.basis, /; usually about 225 runs, at most 975 runs and 4 requests/);
  const one = estimateOf({ candidatesPerTool: 1, rounds: 1 });
  assert.equal(one.runs, 240 * 2);
  const inForce = { inForce: "x" };
  assert.equal(estimateOf({ candidatesPerTool: 1, rounds: 1 }, inForce).runs, 240 * 3);
  const points = (basis: string) => Number(/gains of (\d+) points/.exec(basis)?.[1]);
  const budget = estimateOf({ candidatesPerTool: 1, rounds: 1, maxRuns: 120 });
  assert.match(budget.basis, /with 60 prompts/);
  assert.ok(points(budget.basis) > points(one.basis));
  assert.match(estimateOf({}, { bareSiblings: 3 }).basis, /7 requests to generate text/);
});

Deno.test("estimateJob() says that there is no evaluator", () => {
  const estimate = estimateJob({ ...base, evaluators: [], tools: [empty], concurrency: 1 });
  assert.match(estimate.basis, /no evaluator is available/);
});

Deno.test("estimateJob() counts saved prompts that can be held out where nothing is written", () => {
  const options = JobOptions.parse({ depth: "thorough", candidatesPerTool: 1, generate: false });
  const candidate = {
    id: "c",
    server: "weather",
    toolName: "get_forecast",
    description: "Other",
    charCount: 5,
    createdAt: "2025-01-01T00:00:00.000Z",
    origin: "person",
  } as const;
  const estimateOf = (createdAt: string) =>
    estimateJob({
      ...base,
      options,
      tools: [{
        ...empty,
        prompts: somePrompts(12),
        candidates: [{ ...candidate, createdAt }],
      }],
      concurrency: 1,
    });
  assert.equal(estimateOf("2025-01-01T00:00:00.000Z").runs, 36 * 2);
  assert.equal(estimateOf("2026-05-01T00:00:00.000Z").runs, 0, "its author may know all of them");
});
