import assert from "node:assert/strict";
import { JobTool, OptimizationJob } from "../core/optimization.ts";
import { currentTool, plainProgress, progressBar, progressLine } from "./optimize_progress.ts";

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
