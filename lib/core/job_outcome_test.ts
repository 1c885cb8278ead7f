import assert from "node:assert/strict";
import { jobOutcome } from "./job_outcome.ts";
import { JobTool, OptimizationJob } from "./optimization.ts";

const FAILED = { failed: true, outcome: "There are no prompts" };
const UNTESTED = { untested: true, outcome: "Not tested: the budget is spent" };

function outcomeOf(tools: Partial<JobTool>[], more: Partial<OptimizationJob> = {}) {
  const time = new Date(0).toISOString();
  return jobOutcome(OptimizationJob.parse({
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
  }));
}

Deno.test("jobOutcome() says that nothing could be tested, and why", () => {
  assert.deepEqual(outcomeOf([FAILED]), {
    words: "nothing could be tested",
    reason: "There are no prompts",
    tested: 0,
  });
  const both = outcomeOf([UNTESTED, FAILED, UNTESTED], { runs: 4, errors: 4 });
  assert.equal(both?.words, "nothing could be tested");
  assert.equal(both?.reason, "There are no prompts (and 2 more)");
});

Deno.test("jobOutcome() counts what failed and what was not tested", () => {
  const some = outcomeOf([{}, FAILED, {}, FAILED, UNTESTED], { runs: 30 });
  assert.equal(some?.words, "2 of 5 tools failed, 1 of 5 tools not tested");
  assert.equal(some?.tested, 2);
  // Runs that count, but lead to nothing.
  const tried = { ...FAILED, candidates: 2 };
  assert.equal(outcomeOf([tried], { runs: 10, errors: 3 })?.words, "1 of 1 tool failed");
  // Runs to learn from, before there was any candidate.
  const learned = outcomeOf([FAILED], { runs: 15 });
  assert.equal(learned?.words, "nothing could be tested");
});

Deno.test("jobOutcome() is none of a job that goes on, ended otherwise or did all", () => {
  assert.equal(outcomeOf([{}, {}]), undefined);
  for (const status of ["running", "paused", "cancelled", "failed"] as const) {
    assert.equal(outcomeOf([FAILED], { status }), undefined);
  }
});
