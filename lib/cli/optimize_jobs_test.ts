import assert from "node:assert/strict";
import { JobTool, OptimizationJob } from "../core/optimization.ts";
import { jobsText } from "./optimize_jobs.ts";

/** Marks what is colored with the color's name. */
const paint = (color: string, text: string) => color === "gray" ? text : `<${color} ${text}>`;

function jobOf(id: string, more: Partial<JobTool>): OptimizationJob {
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
    jobOf("job_1", { outcome: "Promoted" }),
    jobOf("job_2", { failed: true, outcome: "There are no\nprompts" }),
  ], paint).split("\n");
  assert.match(done!, /^job_1 +completed +\S+ \S+ +quick +1\/1 +0 +0$/);
  assert.match(empty!, /^job_2 +<yellow nothing could be tested> .* quick +0\/1 /);
  assert.match(empty!, / There are no prompts$/);
});
