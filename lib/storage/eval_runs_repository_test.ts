import assert from "node:assert/strict";
import { type EvalRun, newId } from "../core/optimization.ts";
import { EvalRunsRepository } from "./eval_runs_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { runSample } from "./testing/optimization_samples.ts";

/** A run at a time of its own. */
function runAt(time: number, changed: Partial<EvalRun> = {}): EvalRun {
  const timestamp = new Date(time).toISOString();
  return runSample({ id: newId("run", time), timestamp, ...changed });
}

const times = (runs: EvalRun[]) => runs.map(({ timestamp }) => Date.parse(timestamp));

Deno.test("EvalRunsRepository.list() has a tool's runs, oldest first, all or some", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  await repository.save(runAt(3, { evaluationId: "e1", candidateId: "c1" }));
  await repository.save(runAt(1, { evaluationId: "e1" }));
  await repository.save(runAt(2, { candidateId: "c1" }));
  await repository.save(runAt(4, { toolName: "log" }));
  const list = async (filter?: { evaluationId?: string; candidateId?: string }) =>
    times(await repository.list("git", "status", filter));
  assert.deepEqual(await list(), [1, 2, 3]);
  assert.deepEqual(await list({ evaluationId: "e1" }), [1, 3]);
  assert.deepEqual(await list({ candidateId: "c1" }), [2, 3]);
  assert.deepEqual(await list({ evaluationId: "e1", candidateId: "c1" }), [3]);
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("EvalRunsRepository keeps apart tools whose names are too long for a key", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  const [one, other] = ["a", "b"].map((end) => "t".repeat(5_000) + end);
  await repository.save(runAt(1, { toolName: one! }));
  await repository.save(runAt(2, { toolName: other! }));
  assert.deepEqual(times(await repository.list("git", one!)), [1]);
  assert.deepEqual(times(await repository.list("git", other!)), [2]);
  assert.deepEqual(times(await repository.recent(5)), [2, 1]);
});

Deno.test("EvalRunsRepository.save() never overwrites", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  await repository.save(runSample());
  await failure(repository.save(runSample({ candidateId: "c1" })), "CONFLICT");
  assert.deepEqual(await repository.list("git", "status"), [runSample()]);
});

Deno.test("EvalRunsRepository.recent() has the newest of all tools", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  assert.deepEqual(await repository.recent(3), []);
  for (let time = 1; time <= 30; time++) {
    const where = { server: time % 2 ? "git" : "hub", toolName: `tool-${time % 3}` };
    await repository.save(runAt(time, where));
  }
  await repository.save(runAt(31, { toolName: "alone" }));
  assert.deepEqual(times(await repository.recent(5)), [31, 30, 29, 28, 27]);
  assert.equal((await repository.recent(1_000)).length, 31);
});

Deno.test("EvalRunsRepository.prune() deletes by age and by number, whatever the tool", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvalRunsRepository(store);
  for (let time = 1; time <= 10; time++) {
    await repository.save(runAt(time, { toolName: time % 2 ? "z" : "a" }));
  }
  const most = 1_000;
  assert.equal(await repository.prune({ olderThanMs: 50, most }, 50), 0);
  assert.equal(await repository.prune({ olderThanMs: 47, most }, 50), 2);
  assert.deepEqual(times(await repository.recent(20)), [10, 9, 8, 7, 6, 5, 4, 3]);
  assert.equal(await repository.prune({ olderThanMs: 50, most: 3 }, 50), 5);
  assert.deepEqual(times(await repository.recent(20)), [10, 9, 8]);
});
