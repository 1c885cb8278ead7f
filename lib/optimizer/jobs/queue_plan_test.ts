import assert from "node:assert/strict";
import type { EvalRun } from "../../core/optimization.ts";
import type { JobRequest } from "./selection.ts";
import { JobBench } from "../testing/job_bench.ts";
import { ended, until } from "../testing/job_waits.ts";
import { hang, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription } from "../testing/weather.ts";

const request: JobRequest = {
  server: "weather",
  by: "person",
  tools: ["get_forecast"],
  options: { generate: false },
};

/** A job whose process is gone after so many runs. */
async function abandoned(bench: JobBench, runs: number, options = {}): Promise<string> {
  const evaluator = new ScriptedEvaluator((asked, run) =>
    asked.call > runs ? hang(run) : byDescription(asked, run)
  );
  const dead = bench.gateway("dead", { evaluator: () => Promise.resolve(evaluator) });
  const { id } = await dead.start({ ...request, options: { ...request.options, ...options } });
  await until("two runs hang", () => evaluator.asked.length === runs + 2);
  await until("all others are saved", async () => (await runsOf(bench)).length === runs);
  bench.alive.delete("dead");
  return id;
}

function runsOf(bench: JobBench): Promise<EvalRun[]> {
  return bench.runs.list("weather", "get_forecast");
}

Deno.test("OptimizationJobs.takeOver() tests the candidates that were chosen, and no others", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  for (const id of ["a", "b", "c", "d", "e", "f"]) {
    await bench.saveCandidate(id, `GOOD: number ${id}`);
  }
  const id = await abandoned(bench, 40);
  const heir = bench.gateway("heir");
  await heir.takeOver();
  const job = await ended(heir, { id });
  assert.equal(job.status, "completed");
  assert.deepEqual(job.tools[0]?.plan?.candidateIds, ["a", "b", "c", "d"]);
  const tested = new Set((await runsOf(bench)).map(({ candidateId }) => candidateId));
  assert.deepEqual([...tested].sort(), ["a", "b", "c", "canonical", "d"]);
});

Deno.test("OptimizationJobs.takeOver() asks the prompts that were chosen, whatever was saved since", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const id = await abandoned(bench, 11);
  const [edited] = await bench.prompts.list("weather", "get_forecast");
  assert.ok(edited);
  await bench.prompts.save([
    { ...edited, version: 2, prompt: "direct of something else" },
    { ...edited, id: "another", prompt: "direct of a third thing" },
  ]);
  const heir = bench.gateway("heir");
  await heir.takeOver();
  const job = await ended(heir, { id });
  assert.equal(job.runs, 30);
  assert.ok(
    (await runsOf(bench)).every(({ promptId, promptVersion }) =>
      promptId !== "another" && promptVersion === 1
    ),
  );
});

Deno.test("OptimizationJobs.takeOver() mixes no two models in one evaluation", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const id = await abandoned(bench, 10);
  const evaluator = new ScriptedEvaluator(byDescription, "another");
  const heir = bench.gateway("heir", { evaluator: () => Promise.resolve(evaluator) });
  await heir.takeOver();
  const job = await ended(heir, { id });
  // What was spent counts, also what can no longer be used.
  assert.equal(job.runs, 40);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.equal(evaluation?.runs, 30);
  assert.ok(
    evaluation?.warnings.some((words) => words.startsWith("10 finished runs were not counted")),
  );
});

Deno.test("OptimizationJobs.takeOver() counts the runs that there are, whatever the record says", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const id = await abandoned(bench, 10);
  const { value, versionstamp } = await bench.jobs.resolve(id);
  const tools = value.tools.map((tool) => ({ ...tool, runsDone: 25 }));
  const cost = { inputTokens: 0, outputTokens: 0, costUsd: 99 };
  await bench.jobs.save({ ...value, tools, runs: 25, errors: 7, cost }, versionstamp);
  const heir = bench.gateway("heir");
  await heir.takeOver();
  const job = await ended(heir, { id });
  assert.deepEqual([job.runs, job.errors, job.tools[0]?.runsDone], [30, 0, 30]);
  assert.equal(job.cost.costUsd?.toFixed(2), "0.30");
});

/** A job beside an equipped toolset whose process is gone. */
async function abandonedBeside(bench: JobBench): Promise<string> {
  await bench.savePrompts();
  await bench.saveCandidate("good");
  bench.targets.equippedTools = ["find_books", "refund"];
  return await abandoned(bench, 10, { withToolset: true });
}

Deno.test("OptimizationJobs.takeOver() shows beside what was equipped when the job began", async () => {
  await using bench = await JobBench.open();
  const id = await abandonedBeside(bench);
  bench.targets.equippedTools = ["another"];
  const shown = new Set<string>();
  const evaluator = new ScriptedEvaluator((asked, run) => {
    for (const { server, tool } of run.tools) if (server === "shop") shown.add(tool);
    return byDescription(asked, run);
  });
  const heir = bench.gateway("heir", { evaluator: () => Promise.resolve(evaluator) });
  await heir.takeOver();
  assert.equal((await ended(heir, { id })).runs, 30);
  assert.deepEqual([...shown].sort(), ["find_books", "refund"]);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.deepEqual(evaluation?.beside, ["shop_find_books", "shop_refund"]);
});

Deno.test("OptimizationJobs.takeOver() mixes no runs beside fewer tools with those from before", async () => {
  await using bench = await JobBench.open();
  const id = await abandonedBeside(bench);
  bench.targets.missing.add("refund");
  const heir = bench.gateway("heir");
  await heir.takeOver();
  const { runs, tools: [tool] } = await ended(heir, { id });
  assert.deepEqual([runs, tool?.failed], [10, true]);
  assert.match(
    tool?.outcome ?? "",
    /job started\. No longer available: shop\.refund\. Start a new/,
  );
});

Deno.test("OptimizationJobs shows exactly a toolset's tools, and refuses a tool that is not in it", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const shown = new Set<string>();
  const evaluator = new ScriptedEvaluator((asked, run) => {
    shown.add(run.tools.map(({ name }) => name).join(" "));
    return byDescription(asked, run);
  });
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const options = { depth: "quick", generate: false, surface: "toolset:small" } as const;
  const start = (tool: string) =>
    jobs.start({ server: "weather", tools: [tool], by: "person", options });
  await assert.rejects(start("get_alerts"), /not in it/);
  const { id } = await start("get_forecast");
  const { status, tools: [tool] } = await ended(jobs, { id });
  assert.equal(status, "completed", tool?.outcome);
  assert.deepEqual([...shown], ["weather_get_forecast shop_refund"]);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.equal(evaluation?.setting, 'in toolset "small"');
});

Deno.test("OptimizationJobs keeps the toolset that its caller has equipped, by name", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one");
  const start = (principal: string) => {
    const options = { depth: "quick", generate: false, surface: "equipped" } as const;
    const tools = ["get_forecast"];
    return jobs.start({ server: "weather", tools, by: "person", options, principal });
  };
  await assert.rejects(start("nobody"), /no toolset is equipped/);
  const { id, options } = await start("ada");
  assert.equal(options.surface, "toolset:small");
  await ended(jobs, { id });
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.equal(evaluation?.setting, 'in toolset "small"');
});
