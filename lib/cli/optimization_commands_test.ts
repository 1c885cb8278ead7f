import {
  CANONICAL,
  CategoryScores,
  Evaluation,
  GoldenPrompt,
  OptimizationJob,
  PromotedTool,
  PromotionEvent,
  type PromptCategory,
  Verdict,
} from "../core/optimization.ts";
import assert from "node:assert/strict";
import type {
  CandidateResults,
  Evidence,
  Overview,
  RunSummary,
  ToolOptimizationDetail,
} from "../operations/optimization/schemas.ts";
import {
  beforeAfter,
  evaluatedText,
  promotionsText,
  promptList,
  showText,
} from "./optimization_commands.ts";
import { promotedNumbers, statusText } from "./optimization_status.ts";

const plain = (_: string, text: string) => text;
const TIME = "2026-01-31T12:00:00.000Z";

const metrics = (correct: number): CategoryScores => ({
  direct: { correct, total: 5 },
  indirect: { correct: 5, total: 5 },
  negative: { correct: 0, total: 0 },
  overall: { correct: correct + 5, total: 10 },
});

const promptOf = (id: string, category: PromptCategory, fields: Partial<GoldenPrompt> = {}) =>
  GoldenPrompt.parse({
    id,
    version: 1,
    server: "weather",
    toolName: "get_forecast",
    category,
    prompt: `The prompt that is called ${id}`,
    expectedBehavior: { shouldCallTool: category !== "negative" },
    createdAt: TIME,
    origin: "person",
    ...fields,
  });

const runOf = (promptId: string, correct: boolean, status: "ok" | "error" = "ok"): RunSummary => ({
  runId: `run_${promptId}`,
  promptId,
  status,
  correct,
  toolCalled: correct,
  timestamp: "2026-01-31T12:00:00.000Z",
  durationMs: 1,
  otherTools: [],
});

const VERDICT = {
  promote: true,
  depth: "quick",
  words: "Better: quick evidence, 15 prompts",
  rules: [{ rule: "overall", passed: true, words: "10 of 10 is enough" }],
} as const;

const PROMOTION = PromotedTool.parse({
  id: "promo_1",
  server: "weather",
  toolName: "get_forecast",
  candidateId: "cand_1",
  promotedAt: TIME,
  description: "Weather of the days to come",
  metrics: metrics(5),
  baseline: metrics(3),
  evaluationId: "eval_1",
  depth: "quick",
  verdict: VERDICT,
  reason: "Our people ask so",
  by: "person",
  canonicalDescription: "Forecast",
});

const result = { errors: 0, confusion: {}, ranks: {} };
const EVALUATION = Evaluation.parse({
  id: "eval_1",
  server: "weather",
  toolName: "get_forecast",
  depth: "quick",
  startedAt: TIME,
  endedAt: TIME,
  evaluator: "claude-cli",
  thresholds: {},
  prompts: { direct: 5, indirect: 5, negative: 5 },
  repeats: 1,
  results: [
    { ...result, candidateId: CANONICAL, description: "Forecast", metrics: metrics(3) },
    {
      ...result,
      candidateId: "cand_1",
      description: "Weather of the days to come",
      metrics: metrics(5),
      verdict: VERDICT,
    },
  ],
  runs: 30,
  errors: 1,
  cost: { costUsd: 0.25 },
  warnings: ["Warning: small"],
});

function detailOf(fields: Partial<ToolOptimizationDetail> = {}): ToolOptimizationDetail {
  return {
    server: "weather",
    tool: "get_forecast",
    exists: true,
    enabled: true,
    canonicalDescription: "Forecast",
    canonicalParameters: {},
    promotion: null,
    familyPromotions: [],
    trials: [],
    staleness: null,
    candidates: [],
    prompts: [],
    warnings: [],
    evaluations: [],
    reported: null,
    suspects: [],
    history: [],
    job: null,
    ...fields,
  };
}

Deno.test("beforeAfter() has each category with its interval; no data is no number", () => {
  const [direct = "", indirect = "", negative = "", overall = ""] = beforeAfter(
    metrics(3),
    metrics(5),
    plain,
  ).split("\n");
  assert.match(
    direct,
    /Direct +3\/5 \(60 %, 95 % interval \d+-\d+ %\) +-> +5\/5 .* \+40 points \(95 % interval -12 to 77\)$/,
  );
  assert.match(indirect, /Indirect +.* 0 points \(95 % interval -43 to 43\)$/);
  assert.match(negative, /Negative +no data +-> +no data$/);
  assert.match(overall, /Overall +8\/10 .*\+20 points \(95 % interval -?\d+ to \d+\)$/);
  assert.match(
    beforeAfter(metrics(5), metrics(3), plain),
    /-40 points \(95 % interval -77 to 12\)\n/,
  );
});

Deno.test("promptList() marks what went right, wrong, in part, and not at all", () => {
  const prompts = [
    promptOf("p1", "direct"),
    promptOf("p2", "direct"),
    promptOf("p3", "indirect"),
    promptOf("p4", "negative", {
      heldOut: true,
      expectedBehavior: { shouldCallTool: false, expectedTool: "get_current" },
    }),
    promptOf("p5", "negative"),
  ];
  const runs = [
    runOf("p1", true),
    runOf("p2", true),
    runOf("p2", false),
    runOf("p3", false),
    runOf("p4", false, "error"),
  ];
  assert.deepEqual(promptList(prompts, runs, plain).split("\n"), [
    "  Direct (2)",
    "    ✓      p1  The prompt that is called p1",
    "    ✗ 1/2  p2  The prompt that is called p2",
    "  Indirect (1)",
    "    ✗  p3  The prompt that is called p3",
    "  Negative (2)",
    "    no answer  p4  The prompt that is called p4  (for get_current, held out)",
    "    -          p5  The prompt that is called p5",
    "",
  ]);
});

Deno.test("showText() sets both descriptions and their numbers side by side", () => {
  const text = showText(
    detailOf({
      promotion: PROMOTION,
      staleness: {
        reasons: ["the server's own description has changed"],
        before: "Forecast",
        now: "Forecasts",
      },
      evaluations: [EVALUATION],
      prompts: [promptOf("p1", "direct")],
      warnings: ["Warning: No negative prompts defined - x"],
      candidates: [{
        id: "cand_1",
        server: "weather",
        toolName: "get_forecast",
        description: "Weather of\nthe days \x1b[31mto come",
        charCount: 27,
        createdAt: TIME,
        origin: "person",
        evidence: null,
      }],
    }),
    [runOf("p1", true)],
    plain,
  );
  assert.match(
    text,
    /^weather\.get_forecast {2}optimized, promoted 2026-01-31 12:00 by a person\n/,
  );
  assert.match(text, /Canonical description \(8 characters\):\n {2}Forecast\n/);
  assert.match(text, /Optimized description, cand_1 \(27 characters\):\n {2}Weather of the days/);
  assert.match(
    text,
    /Before and after \(quick evidence, 10 prompts: 5 direct, 5 indirect, 0 negative\):\n {2}Direct/,
  );
  assert.match(text, /Better: quick evidence, 15 prompts\nReason: Our people ask so\n/);
  assert.match(
    text,
    /Warning: Since the promotion, the server's own .*\n {2}was: Forecast\n {2}is: {2}Forecasts\n/,
  );
  assert.match(text, /Golden prompts \(1\):\n {2}Direct \(1\)\n {4}✓ {2}p1/);
  assert.match(text, /cand_1 {2}27 characters, from a person, not evaluated\n {4}Weather of the/);
  assert.match(text, /Warning: No negative prompts/);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(text, /\x1b/);
});

Deno.test("showText() says what there is not", () => {
  const text = showText(
    detailOf({ canonicalDescription: null, exists: false, enabled: false }),
    [],
    plain,
  );
  assert.match(text, /^weather\.get_forecast {2}not optimized; its server does not list it now\n/);
  assert.match(text, /Canonical description: none\n/);
  assert.doesNotMatch(text, /Optimized description|Before and after/);
  assert.match(text, /Golden prompts: none\n\nCandidates: none\n/);
});

Deno.test("promotionsText() says what was in force after each event, by whom and why", () => {
  const events = [
    { id: "ev_2", action: "revert", promotion: null, reason: "Not\nliked" },
    { id: "ev_1", action: "promote", promotion: PROMOTION },
  ].map((event) =>
    PromotionEvent.parse({
      server: "weather",
      toolName: "get_forecast",
      time: TIME,
      by: "person",
      ...event,
    })
  );
  assert.equal(
    promotionsText(events, plain),
    "2026-01-31 12:00  revert  ev_2  by a person\n" +
      "  the canonical description\n  because: Not liked\n" +
      "2026-01-31 12:00  promote  ev_1  by a person\n" +
      "  cand_1: Weather of the days to come\n" +
      "  overall 8/10 (80 %, 95 % interval 49-94 %) -> 10/10 (100 %, 95 % interval 72-100 %), " +
      "+20 points (95 % interval -11 to 51), quick, 10 prompts\n" +
      "  because: Our people ask so\n",
  );
});

Deno.test("promotedNumbers() shows the gain that a test found, with its interval", () => {
  const gain = { mean: 0.25, low: 0.08, high: 0.4, prompts: 60 };
  const verdict = Verdict.parse({ ...VERDICT, depth: "thorough", gain });
  const numbers = promotedNumbers({ ...PROMOTION, depth: "thorough", verdict });
  assert.match(
    numbers ?? "",
    /\+25 points \(95 % interval 8 to 40\), with each .* alike, thorough, 10 prompts$/,
  );
  assert.equal(promotedNumbers({ ...PROMOTION, metrics: undefined }), undefined);
});

const EVALUATOR = { kind: "claude-cli", model: "sonnet", problem: null, checked: null } as const;

const scores = (correct: number): CategoryScores => ({
  direct: { correct, total: 5 },
  indirect: { correct: 4, total: 5 },
  negative: { correct: 0, total: 0 },
  overall: { correct: correct + 4, total: 10 },
});

function overviewOf(fields: Partial<Overview> = {}): Overview {
  const tool = { enabled: true, stale: false, candidates: 0, goldenPrompts: 0, costUsd: 0 };
  return {
    enabled: true,
    evaluator: EVALUATOR,
    reports: [{
      serverName: "weather",
      toolCount: 3,
      optimizedCount: 1,
      totalEvals: 20,
      avgImprovement: 0.2,
      costUsd: 1,
      tools: [
        {
          ...tool,
          name: "get_forecast",
          status: "optimized",
          before: scores(3),
          after: scores(5),
          depth: "quick",
          prompts: 15,
          stale: true,
          staleReasons: ["the server's own description has changed"],
        },
        { ...tool, name: "get_current", status: "baseline", before: scores(2), depth: "thorough" },
        { ...tool, name: "get_alerts\x1b[2J", status: "unoptimized", enabled: false },
      ],
    }],
    ...fields,
  };
}

Deno.test("statusText() has a line for every tool, with the numbers of what is in force", () => {
  const lines = statusText(overviewOf(), plain).split("\n");
  assert.equal(lines[0], "Evaluations by claude-cli, sonnet.");
  assert.match(
    lines[1]!,
    /^TOOL +STATUS +DIRECT +INDIRECT +NEGATIVE +OVERALL +GAIN, POINTS +PROMPTS +NOTE$/,
  );
  assert.match(
    lines[2]!,
    /^weather.get_forecast +optimized +100 % +80 % +no data +90 % +\+20 \(-16 to 51\) +15 +quick; the server's own description has changed$/,
  );
  assert.match(lines[3]!, /^weather.get_current +baseline +40 % .* thorough/);
  assert.match(lines[4]!, /^weather.get_alerts +unoptimized +off$/);
  assert.equal(lines[5], "weather: 1 of 3 tools optimized");
});

Deno.test("statusText() says that it is off, and why nothing can be evaluated", () => {
  const off = statusText(overviewOf({ enabled: false, reports: [] }), plain);
  assert.match(off, /^Optimization is disabled. Enable it with `quartermaster optimize enable`/);
  assert.match(off, /No server has tools: see `quartermaster server list`\.\n$/);
  const evaluator = {
    kind: null,
    model: null,
    problem: "Cannot evaluate: no claude",
    checked: null,
  };
  assert.match(
    statusText(overviewOf({ evaluator }), plain),
    /^Warning: Cannot evaluate: no claude\nTOOL/,
  );
});

Deno.test("statusText() does not warn of an evaluator that nobody needs while it is off", () => {
  const evaluator = {
    kind: null,
    model: null,
    problem: "Cannot evaluate: optimization is off",
    checked: null,
  };
  const text = statusText({ enabled: false, evaluator, reports: [] }, plain);
  assert.match(text, /^Optimization is disabled/);
  assert.doesNotMatch(text, /Warning/);
  assert.match(statusText({ enabled: true, evaluator, reports: [] }, plain), /Warning: Cannot/);
});
Deno.test("evaluatedText() has the job, depth, counts, rules and what stands against them", () => {
  const job = OptimizationJob.parse({
    id: "job_1",
    status: "completed",
    phase: "complete",
    options: {},
    tools: [{
      server: "weather",
      toolName: "get_forecast",
      phase: "complete",
      evaluationId: "eval_1",
    }],
    createdAt: TIME,
    updatedAt: TIME,
    by: "person",
  });
  const estimate = { tools: 1, runs: 1, seconds: 1, costUsd: null, basis: "a guess" };
  const shown = (more: Partial<Evidence>) => {
    const evidence: Evidence = {
      source: "measured",
      depth: "quick",
      metrics: metrics(5),
      baseline: metrics(3),
      prompts: 10,
      errors: 0,
      time: TIME,
      verdict: Verdict.parse(VERDICT),
      ...more,
    };
    const candidate: CandidateResults = {
      candidateId: "cand_1",
      tool: "get_forecast",
      description: "Weather of the days to come",
      metrics: { directSuccess: 1, indirectSuccess: 1, negativeSuccess: null, overall: 1 },
      counts: metrics(5),
      intervals: { direct: null, indirect: null, negative: null, overall: null },
      evidence,
      confusion: {},
      ranks: [],
      runs: [],
      runCount: 10,
    };
    const view = { paint: plain, input: { candidateId: "cand_1" } };
    return evaluatedText({ job, estimate, candidates: [candidate] }, view);
  };
  const text = shown({});
  assert.match(text, /^quick evidence, 10 prompts: .*\n {2}Direct[^]*\nJob job_1 /);
  assert.match(
    text,
    /\n {2}Overall +8\/10 .* -> +10\/10 .*\nBetter: quick evidence, 15 prompts\n {2}✓ /,
  );
  const beside = shown({ depth: "thorough", beside: 1, problem: "The evaluation is void: errors" });
  assert.match(
    beside,
    /^thorough evidence, 10 prompts: .* 0 negative; alongside 1 tool of another/,
  );
  assert.match(beside, /\nThe evaluation is void: errors\n/);
});
