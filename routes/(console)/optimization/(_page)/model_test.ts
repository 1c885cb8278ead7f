import assert from "node:assert/strict";
import {
  JobOptions,
  JobTool,
  OptimizationJob,
  type OptimizationReport,
} from "../../../../lib/core/optimization.ts";
import { draft } from "../../../../lib/mcp/testing/open_optimization.ts";
import { jobOptions, jobPage, optimizationPage, serverCard, shownJob } from "./model.ts";
import { optimizationGateway } from "../../../../lib/console/testing/optimization_gateway.ts";

const PAGE = new URL("http://console.test/optimization");

function tool(name: string, more: Partial<OptimizationReport["tools"][number]> = {}) {
  const counts = { candidates: 0, goldenPrompts: 0, costUsd: 0 };
  return { name, status: "unoptimized" as const, enabled: true, stale: false, ...counts, ...more };
}

function report(tools: OptimizationReport["tools"]): OptimizationReport {
  const optimizedCount = tools.filter(({ status }) => status === "optimized").length;
  const rest = { totalEvals: 0, avgImprovement: null, costUsd: 0 };
  return { serverName: "weather", toolCount: tools.length, optimizedCount, ...rest, tools };
}

Deno.test("serverCard() has a dot for each tool, the optimized ones first", () => {
  const score = { correct: 19, total: 20 };
  const after = { direct: score, indirect: score, negative: score, overall: score };
  const { dots, tools, optimizedCount } = serverCard(report([
    tool("get_radar"),
    tool("get_forecast", { status: "optimized", after, depth: "quick", prompts: 15 }),
    tool("get_alerts", { status: "optimized", stale: true }),
  ]));
  assert.deepEqual(dots, ["optimized", "stale", "open"]);
  assert.equal(optimizedCount, 2);
  assert.equal(tools[0]?.name, "get_forecast");
  assert.equal(tools[0]?.evidence, "quick, 15 prompts");
  assert.deepEqual(tools[0]?.scores.map(({ label, percent }) => [label, percent]), [
    ["Direct", "95 %"],
    ["Indirect", "95 %"],
    ["Negative", "95 %"],
  ]);
});

Deno.test("serverCard() names some of many tools and draws no dots that nobody can count", () => {
  const many = Array.from({ length: 60 }, (_, index) => tool(`tool_${index}`));
  const { dots, tools, more } = serverCard(report(many));
  assert.deepEqual([dots.length, tools.length, more], [0, 8, 52]);
});

Deno.test("optimizationPage() counts all servers, filters by name and tells jobs apart", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  await opened.evaluate();
  const page = await optimizationPage(opened.gateway, PAGE);
  assert.deepEqual([page.isOn, page.toolCount, page.optimizedCount], [true, 2, 0]);
  assert.deepEqual(page.servers.rows.map(({ name }) => name), ["weather"]);
  assert.deepEqual([page.active.length, page.ended.length], [0, 1]);
  const filtered = await optimizationPage(opened.gateway, new URL("?q=zzz", PAGE));
  assert.deepEqual([filtered.servers.total, filtered.serverCount], [0, 1]);
});

Deno.test("optimizationPage() does not list a job as done that could test nothing", async () => {
  await using opened = await optimizationGateway();
  await opened.evaluate();
  const { ended: [job] } = await optimizationPage(opened.gateway, PAGE);
  assert.equal(job?.status, "completed");
  assert.equal(job.outcome?.words, "nothing could be tested");
  assert.match(job.outcome.reason, /there are no prompts/);
});

Deno.test("optimizationPage() can be read while optimization is off", async () => {
  await using opened = await optimizationGateway({ isEnabled: false });
  const page = await optimizationPage(opened.gateway, PAGE);
  assert.deepEqual([page.isOn, page.isFixed, page.toolCount], [false, false, 2]);
});

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

function shown(input: Partial<JobOptions>): Record<string, string> {
  return Object.fromEntries(
    jobOptions(JobOptions.parse(input)).map(({ name, value, from }) => [name, `${value}, ${from}`]),
  );
}

Deno.test("jobOptions() has the value in effect and where it is from", () => {
  const usual = shown({});
  assert.equal(usual["Prompts per category"], "5, as quick has it");
  assert.equal(usual["Repeats of each prompt"], "1, as quick has it");
  assert.equal(usual["Candidates per tool"], "4, the default");
  assert.equal(usual["Most runs"], "no limit, the default");
  assert.match(usual["To be promoted"] ?? "", /^85 % overall, .*, the default$/);
  const set = shown({ depth: "thorough", promptsPerCategory: 7, maxCostUsd: 2 });
  assert.equal(set["Depth"], "thorough, set for this job");
  assert.equal(set["Prompts per category"], "7, set for this job");
  assert.equal(set["Repeats of each prompt"], "3, as thorough has it");
  assert.equal(set["Most dollars"], "$2.00, set for this job");
});

Deno.test("jobOptions() says that all saved prompts are asked where none is written", () => {
  const { Candidates, ...others } = shown({ generate: false, candidateIds: ["cand_1"] });
  assert.equal(others["Prompts per category"], "all that are saved, as no text is written");
  assert.equal(Candidates, "cand_1, set for this job");
});
