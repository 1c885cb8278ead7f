import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { FailedAttempts } from "./failed_attempts.ts";

function refusal(attempts: FailedAttempts, place: string): GatewayError | undefined {
  try {
    attempts.check(place);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
}

Deno.test("FailedAttempts refuses a place after five failures, says how long, and forgets", () => {
  let now = 0;
  const attempts = new FailedAttempts({ what: "logins", perPlace: 5, inAll: 50, now: () => now });
  for (let nth = 0; nth < 5; nth++) {
    assert.equal(refusal(attempts, "a"), undefined);
    attempts.failed("a");
    now += 1_000;
  }
  const refused = refusal(attempts, "a");
  assert.equal(refused?.code, "LIMIT_EXCEEDED");
  assert.equal(refused?.details.retryAfterSeconds, 55);
  assert.equal(refusal(attempts, "b"), undefined);
  now += 55_000;
  assert.equal(refusal(attempts, "a"), undefined);
});

Deno.test("FailedAttempts refuses everybody where many places fail", () => {
  const attempts = new FailedAttempts({ what: "logins", perPlace: 5, inAll: 50 });
  for (let nth = 0; nth < 50; nth++) attempts.failed(`place ${nth}`);
  assert.equal(refusal(attempts, "another")?.code, "LIMIT_EXCEEDED");
});
