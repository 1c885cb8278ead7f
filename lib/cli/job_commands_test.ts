import assert from "node:assert/strict";
import { RESTART_NOTE } from "../optimizer/report.ts";
import { JobTool, OptimizationJob } from "../core/optimization.ts";
import { jobsText, jobText, toolLine } from "./job_commands.ts";

const plain = (_: string, text: string) => text;

/** Marks what is colored with the color's name. */
const paint = (color: string, text: string) => color === "gray" ? text : `<${color} ${text}>`;

function listedJob(id: string, more: Partial<JobTool>): OptimizationJob {
  const time = new Date(0).toISOString();
  return OptimizationJob.parse({
    id,
    status: "completed",
    phase: "complete",
    options: {},
    tools: [
      JobTool.parse({
        server: "weather",
        toolName: "a",
        phase: "complete",
        evaluationId: "e",
        ...more,
      }),
    ],
    createdAt: time,
    updatedAt: time,
    by: "person",
  });
}

Deno.test("jobsText() warns of a job that could test nothing, and says why", () => {
  const [, done, empty] = jobsText([
    listedJob("job_1", { outcome: "Promoted" }),
    listedJob("job_2", { failed: true, outcome: "There are no\nprompts" }),
  ], paint).split("\n");
  assert.match(done!, /^job_1 +completed +\S+ \S+ +quick +1\/1 +0 +0$/);
  assert.match(empty!, /^job_2 +<yellow nothing could be tested> .* quick +0\/1 /);
  assert.match(empty!, / There are no prompts$/);
});

Deno.test("jobText() and toolLine() say how it stands and what can be done", () => {
  const time = new Date(0).toISOString();
  const done = JobTool.parse({
    server: "weather",
    toolName: "a",
    phase: "complete",
    evaluationId: "e1",
    outcome: "Promoted cand_1",
    promotedCandidateId: "cand_1",
  });
  const failed = { ...done, failed: true, outcome: "It did not answer", evaluationId: "e2" };
  const job = OptimizationJob.parse({
    id: "job_1",
    status: "paused",
    phase: "evaluating",
    options: {},
    tools: [done, { ...done, phase: "queued", promotedCandidateId: undefined }],
    createdAt: time,
    updatedAt: time,
    by: "person",
    runs: 40,
    errors: 2,
    cost: { costUsd: 0.5 },
    note: "The budget is spent",
  });
  assert.equal(
    jobText(job),
    "Job job_1 is paused: 1 of 2 tools done, 1 promoted, " +
      "40 runs (2 failed and not counted), $0.50. The budget is spent\n" +
      `${RESTART_NOTE}\n` +
      "Check job job_1 again with `quartermaster optimize jobs job_1`.\n" +
      "Resume it with `quartermaster optimize resume job_1`.\n" +
      "Cancel it with `quartermaster optimize cancel job_1`.\n",
  );
  assert.doesNotMatch(jobText({ ...job, status: "running" }), /Resume/);
  assert.doesNotMatch(jobText({ ...job, status: "completed", tools: [] }), /until it restarts/);
  assert.equal(toolLine(done, plain), "✓ weather.a  Promoted cand_1\n");
  assert.equal(toolLine(failed, plain), "✗ weather.a  It did not answer\n");
});

Deno.test("jobText() and toolLine() do not make a job that tested nothing look done", () => {
  const time = new Date(0).toISOString();
  const tool = { server: "weather", toolName: "a", phase: "complete", evaluationId: "e1" };
  const failed = JobTool.parse({ ...tool, failed: true, outcome: "It did not answer" });
  const untested = JobTool.parse({ ...tool, untested: true, outcome: "Not tested" });
  const job = OptimizationJob.parse({
    id: "job_1",
    status: "completed",
    phase: "complete",
    options: {},
    tools: [failed, untested],
    createdAt: time,
    updatedAt: time,
    by: "person",
    note: "1 of 2 tools failed",
  });
  assert.match(
    jobText(job),
    /^Job job_1 has completed \(nothing could be tested\): 0 of 2 tools done, 0 promoted, 0 runs/,
  );
  assert.equal(toolLine(failed, plain), "✗ weather.a  It did not answer\n");
  assert.equal(toolLine(untested, plain), "! weather.a  Not tested\n");
});
