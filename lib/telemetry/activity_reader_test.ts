import assert from "node:assert/strict";
import { CallDetails } from "./call_recorder.ts";
import { viewCall } from "./activity_reader.ts";
import { Redactor } from "./redact.ts";

const SECRET = "swordfish-123";

function view(request: string, response: string, textLength = 16_384) {
  const redactor = new Redactor();
  redactor.learn([SECRET]);
  const details = new CallDetails({ textLength });
  const call = {
    at: 0,
    endpoint: "mcp?default",
    session: "s",
    principal: "everyone",
    ms: 1,
    ok: true,
  };
  details.add({ ...call, id: "a", server: "git", tool: "status" }, { request, response });
  return viewCall(details.find("a")!, redactor);
}

Deno.test("viewCall() shows arguments and words without secrets", () => {
  const params = { name: "read", arguments: { path: `/x/${SECRET}`, password: "open sesame" } };
  const inner = JSON.stringify({ note: "fine", token: "t0k3n" });
  const result = { content: [{ type: "text", text: inner }, { type: "text", text: SECRET }] };
  const { request, response } = view(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    JSON.stringify({ jsonrpc: "2.0", id: 1, result }),
  );
  assert.match(request.text, /"path": "\/x\/\[redacted\]"/);
  assert.equal(request.arguments?.password, "[redacted]");
  assert.deepEqual(response.words, ['{"note":"fine","token":"[redacted]"}', "[redacted]"]);
  const all = JSON.stringify([request, response]);
  for (const secret of [SECRET, "open sesame", "t0k3n"]) assert.ok(!all.includes(secret), all);
});

Deno.test("viewCall() shows a secret neither where it is escaped nor where the cut divides it", () => {
  const escaped = `\\u0073${SECRET.slice(1)}`;
  const whole = view(`{"params":{"arguments":{"x":"${escaped}"}}}`, `no JSON: ${SECRET}`);
  assert.ok(!JSON.stringify(whole.request).includes(SECRET));
  assert.equal(whole.response.text, "no JSON: [redacted]");
  const long = `{"result":{"content":[{"type":"text","text":"${"y".repeat(9_900)}`;
  const { response } = view("{}", `${long}${SECRET}`, long.length + 5);
  assert.ok(response.isCut && response.text.length > 1_000);
  assert.ok(!response.text.includes(SECRET.slice(0, 5)));
});
