import assert from "node:assert/strict";
import type { AuditedChange } from "../../core/audit.ts";
import { Approvals, type ApprovalsOptions } from "./approvals.ts";
import { gatedCall, testPort } from "./testing/gated_call.ts";

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
  const verdict = approvals.wait(gatedCall({ args, port: testPort({ principal: "token:a" }) }));
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
  approvals.decide(waiting.id, "approve", { principal: "token:owner", from: "127.0.0.1" });
  assert.equal(await verdict, "approved");
  assert.deepEqual(approvals.list(), []);
  assert.deepEqual(changes, ["commit", undefined]);
  assert.deepEqual(audited, [{
    principal: "token:owner",
    from: "127.0.0.1",
    action: "call.approve",
    subject: "git.commit",
    after: { for: "token:a" },
  }]);
});

Deno.test("Approvals.decide() says no, and says of a call that is over that it is", async () => {
  const approvals = open();
  const verdict = approvals.wait(gatedCall());
  const { id } = approvals.list()[0]!;
  approvals.decide(id, "deny");
  assert.equal(await verdict, "denied");
  assert.throws(() => approvals.decide(id, "approve"), { code: "NOT_FOUND" });
});

Deno.test("Approvals.wait() expires by itself, and cannot be approved then", async () => {
  const approvals = open({ limitMs: 20 });
  const verdict = approvals.wait(gatedCall());
  const { id } = approvals.list()[0]!;
  assert.equal(await verdict, "expired");
  assert.throws(() => approvals.decide(id, "approve"), { code: "NOT_FOUND" });
});

Deno.test("Approvals.wait() ends with its client, even in the moment of a yes", async () => {
  const approvals = open();
  const early = gatedCall();
  const first = approvals.wait(early);
  early.leave();
  await assert.rejects(first, { name: "AbortError" });
  assert.deepEqual(approvals.list(), []);
  const late = gatedCall();
  const second = approvals.wait(late);
  approvals.decide(approvals.list()[0]!.id, "approve");
  late.leave();
  await assert.rejects(second, { name: "AbortError" });
  await assert.rejects(approvals.wait(early), { name: "AbortError" });
});

Deno.test("Approvals.decide() with always counts for that tool as it is, in that session", async () => {
  const approvals = open();
  const port = testPort();
  const waits = [gatedCall({ port }), gatedCall({ port })].map((call) => approvals.wait(call));
  const elsewhere = gatedCall();
  const other = approvals.wait(elsewhere);
  approvals.decide(approvals.list()[0]!.id, "always");
  assert.deepEqual(await Promise.all(waits), ["approved", "approved"]);
  assert.ok(approvals.isTrusted(gatedCall({ port, args: '{"other":1}' })));
  assert.ok(!approvals.isTrusted(gatedCall({ port, name: "push" })));
  assert.ok(!approvals.isTrusted(gatedCall({ port, annotations: { title: "Changed" } })));
  assert.ok(!approvals.isTrusted(elsewhere), "another session");
  elsewhere.leave();
  await assert.rejects(other);
});

Deno.test("Approvals.wait() refuses what one client piles up", async () => {
  const approvals = open();
  const port = testPort();
  const calls = Array.from({ length: 20 }, () => gatedCall({ port }));
  const waits = calls.map((call) => approvals.wait(call));
  await assert.rejects(approvals.wait(gatedCall({ port })), { code: "LIMIT_EXCEEDED" });
  const other = gatedCall();
  const welcome = approvals.wait(other);
  assert.equal(approvals.list().length, 21);
  for (const call of [...calls, other]) call.leave();
  await Promise.allSettled([...waits, welcome]);
});

Deno.test("Approvals.wait() says how much of long arguments is not shown", async () => {
  const approvals = open();
  const call = gatedCall({ args: JSON.stringify({ text: "x".repeat(70_000) }) });
  const wait = approvals.wait(call);
  assert.equal(approvals.list()[0]!.hidden, 70_011 - 65_536);
  call.leave();
  await assert.rejects(wait);
});
