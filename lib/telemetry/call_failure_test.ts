import assert from "node:assert/strict";
import { failureOf } from "./call_failure.ts";

const same = (text: string) => text;

Deno.test("failureOf() has the code of our own errors, and the first words of others", () => {
  const text = (value: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...value });
  const ours = { isError: true, structuredContent: { errorType: "TIMEOUT" }, content: [] };
  assert.equal(failureOf(text({ result: ours }), same), "TIMEOUT");
  const error = { code: -32602, message: "No", data: { errorType: "TOOL_NOT_FOUND" } };
  assert.equal(failureOf(text({ error }), same), "TOOL_NOT_FOUND");
  assert.equal(failureOf(text({ error: { code: 1, message: "It  broke\n" } }), same), "It broke");
  const content = [{ type: "text", text: `Not found: ${"x".repeat(500)}` }];
  const words = failureOf(text({ result: { isError: true, content } }), same);
  assert.match(words ?? "", /^Not found: x+…$/);
  assert.equal(words?.length, 160);
  assert.equal(failureOf(text({ result: { isError: true } }), same), undefined);
  assert.equal(failureOf("{", same), undefined);
});

Deno.test("failureOf() takes secrets out before it cuts, wherever the cut would be", () => {
  const redact = (text: string) => text.replaceAll("swordfish", "[redacted]");
  for (const before of [150, 155, 1_990, 65_530]) {
    // What is cut off counts as well: spaces become one, and a long secret becomes short.
    const message = `${before < 200 ? "x".repeat(before) : " ".repeat(before)}swordfish${
      " more".repeat(40)
    }`;
    const words = failureOf(JSON.stringify({ error: { message } }), redact) ?? "";
    assert.ok(!words.includes("sw"), `after ${before}: ${words}`);
  }
  const error = { message: "No", data: { errorType: "OPEN_SESAME" } };
  assert.equal(failureOf(JSON.stringify({ error }), () => "[redacted]"), "[redacted]");
});
