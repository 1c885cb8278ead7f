import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { ended, hasCode, until } from "../testing/job_waits.ts";
import { JobBench } from "../testing/job_bench.ts";
import { hang, type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD } from "../testing/weather.ts";

const options = { generate: false };
const request = { server: "weather", by: "person", options } as const;
const forecast = { ...request, tools: ["get_forecast"] };

/** Answers so many runs, then none. */
function hangingAfter(calls: number): Script {
  return (asked, run) => asked.call > calls ? hang(run) : byDescription(asked, run);
}

async function aBench(): Promise<JobBench> {
  const bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  return bench;
}

/** Which run it was: nobody may make it twice. */
function namesOf(evaluator: ScriptedEvaluator): string[] {
  return evaluator.asked.map(({ description, prompt }) => `${description} | ${prompt}`);
}

Deno.test("OptimizationJobs.takeOver() goes on where a dead process was, and repeats no finished run", async () => {
  await using bench = await aBench();
  const first = new ScriptedEvaluator(hangingAfter(11));
  const dead = bench.gateway("dead", { evaluator: () => Promise.resolve(first) });
  const { id } = await dead.start(forecast);
  await until("two runs hang", () => first.asked.length === 13);
  await until(
    "all others are saved",
    async () => (await bench.runs.list("weather", "get_forecast")).length === 11,
  );
  const second = new ScriptedEvaluator(byDescription);
  const heir = bench.gateway("heir", { evaluator: () => Promise.resolve(second) });
  await heir.takeOver();
  const { owner } = (await bench.jobs.resolve(id)).value;
  assert.equal(owner, "dead", "taken from a process that is alive");

  bench.alive.delete("dead");
  await heir.takeOver();
  await heir.takeOver();
  const job = await ended(heir, await heir.get(id));
  assert.equal(job.status, "completed");
  assert.match(job.tools[0]?.outcome ?? "", /Candidate "good" looks better: overall 33 % -> 100 %/);
  assert.equal(job.runs, 30);
  assert.equal(job.cost.costUsd?.toFixed(2), "0.30");
  assert.equal(second.asked.length, 19);
  const done = namesOf(first).slice(0, 11);
  assert.deepEqual(namesOf(second).filter((name) => done.includes(name)), []);
  assert.equal((await bench.runs.list("weather", "get_forecast")).length, 30);
  // The first one sees that the job is no longer its own, stops and writes nothing.
  await until("the first one let go", async () => (await dead.get(id)).status === "completed");
  assert.equal((await bench.jobs.resolve(id)).value.status, "completed");
});

Deno.test("OptimizationJobs.takeOver() by several gateways lets one work", async () => {
  await using bench = await aBench();
  const first = new ScriptedEvaluator(hangingAfter(3));
  const dead = bench.gateway("dead", { evaluator: () => Promise.resolve(first) });
  const { id } = await dead.start(forecast);
  await until("runs hang", () => first.asked.length === 5);
  bench.alive.delete("dead");
  const second = new ScriptedEvaluator(byDescription);
  const heirs = ["a", "b", "c"].map((owner) =>
    bench.gateway(owner, { evaluator: () => Promise.resolve(second) })
  );
  await Promise.all(heirs.map((heir) => heir.takeOver()));
  const [heir] = heirs;
  assert.ok(heir);
  assert.equal((await ended(heir, await heir.get(id))).status, "completed");
  assert.equal(second.asked.length, 27);
});

Deno.test("OptimizationJobs leaves a job to the next process when it is disposed", async () => {
  await using bench = await aBench();
  const first = new ScriptedEvaluator(hangingAfter(6));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(first) });
  const { id } = await jobs.start(forecast);
  await until("runs hang", () => first.asked.length === 8);
  await jobs[Symbol.asyncDispose]();
  const { value } = await bench.jobs.resolve(id);
  assert.deepEqual([value.status, value.owner, value.runs], ["running", undefined, 6]);
  await assert.rejects(jobs.start(forecast), hasCode("OPTIMIZATION_DISABLED"));
  const second = new ScriptedEvaluator(byDescription);
  const next = bench.gateway("two", { evaluator: () => Promise.resolve(second) });
  await next.takeOver();
  assert.equal((await ended(next, value)).status, "completed");
  assert.equal(second.asked.length, 24);
});

Deno.test("OptimizationJobs.pause() stops what runs without counting it, resume() goes on", async () => {
  await using bench = await aBench();
  let isHanging = true;
  const evaluator = new ScriptedEvaluator((asked, run) =>
    isHanging && asked.call > 7 ? hang(run) : byDescription(asked, run)
  );
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const { id } = await jobs.start(forecast);
  await until("runs hang", () => evaluator.asked.length === 9);
  const paused = await jobs.pause(id);
  assert.deepEqual([paused.status, paused.owner, paused.runs], ["paused", undefined, 7]);
  assert.equal((await jobs.pause(id)).status, "paused");
  await jobs.takeOver();
  const { status } = (await bench.jobs.resolve(id)).value;
  assert.equal(status, "paused", "a paused job is nobody's to take up");
  isHanging = false;
  const resumed = await jobs.resume(id);
  assert.equal(resumed.status, "running");
  assert.equal((await jobs.resume(id)).id, id);
  const job = await ended(jobs, resumed);
  assert.equal(job.status, "completed");
  assert.equal(job.runs, 30);
  assert.equal(evaluator.asked.length, 2 + 30);
  await assert.rejects(jobs.pause(id), hasCode("CONFLICT"));
  await assert.rejects(jobs.resume(id), hasCode("CONFLICT"));
  await assert.rejects(jobs.cancel(id), hasCode("CONFLICT"));
});

Deno.test("OptimizationJobs.cancel() ends the work and keeps what was measured", async () => {
  await using bench = await aBench();
  const evaluator = new ScriptedEvaluator(hangingAfter(4));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const { id } = await jobs.start(forecast);
  await until("runs hang", () => evaluator.asked.length === 6);
  const job = await jobs.cancel(id);
  assert.deepEqual([job.status, job.owner, job.runs], ["cancelled", undefined, 4]);
  assert.ok(job.endedAt);
  assert.equal((await bench.runs.list("weather", "get_forecast")).length, 4);
  assert.equal((await jobs.cancel(id)).status, "cancelled");
  await assert.rejects(jobs.resume(id), hasCode("CONFLICT"));
});

Deno.test("OptimizationJobs.pause() and cancel() reach the process that works on the job", async () => {
  await using bench = await aBench();
  const evaluator = new ScriptedEvaluator((_, run) => hang(run));
  const worker = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const other = bench.gateway("two", { evaluator: () => Promise.resolve(evaluator) });
  const { id } = await worker.start(forecast);
  await until("runs hang", () => evaluator.asked.length === 2);
  assert.equal((await other.pause(id)).status, "paused");
  // It waits until the first one has let go.
  assert.equal((await other.resume(id)).owner, "two");
  await until("the other one works", () => evaluator.asked.length === 4);
  await worker.cancel(id);
  await until(
    "the other one let go",
    async () => (await bench.jobs.resolve(id)).value.owner === undefined,
  );
  assert.equal((await bench.jobs.resolve(id)).value.status, "cancelled");
  assert.equal(evaluator.asked.length, 4);
});

Deno.test("OptimizationJobs pauses when optimization is switched off", async () => {
  await using bench = await aBench();
  const evaluator = new ScriptedEvaluator((_, run) => hang(run));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const started = await jobs.start(forecast);
  bench.isEnabled = false;
  const job = await ended(jobs, started);
  assert.deepEqual([job.status, job.note], ["paused", "Optimization is switched off"]);
  await assert.rejects(jobs.resume(job.id), hasCode("OPTIMIZATION_DISABLED"));
});

Deno.test("OptimizationJobs.takeOver() pauses what nobody may work on", async () => {
  await using bench = await aBench();
  const evaluator = new ScriptedEvaluator((_, run) => hang(run));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const { id } = await jobs.start(forecast);
  await jobs[Symbol.asyncDispose]();
  bench.isEnabled = false;
  await bench.gateway("two").takeOver();
  assert.equal((await bench.jobs.resolve(id)).value.status, "paused");
});

Deno.test("OptimizationJobs.takeOver() promotes only once, also after a revert", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(30);
  await bench.saveCandidate("good", GOOD, "get_forecast", {
    createdAt: "2025-01-01T00:00:00.000Z",
  });
  const jobs = bench.gateway("one");
  const thorough = { ...forecast, options: { ...options, depth: "thorough" } as const };
  const job = await ended(jobs, await jobs.start(thorough));
  await bench.promotions.revert({ server: "weather", tool: "get_forecast", by: "person" });
  // As if the process had ended between the promotion and the record that says so.
  const { value, versionstamp } = await bench.jobs.resolve(job.id);
  const [tool] = value.tools;
  assert.ok(tool);
  const { endedAt: _, ...rest } = value;
  const before = {
    ...rest,
    status: "running" as const,
    tools: [{ ...tool, phase: "promoting" as const }],
  };
  await bench.jobs.save(before, versionstamp);
  const next = bench.gateway("two");
  await next.takeOver();
  const again = await ended(next, job);
  assert.equal(again.tools[0]?.promotedCandidateId, "good");
  assert.equal(bench.promotions.of("weather", "get_forecast"), undefined);
  assert.equal((await bench.runs.list("weather", "get_forecast")).length, job.runs);
});

/** What a process asks a model for a job until it is killed. */
async function killedWorker(location: string, lines: number, budget?: number): Promise<string[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-check",
      "--allow-all",
      import.meta.resolve("../testing/job_child.ts"),
      location,
      ...budget === undefined ? [] : ["child", String(budget)],
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let [said, isKilled] = ["", false];
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (isKilled || said.split("\n").length <= lines) continue;
    child.kill("SIGKILL");
    isKilled = true;
  }
  assert.equal((await child.status).signal, "SIGKILL");
  return said.split("\n");
}

Deno.test("OptimizationJobs.takeOver() keeps to a job's budget, with the runs that a killed process lost", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const location = `${folder}/kv.sqlite3`;
    const maxRuns = 20;
    const texts = 3;
    const said = await killedWorker(location, maxRuns / 2 + texts, maxRuns);
    const lost = said.filter((line) => line.startsWith("run ")).length;
    await using bench = await JobBench.open(location);
    const evaluator = new ScriptedEvaluator(byDescription);
    const jobs = bench.gateway("heir", { evaluator: () => Promise.resolve(evaluator) });
    await jobs.takeOver();
    const [begun] = await jobs.list();
    const job = await ended(jobs, begun!);
    assert.match(job.note ?? "", /the budget of 20 runs is used up/);
    assert.ok(job.runs < maxRuns, "some were in flight at the kill");
    assert.ok(lost + evaluator.asked.length <= maxRuns, `${lost} + ${evaluator.asked.length}`);
    assert.ok(evaluator.asked.length > 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("OptimizationJobs.takeOver() finishes the job of a process that was killed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const location = `${folder}/kv.sqlite3`;
    await killedWorker(location, 60);

    await using bench = await JobBench.open(location);
    const finished = await bench.runs.list("weather", "get_forecast");
    const prompts = await bench.prompts.list("weather", "get_forecast");
    const candidates = await bench.candidates.list("weather", "get_forecast");
    assert.ok(finished.length > 0 && prompts.length >= 66 && candidates.length === 4);
    const evaluator = new ScriptedEvaluator(byDescription);
    const jobs = bench.gateway("heir", { evaluator: () => Promise.resolve(evaluator) });
    await jobs.takeOver();
    const [begun] = await jobs.list();
    assert.ok(begun);
    const job = await ended(jobs, begun);
    assert.equal(job.status, "completed");
    assert.match(job.tools[0]?.outcome ?? "", /^Promoted: overall \d+ % -> 100 %, \+\d/);
    const runs = await bench.runs.list("weather", "get_forecast");
    assert.equal(runs.length, finished.length + evaluator.asked.length);
    assert.equal(job.runs, runs.length);
    const keys = runs.map(({ evaluationId, candidateId, promptId }) =>
      `${evaluationId} ${candidateId} ${promptId}`
    );
    assert.equal(new Set(keys).size, keys.length, "a finished run was repeated");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("OptimizationJobs leaves a job to be taken up again when the store fails", async () => {
  await using bench = await aBench();
  const save = bench.runs.save.bind(bench.runs);
  let saves = 0;
  bench.runs.save = (run) =>
    ++saves === 5
      ? Promise.reject(new GatewayError("STORAGE_FULL", { message: "The disk is full" }))
      : save(run);
  const jobs = bench.gateway("one");
  const { id } = await jobs.start(forecast);
  await until("it let go", async () => (await bench.jobs.resolve(id)).value.owner === undefined);
  const { value } = await bench.jobs.resolve(id);
  assert.equal(value.status, "running");
  assert.deepEqual(bench.warnings, ["An optimization job stopped unexpectedly"]);
  await jobs.takeOver();
  const job = await ended(jobs, value);
  assert.deepEqual([job.status, job.runs], ["completed", 30]);
});

Deno.test("OptimizationJobs.takeOver() fails a job that nothing can evaluate, and says what to do", async () => {
  await using bench = await aBench();
  const evaluator = new ScriptedEvaluator((_, run) => hang(run));
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const started = await jobs.start(forecast);
  await jobs[Symbol.asyncDispose]();
  const cannot = new GatewayError("CANNOT_EVALUATE", {
    message: "Cannot evaluate: claude is not installed",
    recoverySteps: ["Run npm install"],
  });
  const blind = bench.gateway("two", { evaluator: () => Promise.reject(cannot) });
  await blind.takeOver();
  const job = await ended(blind, started);
  assert.equal(job.status, "failed");
  assert.equal(job.note, "Cannot evaluate: claude is not installed. Run npm install");
});
