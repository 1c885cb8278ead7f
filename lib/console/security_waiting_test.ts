import assert from "node:assert/strict";
import type { Gateway } from "../compose.ts";
import { totalWaiting, waitingCounts, type WaitingGateway } from "./security_waiting.ts";

function gatewayWith(consents: () => Promise<number>): WaitingGateway {
  return {
    review: { count: () => ({ total: 3 }) } as Gateway["review"],
    approvals: () => Promise.resolve({ list: () => [{}, {}] } as never),
    consents: () => Promise.resolve({ count: consents } as never),
  };
}

Deno.test("waitingCounts() counts what waits, by where it is decided", async () => {
  const counts = await waitingCounts(gatewayWith(() => Promise.resolve(1)));
  assert.deepEqual(counts, { review: 3, approvals: 2, consents: 1 });
  assert.equal(totalWaiting(counts), 6);
});

Deno.test("waitingCounts() shows the rest where the store cannot be read", async () => {
  const counts = await waitingCounts(gatewayWith(() => Promise.reject(new Error("broken"))));
  assert.deepEqual(counts, { review: 3, approvals: 2, consents: 0 });
});
