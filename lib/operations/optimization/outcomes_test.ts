import assert from "node:assert/strict";
import { OptimizationJob } from "../../core/optimization.ts";
import { estimateText, jobLines } from "./outcomes.ts";

const TIME = "2026-01-01T00:00:00.000Z";

function job(tools: Record<string, unknown>[], more: Record<string, unknown> = {}) {
  return OptimizationJob.parse({
    id: "job_1",
    status: "running",
    phase: "evaluating",
    options: {},
    tools: tools.map((tool, index) => ({
      server: "git",
      toolName: `tool${index}`,
      evaluationId: "e",
      phase: "queued",
      ...tool,
    })),
    createdAt: TIME,
    updatedAt: TIME,
    by: "caller",
    ...more,
  });
}

Deno.test("jobLines() says which candidate is tested, and what came of each tool", () => {
  const tools = [
    { phase: "complete", outcome: "promoted cand_1" },
    { phase: "evaluating", candidates: 4, currentCandidate: 2, runsDone: 9, runsTotal: 20 },
  ];
  const [head, progress, ...rest] = jobLines(job(tools, { runs: 29, errors: 1 }));
  assert.equal(
    head,
    "Job job_1 is running: 1 of 2 tools done, 0 promoted, 29 runs (1 failed and not counted), cost not known.",
  );
  assert.match(progress ?? "", /^Testing candidate 2\/4 \(45% complete\)/);
  assert.deepEqual(rest, ["- git.tool0: promoted cand_1", "- git.tool1: evaluating"]);
});

Deno.test("jobLines() says why a job waits, and does not list hundreds of tools", () => {
  const tools = Array.from({ length: 60 }, () => ({}));
  const lines = jobLines(job(tools, { status: "paused", note: "The budget is spent" }));
  assert.match(
    lines[0] ?? "",
    /is paused: 0 of 60 tools done, 0 promoted, 0 runs, \$0\.00\. The budget is spent$/,
  );
  assert.equal(lines.length, 52);
  assert.equal(lines.at(-1), "- and 10 more");
});

Deno.test("jobLines() says what it cost, as far as that is known", () => {
  const headOf = (cost: Record<string, unknown>) => jobLines(job([], { runs: 2, cost }))[0] ?? "";
  assert.match(headOf({ costUsd: 0.25 }), /2 runs, \$0\.25\.$/);
  assert.match(headOf({ costUsd: 0.25, costKnown: false }), /2 runs, at least \$0\.25\.$/);
  assert.match(headOf({ inputTokens: 9 }), /2 runs, cost not known\.$/);
});

Deno.test("estimateText() gives time and cost, and what they are based on", () => {
  const estimate = { tools: 1, runs: 75, seconds: 600, costUsd: 1.5, basis: "a guess" };
  assert.equal(
    estimateText(estimate),
    "1 tool, about 10 min, about $1.50: a guess",
  );
  assert.match(
    estimateText({ ...estimate, seconds: 30, costUsd: null }),
    /30 s, cost not known: /,
  );
});
