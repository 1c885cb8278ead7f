import assert from "node:assert/strict";
import { TimeoutQueue } from "./timeout_queue.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until so many are over, however slow the machine is. */
async function reach(over: readonly unknown[], count: number): Promise<void> {
  for (let tries = 0; over.length < count && tries < 1_000; tries++) await pause(5);
}

Deno.test("TimeoutQueue calls each wait after its time, and none that was deleted", async () => {
  const queue = new TimeoutQueue(40);
  const over: string[] = [];
  const early: string[] = [];
  const add = (name: string) => {
    const added = performance.now();
    return queue.add(() => {
      over.push(name);
      if (performance.now() - added < 40) early.push(name);
    });
  };
  add("a");
  const deleted = add("deleted");
  await pause(25);
  add("b");
  queue.delete(deleted);
  await reach(over, 2);
  add("c");
  await reach(over, 3);
  assert.deepEqual(over, ["a", "b", "c"]);
  assert.deepEqual(early, []);
});

Deno.test("TimeoutQueue keeps its order whichever wait is deleted, also twice or while others expire", async () => {
  for (const gone of [0, 1, 2, 3]) {
    using queue = new TimeoutQueue(15);
    const over: number[] = [];
    const waits = [0, 1, 2, 3].map((nth) => queue.add(() => over.push(nth)));
    queue.delete(waits[gone]!);
    queue.delete(waits[gone]!);
    await reach(over, 3);
    assert.deepEqual(over, [0, 1, 2, 3].filter((nth) => nth !== gone));
  }
  using queue = new TimeoutQueue(15);
  const over: string[] = [];
  queue.add(() => {
    over.push("first");
    queue.delete(second);
    queue.add(() => over.push("added"));
  });
  const second = queue.add(() => over.push("second"));
  await reach(over, 2);
  assert.deepEqual(over, ["first", "added"]);
});

Deno.test("TimeoutQueue calls nobody after its end", async () => {
  const queue = new TimeoutQueue(10);
  queue.add(assert.fail);
  queue.add(assert.fail);
  queue[Symbol.dispose]();
  await pause(30);
});
