import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { OptimizationJob } from "../../core/optimization.ts";
import { ended, hasCode } from "../testing/job_waits.ts";
import { JobBench, WritingModel } from "../testing/job_bench.ts";
import { failed, hang, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, GREEDY } from "../testing/weather.ts";

const request = { server: "weather", by: "person" } as const;
const forecast = { ...request, tools: ["get_forecast"] };

Deno.test("OptimizationJobs.start() writes what is missing, tests it and promotes the best", async () => {
  await using bench = await JobBench.open();
  const model = new WritingModel();
  const jobs = bench.gateway("one", { textModel: () => Promise.resolve(model) });
  const job = await ended(jobs, await jobs.start({ ...forecast, options: { depth: "thorough" } }));
  assert.equal(job.status, "completed");
  assert.equal(job.phase, "complete");
  assert.equal(job.owner, undefined);
  assert.deepEqual(OptimizationJob.parse(job), job);
  const [tool] = job.tools;
  assert.match(
    tool?.outcome ?? "",
    /^Promoted: overall \d+ % -> 100 %, \+\d.* points \(95 % interval \d+ to \d+\), with each category counted alike, \d+ prompts$/,
  );
  assert.equal(tool?.failed, false);
  assert.equal(tool?.candidates, 4);
  const promoted = bench.promotions.of("weather", "get_forecast");
  assert.equal(promoted?.candidateId, tool?.promotedCandidateId);
  assert.equal(promoted?.by, "job");
  assert.equal(promoted?.evaluationId, tool?.evaluationId);
  assert.deepEqual([promoted?.verdict?.confirmed, promoted?.source], [true, "measured"]);
  assert.match(promoted?.description ?? "", /^GOOD/);
  // Its numbers rest on fresh prompts only, which no writer was shown.
  const saved = await bench.prompts.list("weather", "get_forecast");
  assert.ok((promoted?.prompts ?? 0) <= saved.filter(({ heldOut }) => heldOut).length + 8);
  assert.equal((await bench.candidates.list("weather", "get_forecast")).length, 4);
  const runs = await bench.runs.list("weather", "get_forecast");
  assert.equal(job.runs, runs.length);
  assert.equal(tool?.runsDone, runs.length);
  const costs = runs.reduce((sum, { cost }) => sum + (cost.costUsd ?? 0), 0);
  assert.equal(job.cost.costUsd?.toFixed(2), (costs + 0.5 * model.requests.length).toFixed(2));
  assert.deepEqual(
    [...new Set(bench.events.map(({ phase }) => phase))],
    ["queued", "generating", "evaluating", "promoting", "complete"],
  );
});

Deno.test("OptimizationJobs.start() uses what is saved, and keeps the server's own where that is best", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("greedy", GREEDY);
  const jobs = bench.gateway("one", { textModel: () => Promise.reject(new Error("not asked")) });
  const started = await jobs.start({ ...forecast, options: { generate: false } });
  const job = await ended(jobs, started);
  const [tool] = job.tools;
  assert.match(tool?.outcome ?? "", /^Kept the server's own description: .*negative/);
  assert.equal(tool?.failed, false);
  assert.equal(bench.promotions.of("weather", "get_forecast"), undefined);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.equal(evaluation?.id, tool?.evaluationId);
  assert.deepEqual(Object.keys(evaluation?.results[1]?.ranks ?? {}).length, 15);
});

Deno.test("OptimizationJobs.start() promotes nothing by itself where it was told not to", async () => {
  await using bench = await JobBench.open();
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one");
  const options = { candidateIds: ["good"], autoPromote: false };
  const thorough = { ...forecast, options: { ...options, depth: "thorough" as const } };
  const job = await ended(jobs, await jobs.start(thorough));
  assert.match(job.tools[0]?.outcome ?? "", /^Not promoted.*"good", overall \d+ % -> 100 %/);
  assert.equal(bench.promotions.list().length, 0);
});

Deno.test("OptimizationJobs.start() keeps what is in force where nothing is better", async () => {
  await using bench = await JobBench.open();
  await bench.saveCandidate("good");
  await bench.saveCandidate("as-good", `${GOOD} As good.`);
  const jobs = bench.gateway("one");
  const thorough = { depth: "thorough" } as const;
  const named = { ...forecast, options: { ...thorough, candidateIds: ["good"] } };
  const first = await ended(jobs, await jobs.start(named));
  assert.equal(first.tools[0]?.promotedCandidateId, "good");
  const all = { ...forecast, options: { ...thorough, candidatesPerTool: 1 } };
  const second = await ended(jobs, await jobs.start(all));
  assert.match(second.tools[0]?.outcome ?? "", /^Kept the promoted description: better on/);
  assert.equal((await bench.promotions.history("weather", "get_forecast")).length, 1);
});

Deno.test("OptimizationJobs.start() marks a tool that fails and goes on with the next", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const cannot = new GatewayError("CANNOT_GENERATE", { message: "Cannot generate: no model" });
  const jobs = bench.gateway("one", { textModel: () => Promise.reject(cannot) });
  const tools = ["get_alerts", "get_forecast"];
  const job = await ended(jobs, await jobs.start({ ...request, tools }));
  assert.equal(job.status, "completed");
  assert.equal(job.note, "1 of 2 tools failed");
  const [alerts, forecasts] = job.tools;
  assert.equal(alerts?.failed, true);
  assert.match(alerts?.outcome ?? "", /there are no prompts.*no model/);
  assert.equal(forecasts?.proposedCandidateId, "good");
});

Deno.test("OptimizationJobs.start() marks a tool whose evaluation is void", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const evaluator = new ScriptedEvaluator(() => failed("529 overloaded"));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const options = { generate: false };
  const job = await ended(jobs, await jobs.start({ ...forecast, options }));
  assert.equal(job.status, "completed");
  assert.equal(job.tools[0]?.failed, true);
  assert.match(job.tools[0]?.outcome ?? "", /529 overloaded/);
  assert.equal(job.errors, job.runs);
});

Deno.test("OptimizationJobs.start() fails where no run of any tool can succeed", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const evaluator = new ScriptedEvaluator(() => failed("not logged in", "all"));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const tools = ["get_forecast", "get_alerts"];
  const job = await ended(jobs, await jobs.start({ ...request, tools }));
  assert.equal(job.status, "failed");
  assert.match(job.note ?? "", /not logged in/);
  assert.equal(job.tools[1]?.phase, "queued");
  assert.ok(evaluator.asked.length <= 2);
});

Deno.test("OptimizationJobs.start() refuses what cannot be done, and saves no job for it", async () => {
  await using bench = await JobBench.open();
  const cannot = new GatewayError("CANNOT_EVALUATE", { message: "Cannot evaluate: no claude" });
  const blind = bench.gateway("blind", { evaluator: () => Promise.reject(cannot) });
  await assert.rejects(blind.start(forecast), hasCode("CANNOT_EVALUATE"));
  const jobs = bench.gateway("one");
  bench.isEnabled = false;
  await assert.rejects(jobs.start(forecast), hasCode("OPTIMIZATION_DISABLED"));
  bench.isEnabled = true;
  bench.targets.disabled.add("get_alerts");
  const disabled = { ...request, tools: ["get_alerts"] };
  await assert.rejects(jobs.start(disabled), hasCode("TOOL_DISABLED"));
  const unknown = { ...request, tools: ["nothing"] };
  await assert.rejects(jobs.start(unknown), hasCode("TOOL_NOT_FOUND"));
  await bench.saveCandidate("other", GOOD, "list_stations");
  for (const [id, code] of [["none", "NOT_FOUND"], ["other", "INVALID_ARGUMENTS"]] as const) {
    const options = { candidateIds: [id] };
    await assert.rejects(jobs.start({ ...forecast, options }), hasCode(code));
  }
  assert.deepEqual(await jobs.list(), []);
  await assert.rejects(jobs.get("none"), hasCode("NOT_FOUND"));
});

Deno.test("OptimizationJobs.start() lets one job at a time work on a tool", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const evaluator = new ScriptedEvaluator((_, run) => hang(run));
  const one = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const two = bench.gateway("two");
  const options = { generate: false };
  const first = await one.start({ ...forecast, options });
  await assert.rejects(two.start(forecast), hasCode("OPERATION_IN_PROGRESS"));
  await one.cancel(first.id);
  const second = await ended(two, await two.start({ ...forecast, options }));
  assert.equal(second.status, "completed");
  assert.deepEqual((await two.list()).map(({ id }) => id), [second.id, first.id]);
});

Deno.test("OptimizationJobs.start() of the same tool at once never makes two jobs work on it", async () => {
  await using bench = await JobBench.open();
  const hanging = new ScriptedEvaluator((_, run) => hang(run));
  const gateways = ["one", "two", "three"].map((owner) =>
    bench.gateway(owner, { evaluator: () => Promise.resolve(hanging) })
  );
  const started = await Promise.allSettled(gateways.map((gateway) => gateway.start(forecast)));
  const running = started.filter(({ status }) => status === "fulfilled");
  assert.ok(running.length <= 1);
  assert.equal((await Array.fromAsync(bench.jobs.list())).length, running.length);
});

Deno.test("OptimizationJobs.start() ends with what it found when the budget is used up", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one");
  const options = { generate: false, maxRuns: 20 };
  const tools = ["get_forecast", "get_alerts"];
  const job = await ended(jobs, await jobs.start({ ...request, tools, options }));
  assert.equal(job.status, "completed");
  assert.equal(job.runs, 20);
  assert.match(job.note ?? "", /the budget of 20 runs is used up; 1 of 2 tools were not tested/);
  assert.match(
    job.tools[0]?.outcome ?? "",
    /not enough evidence: only 20 of about 30 runs completed because the budget/,
  );
  assert.match(job.tools[1]?.outcome ?? "", /^Not tested: the budget/);
  assert.equal(bench.promotions.list().length, 0);
  assert.equal((await bench.evaluations.list("weather")).length, 1);
});

Deno.test("OptimizationJobs.start() holds prompts out from what writes candidates", async () => {
  await using bench = await JobBench.open();
  const model = new WritingModel();
  const jobs = bench.gateway("one", { textModel: () => Promise.resolve(model) });
  const options = { depth: "thorough", repeats: 1, candidatesPerTool: 1 } as const;
  const job = await ended(jobs, await jobs.start({ ...forecast, options }));
  assert.equal(job.status, "completed");
  const prompts = await bench.prompts.list("weather", "get_forecast");
  const heldOut = prompts.filter((prompt) => prompt.heldOut);
  assert.ok(heldOut.length >= 36, `${heldOut.length} prompts`);
  const writing = model.requests.filter(({ system }) => system.includes('{"candidates"'));
  assert.ok(writing.length > 0);
  for (const { prompt } of heldOut) {
    assert.ok(writing.every((asked) => !asked.prompt.includes(prompt)), prompt);
  }
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.ok(Object.values(evaluation?.prompts ?? {}).every((count) => count > 0));
  assert.match(job.tools[0]?.outcome ?? "", /^Promoted/);
});

Deno.test("OptimizationJobs.start() asks siblings' prompts too, and refuses who takes them", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  const [first] = await bench.prompts.list("weather", "get_forecast");
  assert.ok(first);
  await bench.prompts.save(["Which weather alerts are there?", "Any weather warnings now?"]
    .map((prompt, index) => ({ ...first, toolName: "get_alerts", prompt, id: `alert-${index}` })));
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one");
  const options = { generate: false };
  const job = await ended(jobs, await jobs.start({ ...forecast, options }));
  assert.equal(job.runs, 34);
  assert.match(job.tools[0]?.outcome ?? "", /"get_alerts"/);
  assert.equal(bench.promotions.list().length, 0);
});

Deno.test("OptimizationJobs makes no more requests at once than it may, of all its jobs", async () => {
  await using bench = await JobBench.open();
  const evaluator = new ScriptedEvaluator(async (asked, run) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return byDescription(asked, run);
  });
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const started = await Promise.all(
    ["get_forecast", "get_alerts"].map((tool) => jobs.start({ ...request, tools: [tool] })),
  );
  for (const job of started) assert.equal((await ended(jobs, job)).status, "completed");
  assert.equal(evaluator.most, 2);
});

Deno.test("OptimizationJobs.estimate() counts on what there is, and measures", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one");
  const options = { generate: false };
  const before = await jobs.estimate({ ...forecast, options });
  assert.deepEqual([before.tools, before.runs, before.costUsd], [1, 30, null]);
  assert.match(before.basis, /assuming/);
  await ended(jobs, await jobs.start({ ...forecast, options }));
  const after = await jobs.estimate({ ...forecast, options });
  assert.match(after.basis, /based on the last 30 runs/);
  assert.equal(after.costUsd?.toFixed(2), "0.30");
});

Deno.test("OptimizationJobs says that a tool is gone, and tests the others", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one", {
    evaluator: () => {
      bench.targets.missing.add("get_alerts");
      return Promise.resolve(new ScriptedEvaluator(byDescription));
    },
  });
  const tools = ["get_alerts", "get_forecast"];
  const started = await jobs.start({ ...request, tools, options: { generate: false } });
  const job = await ended(jobs, started);
  assert.match(job.tools[0]?.outcome ?? "", /the tool no longer exists/);
  assert.equal(job.tools[1]?.failed, false);
});
