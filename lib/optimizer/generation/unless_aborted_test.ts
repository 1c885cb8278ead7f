import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { unlessAborted } from "./unless_aborted.ts";

const { signal } = new AbortController();
const error = new GatewayError("CANNOT_GENERATE");

Deno.test("unlessAborted() gives the value, or the error of the gateway's own", async () => {
  assert.equal(await unlessAborted(Promise.resolve(1), signal), 1);
  assert.deepEqual(await unlessAborted(Promise.reject(error), signal), { error });
});

Deno.test("unlessAborted() throws what is a mistake, and the reason of an aborted signal", async () => {
  const mistake = new TypeError("x is not a function");
  await assert.rejects(unlessAborted(Promise.reject(mistake), signal), mistake);
  const reason = new Error("stopped");
  const aborted = AbortSignal.abort(reason);
  await assert.rejects(unlessAborted(Promise.reject(error), aborted), reason);
});
