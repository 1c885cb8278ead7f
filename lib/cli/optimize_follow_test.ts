import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { type JobStatus, OptimizationJob } from "../core/optimization.ts";
import { followJob } from "./optimize_follow.ts";

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
