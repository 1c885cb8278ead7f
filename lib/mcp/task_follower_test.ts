import assert from "node:assert/strict";
import { until } from "../servers/testing/fake_server.ts";
import { TaskFollower, type TaskSource } from "./task_follower.ts";

/** A task whose changes are made by hand, over one connection after the other. */
function openTask() {
  const connections: { change(): void; lose(): void }[] = [];
  const task = { state: "1" as string | undefined, asked: 0 };
  const source: TaskSource = {
    state() {
      task.asked++;
      return Promise.resolve(task.state);
    },
    async follow(onChange, signal) {
      const over = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => over.resolve());
      connections.push({ change: onChange, lose: over.resolve });
      onChange();
      await over.promise;
    },
  };
  return { task, connections, source };
}

Deno.test("TaskFollower sends a task's state once at first, and after changes, merged", async () => {
  const { task, connections, source } = openTask();
  using follower = await TaskFollower.open(source);
  const sent: string[] = [];
  follower?.start((state) => sent.push(state));
  await until(() => sent.length === 1);
  for (const state of ["2", "3", "4"]) {
    task.state = state;
    connections[0]!.change();
  }
  await until(() => sent.at(-1) === "4");
  assert.ok(sent.length <= 3, sent.join());
});

Deno.test("TaskFollower follows a task again after its connection was lost, until the task is gone", async () => {
  const { task, connections, source } = openTask();
  using follower = await TaskFollower.open(source);
  const sent: string[] = [];
  follower?.start((state) => sent.push(state));
  task.state = "2";
  connections[0]!.lose();
  await until(() => connections.length === 2 && sent.at(-1) === "2");
  task.state = undefined;
  const before = [sent.length, connections.length];
  const { asked } = task;
  connections[1]!.lose();
  await until(() => task.asked > asked);
  assert.deepEqual([sent.length, connections.length], before);
});

Deno.test("TaskFollower.open() finds no task that is not the caller's, or whose changes nobody tells", async () => {
  const { task, source } = openTask();
  const silent = { ...source, follow: () => Promise.reject(new Error("It does not tell")) };
  assert.equal(await TaskFollower.open(silent), undefined);
  task.state = undefined;
  assert.equal(await TaskFollower.open(source), undefined);
  const refused = { ...source, state: () => Promise.reject(new Error("It is not yours")) };
  assert.equal(await TaskFollower.open(refused), undefined);
});

Deno.test("TaskFollower.open() stops waiting for a server that confirms nothing in time", async () => {
  const { source } = openTask();
  const stopped = Promise.withResolvers<void>();
  const slow: TaskSource = {
    ...source,
    async follow(_, signal) {
      signal.addEventListener("abort", () => stopped.resolve());
      await stopped.promise;
    },
  };
  assert.equal(await TaskFollower.open(slow, 10), undefined);
  await stopped.promise;
});
