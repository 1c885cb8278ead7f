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
