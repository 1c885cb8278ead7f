import assert from "node:assert/strict";
import { OptimizationJob } from "../../core/optimization.ts";
import { jobNews, jobProgress, withNews } from "./jobs.ts";

function job(runsDone: number, more: Record<string, unknown> = {}, count = 3): OptimizationJob {
  const time = "2026-01-01T00:00:00.000Z";
  return OptimizationJob.parse({
    id: "job_1",
    status: "running",
    phase: "evaluating",
    options: {},
    tools: Array.from({ length: count }, (_, index) => ({
      server: "weather",
      toolName: `tool_${index}`,
      phase: index === 0 ? "evaluating" : "queued",
      evaluationId: `evaluation-${index}`,
      runsDone: index === 0 ? runsDone : 0,
      runsTotal: 60,
    })),
    createdAt: time,
    updatedAt: time,
    by: "person",
    ...more,
  });
}

Deno.test("jobNews() stays small, however many tools the job has", () => {
  const text = JSON.stringify(jobNews(job(5, {}, 5_000)));
  assert.ok(text.length < 1_500, `${text.length} characters`);
});

Deno.test("withNews() shows how far it is, and the line of the tool that is worked on", () => {
  const shown = withNews(jobProgress(job(5)), jobNews(job(45)));
  assert.deepEqual(shown, jobProgress(job(45)));
  const ended = withNews(jobProgress(job(5)), jobNews(job(45, { status: "cancelled" })));
  assert.deepEqual([ended.message, ended.current], ["Canceled", undefined]);
});
