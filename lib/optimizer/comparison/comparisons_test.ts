import assert from "node:assert/strict";
import type { TaskComparison } from "../../core/task_comparison.ts";
import { ComparisonsRepository, TaskRunsRepository } from "../../storage/comparisons_repository.ts";
import { Store } from "../../storage/store.ts";
import { TaskComparisons } from "./comparisons.ts";
import type { TaskClient } from "./run.ts";

const at = "2026-01-01T00:00:00.000Z";
const interrupted: TaskComparison = {
  id: "comparison_1",
  status: "interrupted",
  options: {
    setups: ["direct", "gateway"],
    repeats: 1,
    view: "inline",
    allowDestructive: false,
    maxTurns: 1,
    timeoutMs: 1_000,
  },
  tasks: [{ name: "one", prompt: "Do it", checks: [{ contains: "x" }] }],
  servers: [],
  warnings: [],
  model: "model",
  done: 0,
  total: 2,
  createdAt: at,
  updatedAt: at,
};

Deno.test("TaskComparisons.resume() works on a comparison at one of two gateways", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const comparisons = new ComparisonsRepository(store);
  await comparisons.save(interrupted);
  const opened: string[] = [];
  const open = (owner: string) =>
    new TaskComparisons({
      ...{ comparisons, runs: new TaskRunsRepository(store), owner },
      client: { model: "model" } as TaskClient,
      check: () => Promise.resolve(),
      surface: () => ({ servers: [], warnings: [] }),
      open() {
        opened.push(owner);
        return Promise.reject(new Error("No client"));
      },
      isOwnerAlive: () => Promise.resolve(true),
      onChange() {},
      onWarning() {},
      signal: new AbortController().signal,
    });
  await using here = open("here");
  await using there = open("there");
  const resumed = await Promise.allSettled(
    [here, there].map((gateway) => gateway.resume(interrupted.id, "everyone")),
  );
  assert.deepEqual(resumed.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const refusal = resumed.find((one) => one.status === "rejected");
  assert.match(String(refusal?.reason), /Cannot resume comparison "comparison_1": it is running/);
  for (let left = 500; left > 0 && (await here.get(interrupted.id)).status === "running"; left--) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(opened.length, 1, "only one of them makes runs");
});
