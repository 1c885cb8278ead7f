import assert from "node:assert/strict";
import { JobTool, OptimizationJob } from "../core/optimization.ts";
import { jobPage, shownJob } from "./optimization_page_job.ts";

function job(tools: Partial<JobTool>[], more: Partial<OptimizationJob> = {}): OptimizationJob {
  const time = new Date(0).toISOString();
  return OptimizationJob.parse({
    id: "job_1",
    status: "completed",
    phase: "complete",
    options: {},
    tools: tools.map((tool, index) =>
      JobTool.parse({
        server: "weather",
        toolName: `tool_${index}`,
        phase: "complete",
        evaluationId: `e${index}`,
        ...tool,
      })
    ),
    createdAt: time,
    updatedAt: time,
    by: "person",
    ...more,
  });
}

Deno.test("shownJob() says what nothing came of, tool by tool and in all", () => {
  const { outcome, note, lines } = shownJob(job([
    { outcome: "Promoted" },
    { failed: true, outcome: "It did not answer" },
    { untested: true, outcome: "Not tested: the budget is spent" },
  ], { note: "1 of 3 tools were not tested; 1 of 3 tools failed" }));
  assert.equal(outcome?.words, "1 of 3 tools failed, 1 of 3 tools not tested");
  assert.equal(outcome?.reason, "It did not answer (and 1 more)");
  assert.equal(note, undefined);
  assert.deepEqual(lines.map(({ state, word }) => [state, word]), [
    ["done", "Complete"],
    ["failed", "Failed"],
    ["queued", "Not tested"],
  ]);
  assert.equal(lines[1]?.text, "It did not answer");
});

Deno.test("shownJob() keeps the note of a job without such an outcome", () => {
  const failed = shownJob(job([{}], { status: "failed", note: "No run can succeed" }));
  assert.equal(failed.outcome, undefined);
  assert.equal(failed.note, "No run can succeed");
});

Deno.test("jobPage() says that a job goes on only while it does", () => {
  assert.match(jobPage(job([{}], { status: "running" })).lead, /goes on when this page is closed/);
  assert.match(jobPage(job([{}], { status: "paused" })).lead, /until somebody resumes it/);
  for (const status of ["completed", "cancelled", "failed"] as const) {
    assert.equal(
      jobPage(job([{}], { status })).lead,
      "It has ended; what came of each tool is kept",
    );
  }
});
