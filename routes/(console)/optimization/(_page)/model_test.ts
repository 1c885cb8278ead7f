import assert from "node:assert/strict";
import { JobOptions, JobTool, OptimizationJob } from "../../../../lib/core/optimization.ts";
import { draft } from "../../../../lib/mcp/testing/open_optimization.ts";
import { jobOptions, jobPage, lineOfTool, optimizationPage, rowOf, shownJob } from "./model.ts";
import { optimizationGateway } from "../../../../lib/console/testing/optimization_gateway.ts";

const PAGE = new URL("http://console.test/optimization");

type Standing = Parameters<typeof rowOf>[0];

const SCORE = { correct: 19, total: 20 };
const GOOD = { direct: SCORE, indirect: SCORE, negative: SCORE, overall: SCORE };
const POOR = { ...GOOD, overall: { correct: 7, total: 20 } };
const NEWLY = "2026-01-02T03:04:05.000Z";

function standing(more: Partial<Standing> = {}): Standing {
  return {
    server: "weather",
    name: "get_radar",
    status: "unoptimized",
    enabled: true,
    stale: false,
    candidates: 0,
    goldenPrompts: 0,
    evaluatedAt: undefined,
    voided: undefined,
    waiting: undefined,
    ...more,
  };
}

const STALE = { stale: true, staleReasons: ["the server's own description has changed"] };

Deno.test("rowOf() puts what is worth doing first in front, with its reason", () => {
  const evaluated = { status: "baseline", evaluatedAt: NEWLY } as const;
  const waiting = { candidateId: "c", before: POOR.overall, after: SCORE };
  const rows = [
    rowOf(standing({ ...evaluated, before: POOR, waiting })),
    rowOf(standing({ status: "optimized", after: GOOD, evaluatedAt: NEWLY, ...STALE })),
    rowOf(standing({ ...evaluated, before: GOOD }), { calls: 20, errors: 5 }),
    rowOf(standing({ ...evaluated, before: POOR }), { calls: 20, errors: 1 }),
    rowOf(standing(), { calls: 1_200, errors: 2 }),
    rowOf(standing({ ...evaluated, before: POOR })),
    rowOf(standing({ evaluatedAt: NEWLY, voided: "all runs failed" })),
    rowOf(standing({ evaluatedAt: NEWLY })),
    rowOf(standing()),
    rowOf(standing({ ...evaluated, before: GOOD }), { calls: 20, errors: 1 }),
    rowOf(standing({ enabled: false, ...STALE })),
  ];
  assert.deepEqual(rows.map(({ reason, state }) => [reason, state]), [
    ["Better candidate: 7/20 → 19/20", "waiting"],
    ["Stale: the server's own description has changed", "stale"],
    ["5 of 20 calls failed", "evaluated"],
    ["Correct in only 7/20 runs", "evaluated"],
    ["Called 1,200 times, never evaluated", "new"],
    ["Correct in only 7/20 runs", "evaluated"],
    ["The last evaluation was inconclusive", "evaluated"],
    ["Evaluated with an older description", "evaluated"],
    ["Never evaluated", "new"],
    ["Nothing to do", "evaluated"],
    ["Disabled: clients do not see it", "disabled"],
  ]);
  assert.deepEqual(rows.map(({ rank }) => rank), rows.map((_, index) => index));
});

Deno.test("lineOfTool() has the percentages of the description in force, and what they rest on", () => {
  const line = lineOfTool(
    standing({ status: "optimized", before: POOR, after: GOOD, depth: "quick", prompts: 15 }),
  );
  assert.equal(line.evidence, "quick, 15 prompts");
  assert.deepEqual(line.scores.map(({ label, percent }) => [label, percent]), [
    ["Direct", "95 %"],
    ["Indirect", "95 %"],
    ["Negative", "95 %"],
  ]);
});

Deno.test("optimizationPage() lists tools in order of what to do, and tells jobs apart", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  await opened.evaluate();
  const page = await optimizationPage(opened.gateway, PAGE);
  assert.deepEqual([page.isOn, page.toolCount, page.optimizedCount], [true, 2, 0]);
  assert.deepEqual(page.list.rows.map(({ name, state }) => [name, state]), [
    ["forecast", "waiting"],
    ["alerts", "new"],
  ]);
  assert.deepEqual([page.active.length, page.ended.length], [0, 1]);
  const query = "?q=ALER&server=weather&state=new&sort=tool&dir=desc";
  const filtered = await optimizationPage(opened.gateway, new URL(query, PAGE));
  assert.deepEqual(filtered.list.rows.map(({ name }) => name), ["alerts"]);
  assert.deepEqual(filtered.sorting, { column: "tool", descending: true });
  assert.deepEqual(filtered.servers, [{ value: "weather", count: 2, optimized: 0 }]);
  const none = await optimizationPage(opened.gateway, new URL("?q=zzz", PAGE));
  assert.deepEqual([none.list.total, none.toolCount], [0, 2]);
});

Deno.test("rowOf() shows the gain's interval and the number of prompts", () => {
  const optimized = { status: "optimized", before: POOR, after: GOOD, prompts: 60 } as const;
  const gain = { mean: 0.25, low: 0.08, high: 0.4, prompts: 60 };
  assert.deepEqual(rowOf(standing({ ...optimized, gain })).evidence, [
    "+25 points (95 % interval 8 to 40)",
    "60 prompts",
  ]);
  const baseline = { status: "baseline", before: POOR, prompts: 1 } as const;
  assert.deepEqual(rowOf(standing(baseline)).evidence, ["1 prompt"]);
});

Deno.test("optimizationPage() asks for no decision that somebody has made", async () => {
  await using opened = await optimizationGateway();
  const { candidateId } = await draft(opened);
  await opened.evaluate();
  const named = { server: "weather", tool: "forecast" };
  const stateOf = async () => {
    const { list } = await optimizationPage(opened.gateway, PAGE);
    return list.rows.find(({ name }) => name === "forecast")?.state;
  };
  assert.equal(await stateOf(), "waiting");
  await opened.admin.promote({ ...named, candidateId, reason: "a trial" }, "person");
  assert.equal(await stateOf(), "promoted");
  await opened.admin.revert(named, "person");
  assert.equal(await stateOf(), "evaluated");
});

Deno.test("optimizationPage() says why nothing can be evaluated, while optimization is on", async () => {
  await using opened = await optimizationGateway();
  const problem = "Cannot evaluate: the claude CLI was not found. Install it";
  const found = { kind: null, model: null, problem };
  const check = { last: undefined, run: () => Promise.resolve(found) };
  const gateway = {
    ...opened.gateway,
    evaluator: () => Promise.resolve({ check, trial: {} } as never),
  };
  const page = await optimizationPage(gateway, PAGE);
  assert.equal(page.problem, "the claude CLI was not found. Install it.");
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
  assert.match(jobPage(job([{}], { status: "running" })).lead, /continues if you close the page/);
  assert.match(jobPage(job([{}], { status: "paused" })).lead, /until someone resumes it/);
  for (const status of ["completed", "cancelled", "failed"] as const) {
    assert.equal(
      jobPage(job([{}], { status })).lead,
      "This job has ended; its results are kept",
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
  assert.equal(usual["Prompts per category"], "5, default for quick");
  assert.equal(usual["Runs per prompt"], "1, default for quick");
  assert.equal(usual["Candidates per tool"], "4, default");
  assert.equal(usual["Maximum runs"], "no limit, default");
  assert.match(usual["Promotion thresholds"] ?? "", /^85 % overall, .*, default$/);
  const set = shown({ depth: "thorough", promptsPerCategory: 7, maxCostUsd: 2 });
  assert.equal(set["Depth"], "thorough, set for this job");
  assert.equal(set["Prompts per category"], "7, set for this job");
  assert.equal(set["Runs per prompt"], "1, default for thorough");
  assert.equal(set["Maximum cost"], "$2.00, set for this job");
});

Deno.test("jobOptions() says that all saved prompts are asked where none is written", () => {
  const { Candidates, ...others } = shown({ generate: false, candidateIds: ["cand_1"] });
  assert.equal(others["Prompts per category"], "all saved prompts, because nothing is generated");
  assert.equal(Candidates, "cand_1, set for this job");
});
