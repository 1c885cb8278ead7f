import assert from "node:assert/strict";
import { TimeoutQueue } from "./timeout_queue.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("TimeoutQueue calls each wait in its time, and none that was deleted", async () => {
  const queue = new TimeoutQueue(40);
  const over: string[] = [];
  queue.add(() => over.push("a"));
  const deleted = queue.add(() => over.push("deleted"));
  await pause(25);
  queue.add(() => over.push("b"));
  queue.delete(deleted);
  assert.deepEqual([...over], []);
  await pause(30);
  assert.deepEqual([...over], ["a"]);
  await pause(60);
  assert.deepEqual([...over], ["a", "b"]);
  queue.add(() => over.push("c"));
  await pause(80);
  assert.deepEqual([...over], ["a", "b", "c"]);
});

Deno.test("TimeoutQueue keeps its order whichever wait is deleted, also twice or while others expire", async () => {
  for (const gone of [0, 1, 2, 3]) {
    using queue = new TimeoutQueue(15);
    const over: number[] = [];
    const waits = [0, 1, 2, 3].map((nth) => queue.add(() => over.push(nth)));
    queue.delete(waits[gone]!);
    queue.delete(waits[gone]!);
    await pause(40);
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
  await pause(60);
  assert.deepEqual(over, ["first", "added"]);
});

Deno.test("TimeoutQueue calls nobody after its end", async () => {
  const queue = new TimeoutQueue(10);
  queue.add(assert.fail);
  queue.add(assert.fail);
  queue[Symbol.dispose]();
  await pause(30);
});
