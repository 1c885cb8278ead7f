import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { orGatewayError } from "./or_gateway_error.ts";

const { signal } = new AbortController();
const error = new GatewayError("CANNOT_GENERATE");

Deno.test("orGatewayError() gives the value, or the error of the gateway's own", async () => {
  assert.equal(await orGatewayError(Promise.resolve(1), signal), 1);
  assert.deepEqual(await orGatewayError(Promise.reject(error), signal), { error });
});

Deno.test("orGatewayError() throws what is a mistake, and the reason of an aborted signal", async () => {
  const mistake = new TypeError("x is not a function");
  await assert.rejects(orGatewayError(Promise.reject(mistake), signal), mistake);
  const reason = new Error("stopped");
  const aborted = AbortSignal.abort(reason);
  await assert.rejects(orGatewayError(Promise.reject(error), aborted), reason);
});
