import assert from "node:assert/strict";
import { type ErrorCode, GatewayError } from "../../core/errors.ts";

/** The error that a promise must end with. */
export async function failure(promise: Promise<unknown>, code: ErrorCode): Promise<GatewayError> {
  try {
    await promise;
  } catch (error) {
    assert(error instanceof GatewayError, Deno.inspect(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  throw new assert.AssertionError({ message: `Nothing failed; expected ${code}` });
}
