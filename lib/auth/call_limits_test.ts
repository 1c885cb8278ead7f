import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { type Bound, CallLimits } from "./call_limits.ts";

function refusal(limits: CallLimits, ...bounds: Bound[]): GatewayError | undefined {
  try {
    limits.begin({}, bounds);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "LIMIT_EXCEEDED");
    return error;
  }
}

const bound = (more: Partial<Bound>): Bound => ({ key: "a", whose: "This token", ...more });

Deno.test("CallLimits.begin() lets no more through within any minute, and says how long to wait", () => {
  let now = 500;
  const limits = new CallLimits(() => now);
  const three = bound({ perMinute: 3 });
  assert.equal(refusal(limits, three), undefined);
  now += 30_000;
  assert.equal(refusal(limits, three), undefined);
  assert.equal(refusal(limits, three), undefined);
  const refused = refusal(limits, three);
  assert.equal(refused?.details.retryAfterSeconds, 31);
  assert.match(
    refused?.message ?? "",
    /^This token is limited to 3 per minute: try again in 31 s$/,
  );
  assert.equal(refusal(limits, bound({ key: "b", perMinute: 3 })), undefined);
  now += 29_999;
  assert.ok(refusal(limits, three), "within a minute of the first");
  now += 1_001;
  assert.equal(refusal(limits, three), undefined);
  assert.ok(refusal(limits, three), "the two of half a minute ago still count");
  now += 3_600_000;
  assert.equal(refusal(limits, three), undefined);
});

Deno.test("CallLimits.begin() bounds what is under way until it ends, however often that is said", () => {
  const limits = new CallLimits(() => 0);
  const two = bound({ concurrent: 2 });
  const first = {};
  limits.begin(first, [two]);
  limits.begin({}, [two]);
  assert.match(refusal(limits, two)?.message ?? "", /2 concurrent calls/);
  limits.end(first);
  limits.end(first);
  assert.equal(refusal(limits, two), undefined);
  assert.ok(refusal(limits, two));
});

Deno.test("CallLimits.begin() counts by no bound where one of them refuses", () => {
  const limits = new CallLimits(() => 0);
  const server = bound({ key: "server", perMinute: 1 });
  const token = bound({ key: "token", perMinute: 5, concurrent: 1 });
  assert.equal(refusal(limits, server), undefined);
  for (let nth = 0; nth < 10; nth++) assert.ok(refusal(limits, token, server));
  assert.equal(refusal(limits, token), undefined, "nothing of the refused ones was counted");
});

Deno.test("CallLimits keeps no counts of those who have stopped calling", () => {
  let now = 0;
  const limits = new CallLimits(() => now);
  for (let nth = 0; nth < 2_000; nth++) refusal(limits, bound({ key: `${nth}`, perMinute: 1 }));
  assert.ok(refusal(limits, bound({ key: "7", perMinute: 1 })));
  now += 120_000;
  assert.equal(refusal(limits, bound({ key: "7", perMinute: 1 })), undefined);
  refusal(limits, bound({ key: "another", perMinute: 1 }));
  assert.equal(limits.size, 2);
});
