import assert from "node:assert/strict";
import { retryLocked } from "./storage_errors.ts";

function failing(times: number, message: string) {
  let calls = 0;
  return {
    calls: () => calls,
    run: () => ++calls <= times ? Promise.reject(new TypeError(message)) : Promise.resolve("done"),
  };
}

Deno.test("retryLocked() repeats while the database is locked", async () => {
  const operation = failing(6, "database is locked");
  assert.equal(await retryLocked(operation.run), "done");
  assert.equal(operation.calls(), 7);
});

Deno.test("retryLocked() gives up after its limit", async () => {
  const operation = failing(Infinity, "database is locked");
  await assert.rejects(retryLocked(operation.run, { limitMs: 50 }), /locked/);
  assert(operation.calls() > 2);
});

Deno.test("retryLocked() repeats nothing else", async () => {
  const operation = failing(1, "database or disk is full");
  await assert.rejects(retryLocked(operation.run), /full/);
  assert.equal(operation.calls(), 1);
});
