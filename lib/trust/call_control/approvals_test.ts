import assert from "node:assert/strict";
import type { AuditedChange } from "../../core/access.ts";
import { actingFor, currentOrigin } from "../../telemetry/audit_log.ts";
import { until } from "../../servers/testing/fake_server.ts";
import { canElicit, elicitConsent } from "../../mcp/client_questions.ts";
import { STATELESS_VERSION } from "../../core/client.ts";
import { Sessions } from "../../mcp/session.ts";
import { statelessSession } from "../../mcp/stateless_session.ts";
import { Approvals, type ApprovalsOptions, askFirst, type AskFirstOptions } from "./approvals.ts";
import { pendingCall, testClient } from "./testing/pending_call.ts";
import { GatewayError } from "../../core/errors.ts";
import type { PendingCall, WaitingCall } from "./control.ts";
import { twoMailboxes } from "../../storage/testing/two_mailboxes.ts";

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
  const [waiting, ...others] = approvals.own;
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
  await approvals.decide(waiting.id, "approve");
  assert.equal(await verdict, "approved");
  assert.deepEqual(approvals.own, []);
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
  const { id } = approvals.own[0]!;
  await approvals.decide(id, "deny");
  assert.equal(await verdict, "denied");
  await assert.rejects(approvals.decide(id, "approve"), { code: "NOT_FOUND" });
});

Deno.test("Approvals.wait() expires by itself, and cannot be approved then", async () => {
  const approvals = open({ limitMs: 20 });
  const verdict = approvals.wait(pendingCall());
  const { id } = approvals.own[0]!;
  assert.equal(await verdict, "expired");
  await assert.rejects(approvals.decide(id, "approve"), { code: "NOT_FOUND" });
});

Deno.test("Approvals.wait() ends with its client, even in the moment of a yes", async () => {
  const approvals = open();
  const early = pendingCall();
  const first = approvals.wait(early);
  early.leave();
  await assert.rejects(first, { name: "AbortError" });
  assert.deepEqual(approvals.own, []);
  const late = pendingCall();
  const second = approvals.wait(late);
  const [{ id } = { id: "" }] = await approvals.list();
  const decided = approvals.decide(id, "approve");
  late.leave();
  await assert.rejects(second, { name: "AbortError" });
  await decided;
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
  await approvals.decide(approvals.own[0]!.id, "always");
  assert.deepEqual(await Promise.all(waits), ["approved", "approved"]);
  assert.ok(approvals.isTrusted(pendingCall({ client, args: '{"other":1}' })));
  assert.ok(!approvals.isTrusted(pendingCall({ client, name: "push" })));
  assert.ok(!approvals.isTrusted(pendingCall({ client, annotations: { title: "Changed" } })));
  assert.ok(!approvals.isTrusted(elsewhere), "another session");
  elsewhere.leave();
  await assert.rejects(other);
});

const never = () => Promise.reject(new Error("Nobody asks"));

const ADMIN = { principal: "token:admin", from: () => "the console" };

/** Approvals at two gateways on one store. */
async function twoApprovals() {
  await using stack = new AsyncDisposableStack();
  const mailboxes = stack.use(await twoMailboxes());
  const audited: string[] = [];
  const [here, there] = [mailboxes.here, mailboxes.there].map((mailbox) => {
    const onAudit = ({ action }: AuditedChange) => {
      const { principal, from } = currentOrigin() ?? { from: () => "nowhere" };
      audited.push(`${mailbox.id} ${action} ${principal} ${from()}`);
    };
    const approvals = open({ mailbox, onAudit });
    mailbox.handle("approvals", (body) => Promise.resolve(approvals.take(body)));
    return approvals;
  }) as [Approvals, Approvals];
  const opened = stack.move();
  return {
    ...{ here, there, audited, mailboxes, end: mailboxes.end },
    /** Waits until one gateway shows so many calls. */
    async shows(approvals: Approvals, count: number): Promise<WaitingCall[]> {
      let calls = await approvals.list();
      for (const over = Date.now() + 10_000; calls.length !== count;) {
        assert.ok(Date.now() < over, `${calls.length} calls are shown`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        calls = await approvals.list();
      }
      return calls;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

Deno.test("Approvals.decide() decides about a call that waits at another gateway, which notes who did", async () => {
  await using gateways = await twoApprovals();
  const { here, there, audited, shows } = gateways;
  for (const [decision, verdict] of [["approve", "approved"], ["deny", "denied"]] as const) {
    const outcome = here.wait(pendingCall({ args: '{"key":"hunter2"}' }));
    const [shown] = await shows(there, 1);
    assert.equal(shown?.arguments, '{"key":"[redacted]"}');
    const decided = actingFor(ADMIN, () => there.decide(shown.id, decision));
    assert.equal((await decided).tool, "commit");
    assert.equal(await outcome, verdict);
    await shows(there, 0);
    await assert.rejects(there.decide(shown.id, decision), { code: "NOT_FOUND" });
  }
  assert.deepEqual(audited, [
    "here call.approve token:admin the console",
    "here call.deny token:admin the console",
  ]);
});

Deno.test("Approvals.decide() says where it cannot know the outcome, which is noted all the same", async () => {
  await using gateways = await twoApprovals();
  const { here, there, audited, mailboxes, shows } = gateways;
  const outcome = here.wait(pendingCall());
  const [shown] = await shows(there, 1);
  const slow = Promise.withResolvers<void>();
  mailboxes.here.handle("approvals", async (body) => {
    await slow.promise;
    return here.take(body);
  });
  const decided = actingFor(ADMIN, () => there.decide(shown!.id, "approve"));
  await assert.rejects(decided, { code: "TIMEOUT", message: /whether the decision took effect/ });
  assert.equal((await there.list()).length, 1, "it may wait on");
  slow.resolve();
  assert.equal(await outcome, "approved");
  assert.deepEqual(audited, ["here call.approve token:admin the console"]);
  await shows(there, 0);
});

Deno.test("Approvals.decide() with always counts at all gateways, also at those that come later", async () => {
  await using gateways = await twoApprovals();
  const { here, there, shows } = gateways;
  const client = testClient();
  const waits = [here, there].map((approvals) => approvals.wait(pendingCall({ client })));
  const [first] = await shows(there, 2);
  await there.decide(first!.id, "always");
  assert.deepEqual(await Promise.all(waits), ["approved", "approved"]);
  for (const approvals of [here, there]) {
    assert.ok(approvals.isTrusted(pendingCall({ client })));
    assert.ok(!approvals.isTrusted(pendingCall()), "another session");
    assert.ok(!approvals.isTrusted(pendingCall({ client, name: "push" })));
  }
});

Deno.test("Approvals.forget() ends what is approved for a session without an id, and for no other", async () => {
  await using gateways = await twoApprovals();
  const { here, there } = gateways;
  const clientInfo = { name: "agent", version: "1" };
  await using sessions = new Sessions({
    records: { save: never, find: never, delete: never },
    onWarning: (warning) => assert.fail(warning),
  });
  const view = {
    introduce: never,
    open: () => ({
      request: never,
      notify() {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
  const [client, other] = ["one", "other"].map((identity) =>
    statelessSession({ sessions }, {
      endpoint: "mcp",
      principal: "token:a",
      profile: { protocolVersion: STATELESS_VERSION, capabilities: {}, clientInfo },
      identity,
      from: () => "stdio",
    }, view)
  );
  assert.ok(client && other);
  const outcome = here.wait(pendingCall({ client }));
  await here.decide(here.own[0]!.id, "always");
  assert.equal(await outcome, "approved");
  await until(() => there.isTrusted(pendingCall({ client })));
  for (const approvals of [here, there]) {
    assert.ok(
      !approvals.isTrusted(pendingCall({ client: other })),
      "it introduces itself otherwise",
    );
  }
  here.forget(other);
  assert.ok(here.isTrusted(pendingCall({ client })));
  here.forget(client);
  assert.ok(!here.isTrusted(pendingCall({ client })));
  await until(() => !there.isTrusted(pendingCall({ client })));
});

Deno.test("Approvals.list() leaves out what waited at a gateway that has ended", async () => {
  await using gateways = await twoApprovals();
  const { here, there, end, shows } = gateways;
  const call = pendingCall();
  const outcome = here.wait(call);
  const [shown] = await shows(there, 1);
  end("here");
  await assert.rejects(there.decide(shown!.id, "approve"), { code: "NOT_FOUND" });
  assert.deepEqual(await there.list(), []);
  call.leave();
  await assert.rejects(outcome);
});

Deno.test("Approvals.list() shows what is known while the store is away", async () => {
  await using gateways = await twoApprovals();
  const { here, there, mailboxes, shows } = gateways;
  const calls = [pendingCall(), pendingCall()];
  const outcomes = [here.wait(calls[0]!), there.wait(calls[1]!)];
  await shows(there, 2);
  mailboxes.there.peers = () => Promise.reject(new Error("The store is away"));
  assert.equal((await there.list()).length, 2);
  for (const call of calls) call.leave();
  await Promise.allSettled(outcomes);
});

Deno.test("Approvals.join() learns what waits elsewhere, and who is trusted there", async () => {
  await using mailboxes = await twoMailboxes();
  const here = open({ mailbox: mailboxes.here });
  mailboxes.here.handle("approvals", (body) => Promise.resolve(here.take(body)));
  const client = testClient();
  const trusting = here.wait(pendingCall({ client }));
  await here.decide(here.own[0]!.id, "always");
  assert.equal(await trusting, "approved");
  const call = pendingCall({ name: "push" });
  const outcome = here.wait(call);
  const there = open({ mailbox: mailboxes.there });
  await there.join();
  assert.deepEqual((await there.list()).map(({ tool }) => tool), ["push"]);
  assert.ok(there.isTrusted(pendingCall({ client })));
  call.leave();
  await assert.rejects(outcome);
});

Deno.test("Approvals.join() makes no trust last longer, and brings none back that has expired", async () => {
  await using mailboxes = await twoMailboxes();
  const here = open({ mailbox: mailboxes.here });
  mailboxes.here.handle("approvals", (body) => Promise.resolve(here.take(body)));
  const client = testClient();
  const outcome = here.wait(pendingCall({ client }));
  await here.decide(here.own[0]!.id, "always");
  assert.equal(await outcome, "approved");
  const there = open({ mailbox: mailboxes.there });
  const { now } = Date;
  using _real = { [Symbol.dispose]: () => void (Date.now = now) };
  Date.now = () => now() + 23 * 3_600_000;
  await there.join();
  assert.ok(there.isTrusted(pendingCall({ client })));
  Date.now = () => now() + 25 * 3_600_000;
  assert.ok(!there.isTrusted(pendingCall({ client })));
  await there.join();
  assert.ok(!there.isTrusted(pendingCall({ client })));
  assert.deepEqual(JSON.parse(here.take('{"about":"who waits"}')).trusted, []);
});

Deno.test("Approvals.wait() refuses what one client piles up", async () => {
  const approvals = open();
  const client = testClient();
  const calls = Array.from({ length: 20 }, () => pendingCall({ client }));
  const waits = calls.map((call) => approvals.wait(call));
  await assert.rejects(approvals.wait(pendingCall({ client })), { code: "LIMIT_EXCEEDED" });
  const other = pendingCall();
  const welcome = approvals.wait(other);
  assert.equal(approvals.own.length, 21);
  for (const call of [...calls, other]) call.leave();
  await Promise.allSettled([...waits, welcome]);
});

Deno.test("Approvals.wait() says how much of long arguments is not shown", async () => {
  const approvals = open();
  const call = pendingCall({ args: JSON.stringify({ text: "x".repeat(70_000) }) });
  const wait = approvals.wait(call);
  assert.equal(approvals.own[0]!.hidden, 70_011 - 65_536);
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
    assert.deepEqual(approvals.own, []);
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
  await until(() => approvals.own.length === 1);
  await approvals.decide(approvals.own[0]!.id, "always");
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
