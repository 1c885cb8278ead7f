import assert from "node:assert/strict";
import { asAbortSignal, Cancellation } from "./cancellation.ts";

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
