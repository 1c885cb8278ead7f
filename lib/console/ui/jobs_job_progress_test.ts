import assert from "node:assert/strict";
import { JobTool, OptimizationJob } from "../../core/optimization.ts";
import { dollars, jobProgress } from "./jobs.ts";

function tool(name: string, more: Partial<JobTool> = {}): JobTool {
  return JobTool.parse({
    server: "weather",
    toolName: name,
    phase: "queued",
    evaluationId: `evaluation-${name}`,
    ...more,
  });
}

function job(more: Record<string, unknown> = {}): OptimizationJob {
  const time = "2026-01-01T00:00:00.000Z";
  return OptimizationJob.parse({
    id: "job_1",
    status: "running",
    phase: "evaluating",
    options: {},
    tools: [
      tool("current", { phase: "complete", outcome: "Promoted", promotedCandidateId: "cand" }),
      tool("alerts", {
        phase: "evaluating",
        runsDone: 45,
        runsTotal: 60,
        candidates: 4,
        currentCandidate: 3,
        byCategory: {
          direct: { done: 15, total: 20 },
          indirect: { done: 15, total: 20 },
          negative: { done: 15, total: 20 },
        },
      }),
      tool("radar"),
    ],
    createdAt: time,
    updatedAt: time,
    runs: 105,
    by: "person",
    ...more,
  });
}

Deno.test("jobProgress() says what is tested now, how far it is and what came of the rest", () => {
  const { message, current, lines, percent, done, tools, title } = jobProgress(job());
  assert.equal(title, "weather (3 tools)");
  assert.equal(message, "Testing candidate 3/4 for alerts (tool 2 of 3)");
  assert.deepEqual(current?.categories[2], { category: "negative", done: 15, total: 20 });
  assert.deepEqual([done, tools, percent], [1, 3, 57]);
  assert.deepEqual(lines.map(({ word, text, isPromoted }) => [word, text, isPromoted]), [
    ["Complete", "Promoted", true],
    ["Evaluating", "45/60 runs done", false],
    ["Queued", "", false],
  ]);
});

Deno.test("jobProgress() of a job that has ended has no current tool, and says what is not done", () => {
  const ended = jobProgress(job({ status: "cancelled" }));
  assert.equal(ended.current, undefined);
  assert.equal(ended.message, "Canceled");
  assert.deepEqual(ended.lines.map(({ word }) => word), [
    "Complete",
    "Not finished",
    "Not finished",
  ]);
  assert.equal(jobProgress(job({ status: "completed" })).percent, 100);
});

Deno.test("jobProgress() shows the stretch around the current tool, however many there are", () => {
  const tools = Array.from(
    { length: 5_000 },
    (_, index) => tool(`tool_${index}`, index < 2_000 ? { phase: "complete" } : {}),
  );
  const { lines, earlier, later } = jobProgress(job({ tools }));
  assert.equal(earlier + lines.length + later, 5_000);
  assert.equal(lines.length, 30);
  assert.ok(lines.some(({ tool }) => tool === "tool_2000"));
});

Deno.test("jobProgress() does not tell a part of the cost as the whole", () => {
  const cost = { inputTokens: 1, outputTokens: 1, costUsd: 0.25, costKnown: false as const };
  assert.equal(jobProgress(job({ runs: 3, cost })).spent, "3 runs, at least $0.25");
});

Deno.test("jobProgress() tells what was spent of what may be", () => {
  const spent = jobProgress(job({
    errors: 2,
    cost: { costUsd: 0.012 },
    options: { maxRuns: 200, maxCostUsd: 1 },
  })).spent;
  assert.equal(spent, "105 runs of at most 200, 2 failed and not counted, $0.0120, budget $1.00");
});

Deno.test("jobProgress() has a mark that changes when a tool is done or the job stops, not with each run", () => {
  const first = jobProgress(job()).mark;
  assert.equal(jobProgress(job({ runs: 106 })).mark, first);
  assert.notEqual(jobProgress(job({ status: "paused" })).mark, first);
});

Deno.test("dollars() never makes a cost look free", () => {
  assert.deepEqual([0, 0.0012, 1.234].map(dollars), ["$0.00", "$0.0012", "$1.23"]);
});
