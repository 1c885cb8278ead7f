import assert from "node:assert/strict";
import { OptimizationJob } from "../../core/optimization.ts";
import { JobsRepository } from "../../storage/jobs_repository.ts";
import { Store } from "../../storage/store.ts";
import { Budget } from "../cost.ts";
import { JobRecord, type StopReason, takeRun, Throttle } from "./record.ts";

class RecordBench implements AsyncDisposable {
  readonly stops: StopReason[] = [];
  readonly told: OptimizationJob[] = [];
  writes = 0;
  readonly record: JobRecord;

  private constructor(
    readonly store: Store,
    readonly jobs: JobsRepository,
    job: OptimizationJob,
    versionstamp: string,
  ) {
    const save = jobs.save.bind(jobs);
    jobs.save = (...args) => {
      this.writes++;
      return save(...args);
    };
    this.record = new JobRecord({
      jobs,
      stored: { value: job, versionstamp },
      owner: "me",
      onChange: (job) => this.told.push(job),
      onStop: (reason) => this.stops.push(reason),
      onWarning: (message) => assert.fail(message),
    });
  }

  static async open(): Promise<RecordBench> {
    const store = await Store.open({ location: ":memory:" });
    const jobs = new JobsRepository(store);
    const time = "2026-01-01T00:00:00.000Z";
    const tool = { phase: "queued", server: "weather", toolName: "get_forecast" };
    const job = OptimizationJob.parse({
      id: "job_1",
      status: "running",
      phase: "queued",
      options: {},
      tools: [{ ...tool, evaluationId: "evaluation_1" }],
      createdAt: time,
      updatedAt: time,
      owner: "me",
      by: "person",
    });
    return new RecordBench(store, jobs, job, await jobs.save(job, null));
  }

  async stored(): Promise<OptimizationJob> {
    return (await this.jobs.resolve("job_1")).value;
  }

  async write(change: Partial<OptimizationJob>): Promise<void> {
    const { value, versionstamp } = await this.jobs.resolve("job_1");
    await this.jobs.save({ ...value, ...change }, versionstamp);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.record.end((job) => job);
    await this.store[Symbol.asyncDispose]();
  }
}

Deno.test("JobRecord.progress() tells and writes now and then, step() at once", async () => {
  await using bench = await RecordBench.open();
  for (let run = 1; run <= 500; run++) bench.record.progress((job) => ({ ...job, runs: run }));
  assert.equal(bench.told.length, 1);
  assert.equal(bench.record.job.runs, 500);
  await bench.record.stepTool(0, { phase: "evaluating" });
  assert.equal(bench.told.length, 2);
  assert.equal(bench.writes, 2);
  const stored = await bench.stored();
  assert.deepEqual([stored.runs, stored.phase], [500, "evaluating"]);
});

Deno.test("JobRecord.check() hears that somebody else stopped the job, and keeps its own progress", async () => {
  await using bench = await RecordBench.open();
  await bench.record.step((job) => ({ ...job, runs: 6 }));
  await bench.write({ status: "paused", note: "by hand" });
  bench.record.progress((job) => ({ ...job, runs: 7 }));
  await bench.record.check();
  await bench.record.check();
  assert.deepEqual(bench.stops, ["paused"]);
  await bench.record.end((job) => job);
  const stored = await bench.stored();
  assert.deepEqual(
    [stored.status, stored.note, stored.runs, stored.owner],
    ["paused", "by hand", 7, undefined],
  );
});

Deno.test("JobRecord.step() that comes too late does not undo what somebody else decided", async () => {
  await using bench = await RecordBench.open();
  await bench.write({ status: "cancelled" });
  await bench.record.end((job) => ({ ...job, status: "completed" }));
  assert.deepEqual(bench.stops, ["cancelled"]);
  assert.equal((await bench.stored()).status, "cancelled");
});

Deno.test("JobRecord writes nothing into a job that another process works on", async () => {
  await using bench = await RecordBench.open();
  await bench.write({ owner: "another", runs: 3 });
  await bench.record.step((job) => ({ ...job, runs: 99 }));
  await bench.record.end((job) => ({ ...job, status: "failed" }));
  assert.deepEqual(bench.stops, ["lost"]);
  const stored = await bench.stored();
  assert.deepEqual([stored.owner, stored.runs, stored.status], ["another", 3, "running"]);
});

Deno.test("takeRun() does not count a run that the store could not note", async () => {
  await using bench = await RecordBench.open();
  const { jobs, record } = bench;
  const budget = new Budget({ maxRuns: 1 });
  const save = jobs.save;
  jobs.save = () => {
    jobs.save = save;
    return Promise.reject(new Error("no store"));
  };
  await assert.rejects(takeRun({ budget, record }), /no store/);
  assert.deepEqual([budget.begun, record.job.begun], [0, 0]);
  assert.equal(await takeRun({ budget, record }), undefined);
  assert.equal((await bench.stored()).begun, 1);
});

Deno.test("Throttle.ask() acts at once, then once for all that was asked meanwhile", async () => {
  let acts = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const throttle = new Throttle(20, () => {
    if (++acts === 2) resolve();
  });
  for (let asked = 0; asked < 10; asked++) throttle.ask();
  assert.equal(acts, 1);
  await promise;
  assert.equal(acts, 2);
});

Deno.test("Throttle.now() acts at once, and for what was asked before", () => {
  let acts = 0;
  using throttle = new Throttle(3_600_000, () => acts++);
  throttle.ask();
  throttle.ask();
  throttle.now();
  assert.equal(acts, 2);
});
