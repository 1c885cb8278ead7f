import assert from "node:assert/strict";
import { JobTool, OptimizationJob, RunCost } from "../core/optimization.ts";
import {
  currentTool,
  jobHint,
  jobsText,
  jobText,
  plainProgress,
  progressBar,
  progressLine,
  spentText,
  toolLine,
} from "./job_text.ts";

const plain = (_: string, text: string) => text;

function toolOf(fields: Partial<JobTool>): JobTool {
  const base = { server: "weather", toolName: "get_alerts", phase: "queued", evaluationId: "e" };
  return JobTool.parse({ ...base, ...fields });
}

function jobOf(...tools: JobTool[]): OptimizationJob {
  const time = new Date(0).toISOString();
  return OptimizationJob.parse({
    id: "job_1",
    status: "running",
    phase: "evaluating",
    options: {},
    tools,
    createdAt: time,
    updatedAt: time,
    by: "person",
  });
}

const TESTING = toolOf({
  phase: "evaluating",
  runsDone: 45,
  runsTotal: 60,
  currentCandidate: 3,
  candidates: 4,
});

Deno.test("progressBar() fills by what is done, and is left out where there is no room", () => {
  assert.equal(progressBar(45, 60, 14), "[#########---]");
  assert.equal(progressBar(0, 60, 14), "[------------]");
  assert.equal(progressBar(60, 60, 14), "[############]");
  assert.equal(progressBar(70, 60, 14), "[############]");
  assert.equal(progressBar(59, 60, 14), "[###########-]");
  assert.equal(progressBar(1, 2, 500).length, 32);
  assert.equal(progressBar(1, 2, 7), "");
  assert.equal(progressBar(0, 0, 40), "");
});

Deno.test("progressLine() says tool, bar, count, candidate and share, as wide as the terminal", () => {
  const text = "weather.get_alerts  [] 45/60  Testing candidate 3/4 (75% complete)";
  assert.equal(
    progressLine(jobOf(TESTING), text.length + 13),
    "weather.get_alerts  [#########---] 45/60  Testing candidate 3/4 (75% complete)",
  );
  const barAt = (runsDone: number) =>
    progressLine(jobOf({ ...TESTING, runsDone }), 80).match(/\[.*\]/)?.[0].length;
  assert.equal(barAt(1), barAt(60));
  for (let columns = 10; columns < 140; columns++) {
    assert.ok(progressLine(jobOf(TESTING), columns).length <= columns, String(columns));
  }
  assert.equal(
    progressLine(jobOf(TESTING), 66),
    "weather.get_alerts  45/60  Testing candidate 3/4 (75% complete)",
  );
});

Deno.test("progressLine() says what is done where nothing is counted", () => {
  const generating = jobOf(toolOf({ phase: "generating" }));
  assert.equal(progressLine(generating, 80), "weather.get_alerts  Writing prompts and candidates");
  const hostile = jobOf(toolOf({ toolName: "a\x1b[2Jb\nc", phase: "promoting" }));
  assert.equal(progressLine(hostile, 80), "weather.ab c  Deciding");
  assert.equal(progressLine(jobOf(), 80), "");
});

Deno.test("currentTool() is the one at work, then the next, then the last", () => {
  const done = toolOf({ toolName: "a", phase: "complete" });
  const queued = toolOf({ toolName: "b" });
  assert.equal(currentTool(jobOf(done, queued, TESTING))?.toolName, "get_alerts");
  assert.equal(currentTool(jobOf(done, queued))?.toolName, "b");
  assert.equal(currentTool(jobOf(done))?.toolName, "a");
  assert.match(progressLine(jobOf(done, queued, TESTING), 200), /, 1 of 3 tools done$/);
});

Deno.test("plainProgress() changes with every tenth, not with every run", () => {
  const at = (runsDone: number) => plainProgress(jobOf({ ...TESTING, runsDone }));
  assert.equal(at(42), "weather.get_alerts: Testing (70% complete)");
  assert.equal(at(42), at(47));
  assert.notEqual(at(47), at(48));
  assert.doesNotMatch(at(42), /[[\]#]/);
});

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
