import assert from "node:assert/strict";
import type { AuditedChange } from "../../core/access.ts";
import { until } from "../../servers/testing/fake_server.ts";
import { canElicit, elicitConsent } from "../../mcp/client_questions.ts";
import { Approvals, type ApprovalsOptions, askFirst, type AskFirstOptions } from "./approvals.ts";
import { pendingCall, testClient } from "./testing/pending_call.ts";
import { GatewayError } from "../../core/errors.ts";
import type { PendingCall } from "./control.ts";

const open = (more: Partial<ApprovalsOptions> = {}) =>
  new Approvals({ mask: (json) => json.replaceAll("hunter2", "[redacted]"), ...more });

Deno.test("Approvals.wait() shows who wants what, without secrets, and ends with the answer", async () => {
  const audited: AuditedChange[] = [];
  const changes: (string | undefined)[] = [];
  const approvals = open({
    onAudit: (entry) => audited.push(entry),
    onChange: (added) => changes.push(added?.tool),
  });
  // The digits and the repeated member are what the server would get.
  const args = '{"key":"hunter2","n":12345678901234567890,"n":1}';
  const verdict = approvals.wait(
    pendingCall({ args, client: testClient({ principal: "token:a" }) }),
  );
  const [waiting, ...others] = approvals.list();
  assert.deepEqual(others, []);
  assert.ok(waiting);
  const { server, tool, principal, client, arguments: shown, hidden } = waiting;
  assert.deepEqual({ server, tool, principal, client, shown, hidden }, {
    server: "git",
    tool: "commit",
    principal: "token:a",
    client: "test",
    shown: '{"key":"[redacted]","n":12345678901234567890,"n":1}',
    hidden: 0,
  });
  approvals.decide(waiting.id, "approve");
  assert.equal(await verdict, "approved");
  assert.deepEqual(approvals.list(), []);
  assert.deepEqual(changes, ["commit", undefined]);
  assert.deepEqual(audited, [{
    action: "call.approve",
    subject: "git.commit",
    after: { for: "token:a" },
  }]);
});

Deno.test("Approvals.decide() says no, and says of a call that is over that it is", async () => {
  const approvals = open();
  const verdict = approvals.wait(pendingCall());
  const { id } = approvals.list()[0]!;
  approvals.decide(id, "deny");
  assert.equal(await verdict, "denied");
  assert.throws(() => approvals.decide(id, "approve"), { code: "NOT_FOUND" });
});

Deno.test("Approvals.wait() expires by itself, and cannot be approved then", async () => {
  const approvals = open({ limitMs: 20 });
  const verdict = approvals.wait(pendingCall());
  const { id } = approvals.list()[0]!;
  assert.equal(await verdict, "expired");
  assert.throws(() => approvals.decide(id, "approve"), { code: "NOT_FOUND" });
});

Deno.test("Approvals.wait() ends with its client, even in the moment of a yes", async () => {
  const approvals = open();
  const early = pendingCall();
  const first = approvals.wait(early);
  early.leave();
  await assert.rejects(first, { name: "AbortError" });
  assert.deepEqual(approvals.list(), []);
  const late = pendingCall();
  const second = approvals.wait(late);
  approvals.decide(approvals.list()[0]!.id, "approve");
  late.leave();
  await assert.rejects(second, { name: "AbortError" });
  await assert.rejects(approvals.wait(early), { name: "AbortError" });
});

Deno.test("Approvals.decide() with always counts for that tool as it is, in that session", async () => {
  const approvals = open();
  const client = testClient();
  const waits = [pendingCall({ client }), pendingCall({ client })].map((call) =>
    approvals.wait(call)
  );
  const elsewhere = pendingCall();
  const other = approvals.wait(elsewhere);
  approvals.decide(approvals.list()[0]!.id, "always");
  assert.deepEqual(await Promise.all(waits), ["approved", "approved"]);
  assert.ok(approvals.isTrusted(pendingCall({ client, args: '{"other":1}' })));
  assert.ok(!approvals.isTrusted(pendingCall({ client, name: "push" })));
  assert.ok(!approvals.isTrusted(pendingCall({ client, annotations: { title: "Changed" } })));
  assert.ok(!approvals.isTrusted(elsewhere), "another session");
  elsewhere.leave();
  await assert.rejects(other);
});

Deno.test("Approvals.wait() refuses what one client piles up", async () => {
  const approvals = open();
  const client = testClient();
  const calls = Array.from({ length: 20 }, () => pendingCall({ client }));
  const waits = calls.map((call) => approvals.wait(call));
  await assert.rejects(approvals.wait(pendingCall({ client })), { code: "LIMIT_EXCEEDED" });
  const other = pendingCall();
  const welcome = approvals.wait(other);
  assert.equal(approvals.list().length, 21);
  for (const call of [...calls, other]) call.leave();
  await Promise.allSettled([...waits, welcome]);
});

Deno.test("Approvals.wait() says how much of long arguments is not shown", async () => {
  const approvals = open();
  const call = pendingCall({ args: JSON.stringify({ text: "x".repeat(70_000) }) });
  const wait = approvals.wait(call);
  assert.equal(approvals.list()[0]!.hidden, 70_011 - 65_536);
  call.leave();
  await assert.rejects(wait);
});

const elicit: AskFirstOptions["elicit"] = ({ request, client }, question, limitMs) =>
  canElicit(client)
    ? elicitConsent(request, client, question, limitMs)
    : Promise.resolve(undefined);

const mask = (json: string) => json.replaceAll("hunter2", "[redacted]");

function ask(call: PendingCall, { limitMs = 1_000, approvals = new Approvals({ mask }) } = {}) {
  const page = "http://127.0.0.1:1/security/approvals";
  const asked = askFirst({ approvals, mask, page, limitMs, elicit }, call);
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
    const client = testClient({ capabilities: { elicitation: {} } });
    const { outcome, approvals } = ask(pendingCall({ client, args: '{"key":"hunter2"}' }));
    const [question] = client.asked;
    assert.match(question?.text ?? "", /Run git\.commit\?/);
    assert.ok(!question?.text.includes("hunter2"));
    assert.deepEqual(approvals.list(), []);
    question?.answer(text);
    const error = await outcome;
    assert.equal(error instanceof GatewayError ? error.code : error, code, text);
  }
});

Deno.test("askFirst() shows what would be invisible in a question, and says what is left out", async () => {
  const client = testClient({ capabilities: { elicitation: { form: {} } } });
  const call = pendingCall({
    client,
    args: JSON.stringify({ a: "\u202e\u200b", b: "x".repeat(3_000) }),
  });
  const { outcome } = ask(call);
  const text = client.asked[0]?.text ?? "";
  assert.ok(!/[\u202e\u200b]/.test(text));
  assert.match(text, /u\{202e\}/);
  assert.match(text, /\(1017 more characters not shown\)/);
  call.leave();
  await outcome;
});

Deno.test("askFirst() gives up on a client that does not answer, and hears no later yes", async () => {
  const client = testClient({ capabilities: { elicitation: {} } });
  const { outcome } = ask(pendingCall({ client }), { limitMs: 20 });
  const error = await outcome;
  assert.ok(error instanceof GatewayError && error.code === "TIMEOUT");
  assert.match(error.message, /nobody approved this call/);
  client.asked[0]?.answer(answer("accept", true));
});

Deno.test("askFirst() has others wait for the console, and says where that is when nobody came", async () => {
  const approvals = new Approvals({ mask, limitMs: 20 });
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const { outcome } = ask(pendingCall({ client: testClient({ capabilities }) }), { approvals });
    const error = await outcome;
    assert.ok(error instanceof GatewayError && error.code === "TIMEOUT");
    assert.match(error.details.recoverySteps?.join() ?? "", /:1\/security\/approvals/);
  }
});

Deno.test("askFirst() does not ask where somebody has said always", async () => {
  const approvals = new Approvals({ mask });
  const client = testClient();
  const first = ask(pendingCall({ client }), { approvals });
  await until(() => approvals.list().length === 1);
  approvals.decide(approvals.list()[0]!.id, "always");
  assert.equal(await first.outcome, undefined);
  assert.equal(await ask(pendingCall({ client }), { approvals }).outcome, undefined);
});

Deno.test("askFirst() ends with the client, whichever way it asks", async () => {
  for (const capabilities of [{}, { elicitation: {} }]) {
    const call = pendingCall({ client: testClient({ capabilities }) });
    const { outcome } = ask(call);
    call.leave();
    const error = await outcome;
    assert.ok(error instanceof DOMException && error.name === "AbortError");
  }
});
