import assert from "node:assert/strict";
import { ModelQueue } from "./concurrency.ts";

const signal = new AbortController().signal;

Deno.test("ModelQueue.use() lets so many work at once, the others in turn", async () => {
  const slots = new ModelQueue(2);
  let [running, most] = [0, 0];
  const order: number[] = [];
  await Promise.all([1, 2, 3, 4, 5].map((n) =>
    slots.use(signal, async () => {
      order.push(n);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    })
  ));
  assert.equal(most, 2);
  assert.deepEqual(order, [1, 2, 3, 4, 5]);
});

Deno.test("ModelQueue.use() gives the place back after a failure, and to who still waits", async () => {
  const slots = new ModelQueue(1);
  const stopping = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = slots.use(signal, () => promise);
  const second = slots.use(stopping.signal, () => Promise.resolve("second"));
  const third = slots.use(signal, () => Promise.reject(new Error("third")));
  stopping.abort(new Error("stopped"));
  await assert.rejects(second, /stopped/);
  resolve();
  await first;
  await assert.rejects(third, /third/);
  assert.equal(await slots.use(signal, () => Promise.resolve("fourth")), "fourth");
});

Deno.test("ModelQueue.use() loses no place to one that is given it and aborted at once", async () => {
  const slots = new ModelQueue(1);
  const stopping = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = slots.use(signal, () => promise.finally(() => stopping.abort(new Error("late"))));
  const second = slots.use(stopping.signal, () => Promise.resolve());
  resolve();
  await first;
  await second.catch(() => {});
  assert.equal(await slots.use(signal, () => Promise.resolve("third")), "third");
});

Deno.test("ModelQueue.evaluator() still says that runs have no price", () => {
  const free = {
    kind: "messages-api" as const,
    model: "stand-in",
    isPriced: false,
    check: () => Promise.resolve(),
    run: () => Promise.reject(new Error("not asked")),
  };
  assert.equal(new ModelQueue(1).evaluator(free).isPriced, false);
});
