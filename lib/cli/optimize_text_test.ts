import assert from "node:assert/strict";
import { JobTool, type Metrics, OptimizationJob, RunCost } from "../core/optimization.ts";
import type { Overview } from "./optimization_answers.ts";
import { jobHint, jobText, notesText, spentText, statusText, toolLine } from "./optimize_text.ts";

const plain = (_: string, text: string) => text;
const EVALUATOR = { kind: "claude-cli", model: "sonnet", problem: null } as const;

const metrics = (correct: number): Metrics => ({
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
          before: metrics(3),
          after: metrics(5),
          depth: "quick",
          prompts: 15,
          stale: true,
        },
        { ...tool, name: "get_current", status: "baseline", before: metrics(2), depth: "thorough" },
        { ...tool, name: "get_alerts\x1b[2J", status: "unoptimized", enabled: false },
      ],
    }],
    ...fields,
  };
}

Deno.test("statusText() has a dot for every tool, and the numbers of what is in force", () => {
  const lines = statusText(overviewOf(), plain).split("\n");
  assert.equal(lines[0], "Evaluations by claude-cli, sonnet.");
  assert.equal(lines[2], "weather  ●○○  1/3 tools optimized");
  assert.equal(
    lines[3],
    "  ✓ get_forecast  Direct: 100 %  Indirect: 80 %  Neg: no data  " +
      "quick, 15 prompts; the server's own description has changed since",
  );
  assert.match(lines[4]!, /○ get_current {3}Direct: 40 % .* kept as the server has it; thorough/);
  assert.match(lines[5]!, /○ get_alerts {4}Not optimized +off$/);
  assert.equal(lines[6], "");
});

Deno.test("statusText() says that it is off, and why nothing can be evaluated", () => {
  const off = statusText(overviewOf({ enabled: false, reports: [] }), plain);
  assert.match(off, /^Optimization is off: switch it on with `deno task cli optimize enable`/);
  assert.match(off, /No server has tools: see `deno task cli server list`\.\n$/);
  const evaluator = { kind: null, model: null, problem: "Cannot evaluate: no claude" };
  assert.match(
    statusText(overviewOf({ evaluator }), plain),
    /^Warning: Cannot evaluate: no claude\n\nweather/,
  );
});

Deno.test("statusText() does not warn of an evaluator that nobody needs while it is off", () => {
  const evaluator = { kind: null, model: null, problem: "Cannot evaluate: optimization is off" };
  const text = statusText({ enabled: false, evaluator, reports: [] }, plain);
  assert.match(text, /^Optimization is off/);
  assert.doesNotMatch(text, /Warning/);
  assert.match(statusText({ enabled: true, evaluator, reports: [] }, plain), /Warning: Cannot/);
});

Deno.test("spentText() makes neither little nor what is not known look like nothing", () => {
  const spent = (cost: object) => spentText(RunCost.parse(cost));
  assert.equal(spent({ costUsd: 0 }), "$0.00");
  assert.equal(spent({ costUsd: 0.004 }), "$0.0040");
  assert.equal(spent({ costUsd: 0.25, costKnown: false }), "at least $0.25");
  assert.equal(spent({}), "");
});

Deno.test("jobText(), jobHint() and toolLine() say how it stands and what can be done", () => {
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
      "40 runs (2 went wrong and do not count), $0.50\nThe budget is spent\n",
  );
  assert.match(jobHint(job), /optimize resume job_1`, or cancel .*optimize cancel job_1`/);
  assert.match(jobHint({ ...job, status: "running" }), /optimize pause job_1/);
  assert.match(jobHint({ ...job, status: "completed" }), /until it restarts/);
  assert.equal(jobHint({ ...job, status: "completed", tools: [] }), "");
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
  assert.equal(
    jobText(job),
    "Job job_1 has ended (nothing could be tested): 0 of 2 tools done, 0 promoted, 0 runs\n",
  );
  assert.equal(toolLine(failed, plain), "✗ weather.a  It did not answer\n");
  assert.equal(toolLine(untested, plain), "! weather.a  Not tested\n");
});

Deno.test("notesText() says once that it warns", () => {
  const text = notesText(["Warning: No negative prompts defined - x", "other"], plain);
  assert.equal(text, "Warning: No negative prompts defined - x\nWarning: other\n");
});
