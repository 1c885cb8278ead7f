import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { type JobStatus, OptimizationJob } from "../core/optimization.ts";
import { JOB_OPERATIONS } from "../operations/jobs.ts";
import type { Operation } from "../operations/operation.ts";
import { agreeOnJob, followJob, progressBar } from "./job_progress.ts";

function jobOf(status: JobStatus, runs = 0): OptimizationJob {
  const time = new Date(0).toISOString();
  const base = { id: "job_1", phase: "evaluating", options: {}, tools: [], by: "person" };
  return OptimizationJob.parse({ ...base, status, runs, createdAt: time, updatedAt: time });
}

/** Answers one after the other; the last one again and again. */
function reader(...answers: (OptimizationJob | GatewayError)[]) {
  let asked = 0;
  return () => {
    const answer = answers[Math.min(asked++, answers.length - 1)]!;
    return answer instanceof GatewayError ? Promise.reject(answer) : Promise.resolve(answer);
  };
}

const QUIET = { onState() {}, signal: new AbortController().signal, pollMs: 0 };

Deno.test("followJob() shows each state until the job has ended or waits", async () => {
  for (const status of ["completed", "paused", "cancelled", "failed"] as const) {
    const seen: number[] = [];
    const read = reader(jobOf("running", 1), jobOf(status, 2));
    const onState = ({ runs }: OptimizationJob) => void seen.push(runs);
    const last = await followJob(jobOf("running"), { ...QUIET, read, onState });
    assert.equal(last.status, status);
    assert.deepEqual(seen, [0, 1, 2]);
  }
  const read = () => Promise.reject(new Error("it was asked"));
  assert.equal((await followJob(jobOf("failed"), { ...QUIET, read })).status, "failed");
});

Deno.test("followJob() bears with a gateway that is away for a while, not for ever", async () => {
  const away = new GatewayError("SERVER_DISCONNECTED");
  const back = reader(away, new GatewayError("TIMEOUT"), jobOf("completed"));
  assert.equal((await followJob(jobOf("running"), { ...QUIET, read: back })).status, "completed");
  const gone = followJob(jobOf("running"), { ...QUIET, read: reader(away), mostFailures: 3 });
  await assert.rejects(gone, { code: "SERVER_DISCONNECTED" });
  const unknown = reader(new GatewayError("NOT_FOUND"), jobOf("completed"));
  await assert.rejects(followJob(jobOf("running"), { ...QUIET, read: unknown }), {
    code: "NOT_FOUND",
  });
});

Deno.test("followJob() stops when told, and at its limit", async () => {
  const stop = new AbortController();
  let asked = 0;
  const read = () => {
    asked++;
    stop.abort();
    return Promise.resolve(jobOf("running", asked));
  };
  const last = await followJob(jobOf("running"), { ...QUIET, read, signal: stop.signal });
  assert.deepEqual([last.status, asked], ["running", 1]);
  // The wait itself ends too: this would take an hour.
  const waiting = new AbortController();
  const following = followJob(jobOf("running"), {
    ...QUIET,
    read,
    signal: waiting.signal,
    pollMs: 3_600_000,
  });
  waiting.abort();
  assert.equal((await following).runs, 0);
  const limited = followJob(jobOf("running"), {
    ...QUIET,
    read: reader(jobOf("running", 7)),
    mostPolls: 3,
  });
  assert.equal((await limited).runs, 7);
});

const time = new Date(0).toISOString();
const JOB = OptimizationJob.parse({
  id: "job_1",
  status: "running",
  phase: "queued",
  options: {},
  tools: [],
  createdAt: time,
  updatedAt: time,
  by: "person",
});
const ESTIMATE = "1 tool, about 8 s, cost not known: a guess\n";

/** Writes down what was asked of a gateway and told to the person, in order. */
function recorder(
  { enabled = true, problem = null, refusal }: {
    enabled?: boolean;
    problem?: string | null;
    refusal?: GatewayError;
  } = {},
) {
  const seen: string[] = [];
  const estimate = { tools: 1, runs: 1, seconds: 8, costUsd: null, basis: "a guess" };
  const answers: Record<string, () => Promise<unknown>> = {
    "job.estimate": () => Promise.resolve(estimate),
    "optimization.status": () => Promise.resolve({ enabled, evaluator: { problem }, reports: [] }),
    "job.start"() {
      if (refusal) return Promise.reject(refusal);
      seen.push("started");
      return Promise.resolve({ job: JOB, estimate });
    },
  };
  const run = {
    operation: JOB_OPERATIONS.start as Operation,
    given: { all: true },
    input: { flags: new Map() } as never,
    target: { run: ({ name }: Operation) => answers[name]!() },
  };
  const agree = (answer?: boolean) => {
    const ask = answer === undefined ? undefined : () => (seen.push("asked"), answer);
    return agreeOnJob(run, ask, (text) => void seen.push(text));
  };
  return { seen, agree };
}

Deno.test("agreeOnJob() tells what it would take and asks before it starts", async () => {
  const { seen, agree } = recorder();
  const start = await agree(true);
  assert.equal((await start()).job, JOB);
  assert.deepEqual(seen, [ESTIMATE, "asked", "started"]);
});

Deno.test("agreeOnJob() starts nothing if the answer is no", async () => {
  const { seen, agree } = recorder();
  await assert.rejects(agree(false), /Nothing was started/);
  assert.deepEqual(seen, [ESTIMATE, "asked"]);
});

Deno.test("agreeOnJob() tells no estimate and asks nothing if it cannot start", async () => {
  for (
    const [input, code] of [
      [{ enabled: false }, "OPTIMIZATION_DISABLED"],
      [{ problem: "Cannot evaluate: no claude" }, "CANNOT_EVALUATE"],
    ] as const
  ) {
    const { seen, agree } = recorder(input);
    await assert.rejects(agree(true), { code });
    assert.deepEqual(seen, []);
  }
});

Deno.test("agreeOnJob() without a question tells the estimate only of what has started", async () => {
  const { seen, agree } = recorder();
  await (await agree())();
  assert.deepEqual(seen, ["started", ESTIMATE]);
  const refusal = new GatewayError("OPERATION_IN_PROGRESS");
  const busy = recorder({ refusal });
  await assert.rejects(await busy.agree(), refusal);
  assert.deepEqual(busy.seen, []);
});

Deno.test("progressBar() shows the runs of the tool that is being tested", () => {
  const tools = [{ phase: "complete" }, { phase: "evaluating", runsDone: 45, runsTotal: 60 }];
  const job = { tools } as unknown as Parameters<typeof progressBar>[0];
  assert.equal(progressBar(job), "[###############-----] 45/60  ");
  assert.equal(progressBar({ tools: [] }), "");
});
