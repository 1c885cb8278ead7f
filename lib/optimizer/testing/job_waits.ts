import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import type { OptimizationJob } from "../../core/optimization.ts";
import type { OptimizationJobs } from "../jobs/queue.ts";

const LIMIT_MS = 120_000;

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!await isSo()) {
    assert.ok(performance.now() < end, `it never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The job when it has ended or waits for somebody. */
export async function ended(
  jobs: OptimizationJobs,
  { id }: Pick<OptimizationJob, "id">,
): Promise<OptimizationJob> {
  const job = await jobs.wait(id, LIMIT_MS, new AbortController().signal);
  assert.notEqual(job.status, "running", "the job did not end in time");
  return job;
}

export function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof GatewayError && error.code === code;
}
