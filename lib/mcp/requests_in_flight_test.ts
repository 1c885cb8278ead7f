import assert from "node:assert/strict";
import type { McpRequest } from "../core/client.ts";
import { FOLLOW_TASK } from "../core/stateless.ts";
import { RequestsInFlight } from "./requests_in_flight.ts";

function request(method: string): McpRequest {
  const { signal } = new AbortController();
  return { id: 1, method, params: {}, text: "", signal, send() {} };
}

Deno.test("RequestsInFlight takes no message for one about the following of a task", () => {
  const [call, follow, other] = ["tools/call", FOLLOW_TASK, "tools/call"].map(request);
  const requests = new RequestsInFlight();
  requests.add(follow!);
  assert.equal(requests.likeliest, undefined);
  requests.add(call!).add(follow!);
  assert.deepEqual([requests.likeliest, requests.isAmbiguous], [call, false]);
  requests.add(other!);
  assert.deepEqual([requests.likeliest, requests.isAmbiguous], [other, true]);
});
