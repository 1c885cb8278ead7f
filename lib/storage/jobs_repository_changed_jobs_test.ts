import assert from "node:assert/strict";
import { OptimizationJob } from "../core/optimization.ts";
import { ChangedJobs, JobsRepository } from "./jobs_repository.ts";
import { Store } from "./store.ts";

function job(id: string, owner: string, updatedAt = new Date().toISOString()): OptimizationJob {
  return OptimizationJob.parse({
    id,
    status: "running",
    phase: "queued",
    options: {},
    tools: [],
    createdAt: updatedAt,
    updatedAt,
    owner,
    by: "person",
  });
}

Deno.test("ChangedJobs.look() finds what others changed since the last look", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const jobs = new JobsRepository(store);
  const changed = new ChangedJobs(jobs, "here");
  const look = async () => {
    const { jobs, hasEarlier } = await changed.look();
    return [jobs.map(({ id }) => id).join(" "), hasEarlier];
  };
  const first = await jobs.save(job("1", "there"), null);
  assert.deepEqual(await look(), ["1", true], "what was before is not known");
  assert.deepEqual(await look(), ["", false]);
  await jobs.save(job("2", "here"), null);
  await jobs.save(job("3", "there"), null);
  await jobs.save(job("1", "there"), first);
  assert.deepEqual(await look(), ["3 1", false]);
  await jobs.save(job("4", "there", "2026-01-01T00:00:00.000Z"), null);
  assert.deepEqual(await look(), ["", true], "too long ago to be told as news");
  assert.deepEqual(await look(), ["", false]);
});
