import assert from "node:assert/strict";
import { GatewayError } from "./errors.ts";
import { retryStale } from "./retry_stale.ts";

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
