import assert from "node:assert/strict";
import { OptimizationJob } from "../../core/optimization.ts";
import { isJobNews } from "./is_job_news.ts";
import { jobNews } from "./job_news.ts";

Deno.test("isJobNews() tells a job from what else comes on the channel", () => {
  for (const status of ["running", "paused", "completed", "cancelled", "failed"]) {
    const job = OptimizationJob.parse({
      id: "job_1",
      status,
      phase: "evaluating",
      options: {},
      tools: [{ server: "a", toolName: "b", phase: "evaluating", evaluationId: "c" }],
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:00.000Z",
      by: "person",
    });
    assert.ok(isJobNews(JSON.parse(JSON.stringify(jobNews(job)))), status);
  }
  for (const other of [undefined, {}, { server: "weather", tool: "forecast" }, { id: "job_1" }]) {
    assert.ok(!isJobNews(other));
  }
});
