import assert from "node:assert/strict";
import { newId, OptimizationJob } from "../core/optimization.ts";
import { JobsRepository } from "./jobs_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";

function job(id: string): OptimizationJob {
  return OptimizationJob.parse({
    id,
    status: "running",
    phase: "queued",
    options: {},
    tools: [],
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    by: "person",
  });
}

Deno.test("JobsRepository saves progress over what was read, and tells nobody", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new JobsRepository(store);
  const [first, second] = [1, 2].map((time) => newId("job", time));
  const versionstamp = await repository.save(job(first!), null);
  await repository.save(job(second!), null);
  await repository.save({ ...job(first!), runs: 5 }, versionstamp);
  await failure(repository.save({ ...job(first!), runs: 6 }, versionstamp), "CONFLICT");
  const newestFirst = await Array.fromAsync(repository.list({ reverse: true }));
  assert.deepEqual(newestFirst.map(({ value }) => value.id), [second, first]);
  assert.equal((await repository.resolve(first!)).value.runs, 5);
  assert.equal(await store.generation(), 0n);
});

Deno.test("JobsRepository.resolve() says what is missing, however long its name", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new JobsRepository(store);
  const error = await failure(repository.resolve("j1"), "NOT_FOUND");
  assert.equal(error.message, 'There is no optimization job "j1"');
  await failure(repository.resolve("j".repeat(5_000)), "NOT_FOUND");
});

Deno.test("JobsRepository.prune() deletes the oldest that have ended, and no other", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new JobsRepository(store);
  const statuses = ["completed", "running", "failed", "paused", "cancelled", "completed"] as const;
  for (const [index, status] of statuses.entries()) {
    await repository.save({ ...job(newId("job", index)), status }, null);
  }
  assert.equal(await repository.prune({ mostEnded: 2 }), 2);
  const left = await Array.fromAsync(repository.list());
  assert.deepEqual(left.map(({ value }) => value.status), [
    "running",
    "paused",
    "cancelled",
    "completed",
  ]);
});
