import assert from "node:assert/strict";
import type { Evaluation } from "../core/optimization.ts";
import { EvaluationsRepository } from "./evaluations_repository.ts";
import { Store } from "./store.ts";
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
  assert.equal(await store.generation(), 0n, "it is nobody's news");
});

Deno.test("EvaluationsRepository.save() takes the place of what it was before", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const repository = new EvaluationsRepository(store);
  await repository.save(evaluationSample({ runs: 1 }));
  await repository.save(evaluationSample({ runs: 2 }));
  assert.deepEqual(
    await repository.find("git", "status", "evaluation-1"),
    evaluationSample({ runs: 2 }),
  );
  assert.equal((await repository.list("git")).length, 1);
  assert.equal(await repository.find("git", "status", "e".repeat(5_000)), undefined);
});
