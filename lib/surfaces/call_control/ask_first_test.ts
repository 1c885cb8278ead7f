import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import type { GatedCall } from "../call_gate.ts";
import { Approvals } from "./approvals.ts";
import { askFirst } from "./ask_first.ts";
import { gatedCall, testPort } from "./testing/gated_call.ts";

const mask = (json: string) => json.replaceAll("hunter2", "[redacted]");

function ask(call: GatedCall, { limitMs = 1_000, approvals = new Approvals({ mask }) } = {}) {
  const page = "http://127.0.0.1:1/security/approvals";
  const asked = askFirst({ approvals, mask, page, limitMs }, call);
  const outcome = asked.then(() => undefined, (error: unknown) => {
    assert.ok(error instanceof GatewayError || error instanceof DOMException);
    return error;
  });
  return { approvals, outcome };
}

const answer = (action: string, agree?: boolean) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    result: { action, ...(agree === undefined ? {} : { content: { agree } }) },
  });

Deno.test("askFirst() asks a client that offers forms, and takes nothing but a clear yes", async () => {
  for (
    const [text, code] of [
      [answer("accept", true), undefined],
      [answer("accept", false), "ACCESS_DENIED"],
      [answer("accept"), "ACCESS_DENIED"],
      [answer("decline"), "ACCESS_DENIED"],
      [answer("cancel"), "ACCESS_DENIED"],
    ] as const
  ) {
    const port = testPort({ capabilities: { elicitation: {} } });
    const { outcome, approvals } = ask(gatedCall({ port, args: '{"key":"hunter2"}' }));
    const [question] = port.asked;
    assert.match(question?.text ?? "", /Run git\.commit\?/);
    assert.ok(!question?.text.includes("hunter2"));
    assert.deepEqual(approvals.list(), []);
    question?.answer(text);
    const error = await outcome;
    assert.equal(error instanceof GatewayError ? error.code : error, code, text);
  }
});

Deno.test("askFirst() shows what would be invisible in a question, and says what is left out", async () => {
  const port = testPort({ capabilities: { elicitation: { form: {} } } });
  const call = gatedCall({
    port,
    args: JSON.stringify({ a: "\u202e\u200b", b: "x".repeat(3_000) }),
  });
  const { outcome } = ask(call);
  const text = port.asked[0]?.text ?? "";
  assert.ok(!/[\u202e\u200b]/.test(text));
  assert.match(text, /u\{202e\}/);
  assert.match(text, /\(1017 more characters are not shown\)/);
  call.leave();
  await outcome;
});

Deno.test("askFirst() gives up on a client that does not answer, and hears no later yes", async () => {
  const port = testPort({ capabilities: { elicitation: {} } });
  const { outcome } = ask(gatedCall({ port }), { limitMs: 20 });
  const error = await outcome;
  assert.ok(error instanceof GatewayError && error.code === "TIMEOUT");
  assert.match(error.message, /will not be made/);
  port.asked[0]?.answer(answer("accept", true));
});

Deno.test("askFirst() has others wait for the console, and says where that is when nobody came", async () => {
  const approvals = new Approvals({ mask, limitMs: 20 });
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const { outcome } = ask(gatedCall({ port: testPort({ capabilities }) }), { approvals });
    const error = await outcome;
    assert.ok(error instanceof GatewayError && error.code === "TIMEOUT");
    assert.match(error.details.recoverySteps?.join() ?? "", /:1\/security\/approvals/);
  }
});

Deno.test("askFirst() does not ask where somebody has said always", async () => {
  const approvals = new Approvals({ mask });
  const port = testPort();
  const first = ask(gatedCall({ port }), { approvals });
  approvals.decide(approvals.list()[0]!.id, "always");
  assert.equal(await first.outcome, undefined);
  assert.equal(await ask(gatedCall({ port }), { approvals }).outcome, undefined);
});

Deno.test("askFirst() ends with the client, whichever way it asks", async () => {
  for (const capabilities of [{}, { elicitation: {} }]) {
    const call = gatedCall({ port: testPort({ capabilities }) });
    const { outcome } = ask(call);
    call.leave();
    const error = await outcome;
    assert.ok(error instanceof DOMException && error.name === "AbortError");
  }
});
