import assert from "node:assert/strict";
import { failureOf } from "./call_failure.ts";

Deno.test("failureOf() has the code of our own errors, and the first words of others", () => {
  const text = (value: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...value });
  const ours = { isError: true, structuredContent: { errorType: "TIMEOUT" }, content: [] };
  assert.equal(failureOf(text({ result: ours })), "TIMEOUT");
  const error = { code: -32602, message: "No", data: { errorType: "TOOL_NOT_FOUND" } };
  assert.equal(failureOf(text({ error })), "TOOL_NOT_FOUND");
  assert.equal(failureOf(text({ error: { code: 1, message: "It  broke\n" } })), "It broke");
  const content = [{ type: "text", text: `Not found: ${"x".repeat(500)}` }];
  const words = failureOf(text({ result: { isError: true, content } }));
  assert.match(words ?? "", /^Not found: x+…$/);
  assert.equal(words?.length, 160);
  assert.equal(failureOf(text({ result: { isError: true } })), undefined);
  assert.equal(failureOf("{"), undefined);
});
