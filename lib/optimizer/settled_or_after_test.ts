import assert from "node:assert/strict";
import { settledOrAfter } from "./settled_or_after.ts";

const HOUR = 3_600_000;

Deno.test("settledOrAfter() ends with the work, and leaves no timer", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = settledOrAfter(promise, HOUR);
  resolve();
  await waiting;
  await assert.rejects(settledOrAfter(Promise.reject(new Error("failed")), HOUR), /failed/);
});

Deno.test("settledOrAfter() ends after a while, or when aborted", async () => {
  await settledOrAfter(new Promise(() => {}), 1);
  await settledOrAfter(undefined, 1);
  await settledOrAfter(undefined, HOUR, AbortSignal.abort());
});
