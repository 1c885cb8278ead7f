import assert from "node:assert/strict";
import { until } from "../../tests/gateway.ts";
import {
  asAbortSignal,
  Cancellation,
  DeferredWork,
  keepUp,
  once,
  retryStale,
  settledWithin,
  TimeoutQueue,
} from "./async.ts";
import { GatewayError } from "./errors.ts";

Deno.test("once() does the work once for all who ask", async () => {
  let times = 0;
  const ask = once(() => Promise.resolve(++times));
  assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1]);
  assert.equal(await ask(), 1);
});

Deno.test("once() does work that failed again", async () => {
  let times = 0;
  const ask = once(() =>
    ++times < 2 ? Promise.reject(new Error("locked")) : Promise.resolve(times)
  );
  await assert.rejects(Promise.all([ask(), ask()]), /locked/);
  assert.equal(times, 1);
  assert.equal(await ask(), 2);
  assert.equal(await ask(), 2);
});

Deno.test("retryStale() tries a stale write a few times, and nothing else again", async () => {
  let tries = 0;
  const failing = (error: Error, times: number) => () =>
    ++tries > times ? Promise.resolve(tries) : Promise.reject(error);
  assert.equal(await retryStale(failing(new GatewayError("CONFLICT"), 2)), 3);
  tries = 0;
  await assert.rejects(retryStale(failing(new GatewayError("CONFLICT"), 100)), {
    code: "CONFLICT",
  });
  assert.equal(tries, 5);
  tries = 0;
  await assert.rejects(retryStale(failing(new GatewayError("TIMEOUT"), 100)), { code: "TIMEOUT" });
  assert.equal(tries, 1);
});

Deno.test("Later does in order what was added, after the turn, when asked, or when it is much", async () => {
  using later = new DeferredWork(assert.ifError);
  const done: number[] = [];
  later.add(() => void done.push(1));
  later.add(() => void done.push(2));
  await Promise.resolve();
  assert.deepEqual([...done], []);
  later.run();
  assert.deepEqual([...done], [1, 2]);

  later.add(() => void done.push(3));
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual([...done], [1, 2, 3]);

  done.length = 0;
  for (let count = 0; count < 100; count++) later.add(() => void done.push(count));
  assert.ok(done.length >= 50 && done.length < 100, `${done.length}`);
});

Deno.test("Later does the rest where one piece of work fails", () => {
  const errors: unknown[] = [];
  using later = new DeferredWork((error) => errors.push(error));
  let isDone = false;
  const broken = new Error("broken");
  later.add(() => {
    throw broken;
  });
  later.add(() => isDone = true);
  later.run();
  assert.deepEqual([isDone, errors], [true, [broken]]);
});

Deno.test("Later leaves nothing undone at its end, nor after it", () => {
  const later = new DeferredWork(assert.ifError);
  const done: string[] = [];
  later.add(() => void done.push("before"));
  later[Symbol.dispose]();
  later.add(() => void done.push("after"));
  assert.deepEqual(done, ["before", "after"]);
});

Deno.test("Cancellation.abort() tells each listener once, with the first reason, as a controller does", () => {
  const controller = new AbortController();
  const own = new Cancellation();
  for (
    const { signal, abort } of [
      { signal: controller.signal, abort: (reason: unknown) => controller.abort(reason) },
      { signal: own, abort: (reason: unknown) => own.abort(reason) },
    ]
  ) {
    const told: unknown[] = [];
    const gone = () => told.push("gone");
    signal.addEventListener("abort", gone);
    signal.addEventListener("abort", () => told.push(signal.reason));
    signal.removeEventListener("abort", gone);
    signal.throwIfAborted();
    abort("first");
    abort("second");
    signal.addEventListener("abort", gone);
    assert.deepEqual([signal.aborted, signal.reason, told], [true, "first", ["first"]]);
    assert.throws(() => signal.throwIfAborted(), (reason) => reason === "first");
  }
});

Deno.test("asAbortSignal() follows a cancellation, before and after", () => {
  const cancellation = new Cancellation();
  const before = asAbortSignal(cancellation);
  assert.equal(before.aborted, false);
  cancellation.abort("reason");
  const after = asAbortSignal(cancellation);
  assert.deepEqual([before.reason, after.reason, after.aborted], ["reason", "reason", true]);
  assert.equal(asAbortSignal(before), before);
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until so many are over, however slow the machine is. */
async function reach(over: readonly unknown[], count: number): Promise<void> {
  for (let tries = 0; over.length < count && tries < 12_000; tries++) await pause(5);
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

const HOUR = 3_600_000;

Deno.test("settledWithin() ends with the work, and leaves no timer", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = settledWithin(promise, HOUR);
  resolve();
  await waiting;
  await assert.rejects(settledWithin(Promise.reject(new Error("failed")), HOUR), /failed/);
});

Deno.test("settledWithin() ends after a while, or when aborted", async () => {
  await settledWithin(new Promise(() => {}), 1);
  await settledWithin(undefined, 1);
  await settledWithin(undefined, HOUR, AbortSignal.abort());
});

Deno.test("keepUp() works at once and again, also after a failure, and not beside itself", async () => {
  const errors: unknown[] = [];
  let [begun, running, most] = [0, 0, 0];
  {
    await using _upkeep = keepUp({
      async work() {
        begun++;
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 10));
        running--;
        if (begun === 1) throw new Error("once");
      },
      everyMs: 1,
      onError: (error) => errors.push(error),
    });
    assert.equal(begun, 1);
    await until(() => begun >= 3 || undefined);
  }
  assert.deepEqual([most, running, errors.length], [1, 0, 1]);
});
