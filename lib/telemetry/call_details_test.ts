import assert from "node:assert/strict";
import { CallDetails } from "./call_details.ts";

function call(id: string) {
  const call = { at: 0, door: "mcp?default", session: "s", principal: "everyone", ms: 1, ok: true };
  return { ...call, id, server: "git", tool: "status" };
}

Deno.test("CallDetails keeps the last calls, and of each text no more than its limit", () => {
  const details = new CallDetails({ most: 2, textLength: 5 });
  for (const id of ["a", "b", "c"]) {
    details.add(call(id), { request: "short", response: "too long" });
  }
  assert.equal(details.find("a"), undefined);
  assert.deepEqual(details.find("c"), {
    call: call("c"),
    request: "short",
    response: "too l",
    isRequestCut: false,
    isResponseCut: true,
  });
  assert.equal(details.size, 2);
});

Deno.test("CallDetails lets the oldest go where all together are too long", () => {
  const details = new CallDetails({ totalLength: 10 });
  details.add(call("a"), { request: "123", response: "456" });
  details.add(call("b"), { request: "123", response: "4" });
  assert.equal(details.size, 2);
  details.add(call("c"), { request: "1", response: "" });
  assert.equal(details.find("a"), undefined);
  assert.equal(details.size, 2);
});

Deno.test("CallDetails does not hold on to what its texts were cut from", () => {
  const details = new CallDetails({});
  for (let nth = 0; nth < 100; nth++) {
    const buffer = "x".repeat(2_000_000) + nth;
    details.add(call(String(nth)), { request: buffer.slice(0, 500), response: buffer });
  }
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed } = Deno.memoryUsage();
  assert.ok(heapUsed < 120_000_000, `${heapUsed} bytes for 100 calls of 2 MB`);
});

Deno.test("CallDetails.find() looks at no other calls, and finds none that was let go", () => {
  const details = new CallDetails({ most: 100 });
  let looks = 0;
  for (let nth = 0; nth < 150; nth++) {
    const kept = call("");
    const counted = Object.defineProperty(kept, "id", { get: () => (looks++, `c${nth}`) });
    details.add(counted, { request: "", response: `${nth}` });
  }
  looks = 0;
  assert.equal(details.find("c149")?.response, "149");
  assert.equal(details.find("c49"), undefined);
  assert.equal(looks, 0);
});

Deno.test("CallDetails.clear() forgets all, and goes on", () => {
  const details = new CallDetails({ most: 2 });
  for (const id of ["a", "b", "c"]) details.add(call(id), { request: "x", response: "y" });
  details.clear();
  assert.deepEqual([details.size, details.find("c")], [0, undefined]);
  details.add(call("d"), { request: "x", response: "y" });
  assert.equal(details.find("d")?.request, "x");
});
