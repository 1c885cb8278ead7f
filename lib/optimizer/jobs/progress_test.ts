import assert from "node:assert/strict";
import { type JobTool, OptimizationJob } from "../../core/optimization.ts";
import { progressMessage } from "./progress.ts";

function aJob(tool: Partial<JobTool>, more: Partial<OptimizationJob> = {}): OptimizationJob {
  const time = "2026-01-01T00:00:00.000Z";
  return OptimizationJob.parse({
    id: "job_1",
    status: "running",
    phase: "evaluating",
    options: {},
    tools: [{
      server: "weather",
      toolName: "get_forecast",
      phase: "evaluating",
      evaluationId: "evaluation_1",
      ...tool,
    }],
    createdAt: time,
    updatedAt: time,
    by: "person",
    ...more,
  });
}

Deno.test("progressMessage() says which candidate is tested and how far that is", () => {
  const job = aJob({ currentCandidate: 2, candidates: 4, runsDone: 45, runsTotal: 100 });
  assert.equal(progressMessage(job), "Testing candidate 2/4 (45% complete)");
});

Deno.test("progressMessage() says which of several tools it is about", () => {
  const [tool] = aJob({ candidates: 4 }).tools;
  assert.ok(tool);
  const job = aJob({}, { tools: [{ ...tool, phase: "complete" }, tool] });
  assert.equal(
    progressMessage(job),
    "Testing candidate 1/4 (0% complete), tool 2/2: weather.get_forecast",
  );
});

Deno.test("progressMessage() has words for what comes before and after", () => {
  assert.match(progressMessage(aJob({ phase: "queued" })), /^Waiting to start/);
  assert.match(progressMessage(aJob({ phase: "generating" })), /^Writing prompts for/);
  assert.match(
    progressMessage(aJob({ phase: "generating", round: 2 })),
    /^Writing candidates \(round 2\) for/,
  );
  assert.match(progressMessage(aJob({ phase: "promoting" })), /^Deciding on/);
  assert.equal(progressMessage(aJob({}, { status: "paused", note: "why" })), "Paused: why");
  assert.equal(progressMessage(aJob({}, { status: "completed" })), "Completed");
});
