import assert from "node:assert/strict";
import { JobOptions } from "../../core/optimization.ts";
import { estimateJob, type ToolData } from "./estimate.ts";
import { aPrompt, aRun } from "../testing/runs.ts";
import { somePrompts } from "../testing/weather.ts";

const empty: ToolData = {
  server: "weather",
  tool: "get_forecast",
  canonical: "Own",
  prompts: [],
  writtenAt: new Map(),
  siblingPrompts: 0,
  candidates: [],
  evaluations: [],
  inForce: undefined,
};
const base = { options: JobOptions.parse({}), recent: [], kind: "claude-cli" as const };

Deno.test("estimateJob() guesses where nothing was measured, and says so", () => {
  const estimate = estimateJob({ ...base, tools: [empty, empty], concurrency: 2 });
  assert.equal(estimate.tools, 2);
  // 15 prompts, 5 descriptions and 2 of them once more, 2 tools.
  assert.equal(estimate.runs, 210);
  // 105 runs side by side, and 4 texts that take twice as long.
  assert.equal(estimate.seconds, 113 * 8);
  assert.equal(estimate.costUsd, null);
  assert.match(estimate.basis, /assuming 8 s per run/);
  assert.match(estimate.basis, /210 runs and 4 requests/);
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
  assert.equal(estimate.runs, 105);
  assert.equal(estimate.seconds, 2 * (105 + 2));
  assert.equal(estimate.costUsd?.toFixed(2), "1.07");
  assert.match(estimate.basis, /based on the last 3 runs with claude-cli/);
});

Deno.test("estimateJob() keeps within a budget, and counts repeats and siblings' prompts", () => {
  const tools = [{ ...empty, siblingPrompts: 4 }];
  const thorough = JobOptions.parse({ depth: "thorough" });
  assert.equal(
    estimateJob({ ...base, options: thorough, tools, concurrency: 1 }).runs,
    // Those that decide, negative ones that name a sibling, and siblings' own.
    (15 + 7 + 4) * 5 * 3,
  );
  const options = JobOptions.parse({ maxRuns: 10 });
  assert.equal(estimateJob({ ...base, options, tools, concurrency: 1 }).runs, 10);
});

Deno.test("estimateJob() counts a second evaluation only where the best of several is promoted", () => {
  const runs = (options: object) =>
    estimateJob({ ...base, options: JobOptions.parse(options), tools: [empty], concurrency: 1 })
      .runs;
  assert.equal(runs({ candidatesPerTool: 2 }), 15 * (3 + 2));
  assert.equal(runs({ candidatesPerTool: 1 }), 15 * 2);
  assert.equal(runs({ candidatesPerTool: 2, autoPromote: false }), 15 * 3);
});

Deno.test("estimateJob() says that there is no evaluator", () => {
  const estimate = estimateJob({ ...base, kind: undefined, tools: [empty], concurrency: 1 });
  assert.match(estimate.basis, /no evaluator is available/);
});

Deno.test("estimateJob() counts of a thorough evaluation what is asked, with what can be held out", () => {
  const options = JobOptions.parse({ depth: "thorough", candidatesPerTool: 1, generate: false });
  const prompts = somePrompts(12);
  const candidate = {
    id: "c",
    server: "weather",
    toolName: "get_forecast",
    description: "Other",
    charCount: 5,
    createdAt: "2025-01-01T00:00:00.000Z",
    origin: "person",
  } as const;
  const estimateOf = (more: Partial<ToolData>) =>
    estimateJob({
      ...base,
      options,
      tools: [{ ...empty, prompts, candidates: [candidate], ...more }],
      concurrency: 1,
    });
  assert.equal(estimateOf({}).runs, 15 * 2 * 3);
  assert.match(estimateOf({}).basis, /90 runs and 0 requests/);
  const named = prompts.map((prompt) =>
    prompt.category === "negative"
      ? { ...prompt, expectedBehavior: { shouldCallTool: false, expectedTool: "get_alerts" } }
      : prompt
  );
  assert.equal(estimateOf({ prompts: named }).runs, (15 + 7) * 2 * 3);
  const writing = { ...options, generate: true };
  const { basis } = estimateJob({
    ...base,
    options: writing,
    tools: [{ ...empty, prompts, candidates: [candidate] }],
    concurrency: 1,
  });
  assert.match(
    basis,
    /0 requests to generate text/,
    "prompts that can be held out need not be written",
  );
});

Deno.test("estimateJob() says where too few prompts decide for anything to be promoted", () => {
  const options = JobOptions.parse({ depth: "thorough", candidatesPerTool: 1, generate: false });
  const basisOf = (each: number) =>
    estimateJob({
      ...base,
      options,
      tools: [{ ...empty, prompts: somePrompts(each) }],
      concurrency: 1,
    }).basis;
  assert.match(basisOf(2), /for weather\.get_forecast: only 3 prompts can decide, .* at least 5/);
  assert.doesNotMatch(basisOf(5), /can decide/);
});
