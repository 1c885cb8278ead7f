import assert from "node:assert/strict";
import { formatEstimate, jobBodyOf, readEstimate, readJobFields } from "./browser.ts";
import { OptimizationJob } from "../../../../lib/core/optimization.ts";
import { isJobNews, jobNews } from "../../../../lib/console/ui/jobs.ts";

Deno.test("readJobFields() and jobBodyOf() make a request of a form", () => {
  const fields = new URLSearchParams(
    "tool=a&tool=b&depth=thorough&candidates=3&prompts=&threshold=29&maxRuns=10&maxCost=0.5" +
      "&autoPromote=on",
  );
  assert.deepEqual(jobBodyOf(readJobFields(fields, "weather")), {
    server: "weather",
    tools: ["a", "b"],
    options: {
      depth: "thorough",
      candidatesPerTool: 3,
      thresholds: { minOverall: 0.29 },
      maxRuns: 10,
      maxCostUsd: 0.5,
      autoPromote: true,
      generate: false,
      parameters: false,
      withToolset: false,
      strict: false,
    },
  });
});

Deno.test("jobBodyOf() is about all servers where none is named", () => {
  const { all, server, tools, options } = jobBodyOf(
    readJobFields(new URLSearchParams("threshold=85")),
  );
  assert.deepEqual([all, server, tools], [true, undefined, undefined]);
  assert.deepEqual(options.thresholds, { minOverall: 0.85 });
  assert.equal(options.promptsPerCategory, undefined);
});

Deno.test("estimateWords() gives time in sensible units and says where no price is known", () => {
  const estimate = { tools: 2, runs: 90, seconds: 360, costUsd: 0.4, basis: "" };
  assert.equal(formatEstimate(estimate), "2 tools, up to 90 runs, about 6 min, about $0.40");
  assert.equal(
    formatEstimate({ ...estimate, tools: 1, runs: 1, seconds: 8, costUsd: null }),
    "1 tool, up to 1 run, about 8 s, cost not known yet",
  );
  assert.match(formatEstimate({ ...estimate, seconds: 17_800 }), /about 5 h,/);
});

Deno.test("readEstimate() takes an estimate and nothing else", () => {
  const estimate = { tools: 1, runs: 1, seconds: 1, costUsd: null, basis: "a guess" };
  assert.deepEqual(readEstimate({ estimate }), estimate);
  for (const other of [undefined, {}, { estimate: { tools: 1 } }]) {
    assert.equal(readEstimate(other), undefined);
  }
});

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
