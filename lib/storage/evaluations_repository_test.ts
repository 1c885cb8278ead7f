import assert from "node:assert/strict";
import type { Evaluation } from "../core/optimization.ts";
import { EvaluationsRepository } from "./evaluations_repository.ts";
import { Store } from "./store.ts";
import { failure } from "./testing/failures.ts";
import { evaluationSample } from "./testing/optimization_samples.ts";

const ids = (evaluations: Evaluation[]) => evaluations.map(({ id }) => id);

Deno.test("EvaluationsRepository.list() has what ended last first, of a server or a tool", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  await repository.save(evaluationSample({ id: "e1", endedAt: "2026-01-03T00:00:00Z" }));
  await repository.save(evaluationSample({ id: "e2", endedAt: "2026-01-01T00:00:00.000Z" }));
  await repository.save(
    evaluationSample({ id: "e3", toolName: "log", endedAt: "2026-01-02T00:00:00.000Z" }),
  );
  await repository.save(evaluationSample({ id: "e4", server: "hub" }));
  assert.deepEqual(ids(await repository.list("git")), ["e1", "e3", "e2"]);
  assert.deepEqual(ids(await repository.list("git", "status")), ["e1", "e2"]);
  assert.deepEqual(await repository.list("git", "stat"), []);
  const all = await repository.byServer();
  assert.deepEqual([...all.keys()], ["git", "hub"]);
  assert.deepEqual(ids(all.get("git") ?? []), ["e1", "e3", "e2"]);
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("EvaluationsRepository.save() overwrites nothing", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  await repository.save(evaluationSample({ runs: 1 }));
  await failure(repository.save(evaluationSample({ runs: 2 })), "CONFLICT");
  assert.deepEqual(
    await repository.find("git", "status", "evaluation-1"),
    evaluationSample({ runs: 1 }),
  );
  assert.equal((await repository.list("git")).length, 1);
  assert.equal(await repository.find("git", "status", "e".repeat(5_000)), undefined);
});

Deno.test("EvaluationsRepository.prune() keeps the newest of each tool", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  for (const [index, id] of ["e3", "e1", "e2"].entries()) {
    await repository.save(evaluationSample({ id, endedAt: `2026-01-0${index + 1}T00:00:00.000Z` }));
  }
  await repository.save(evaluationSample({ id: "other", toolName: "log" }));
  await repository.save(evaluationSample({ id: "else", server: "hub" }));
  assert.equal(await repository.prune({ mostPerTool: 2 }), 1);
  assert.deepEqual(ids(await repository.list("git", "status")), ["e2", "e1"]);
  assert.deepEqual(ids(await repository.list("git", "log")), ["other"]);
  assert.deepEqual(ids(await repository.list("hub")), ["else"]);
  assert.equal(await repository.prune({ mostPerTool: 2 }), 0);
});
