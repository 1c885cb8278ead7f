import assert from "node:assert/strict";
import type { AuditedChange } from "../../core/access.ts";
import { actingFor } from "../../telemetry/audit_log.ts";
import { refusedCall } from "./control.ts";
import { RefusedCalls, type RefusedCallsOptions } from "./refused_calls.ts";
import { type CallWishes, pendingCall, testClient } from "./testing/pending_call.ts";

const DAY_MS = 24 * 60 * 60_000;

const refusal = (wishes: CallWishes = {}) => refusedCall(pendingCall(wishes));

function noting(more: Partial<RefusedCallsOptions> = {}) {
  const entries: AuditedChange[] = [];
  const refused = new RefusedCalls({ onAudit: (entry) => entries.push(entry), ...more });
  return { entries, refused };
}

Deno.test("RefusedCalls.note() says who, from where, which tool and why, and not with what", () => {
  const { entries, refused } = noting();
  using _ = refused;
  const client = testClient({ principal: "token:a@web", endpoint: "servers/git?" });
  refused.note(refusal({ client, args: '{"text":"hunter2"}' }), new Error("It may change things"));
  assert.deepEqual(entries, [{
    action: "call.refuse",
    subject: "git.commit",
    principal: "token:a@web",
    from: 'MCP at /servers/git, client "test"',
    after: { reason: "It may change things" },
  }]);
});

Deno.test("RefusedCalls.note() has the place of whoever asks without an endpoint", () => {
  const { entries, refused } = noting({ windowMs: 1_000 });
  const origin = { principal: "token:a", from: () => "API, 127.0.0.1, curl/8.0" };
  const note = () => refused.note({ subject: "git.commit", principal: "token:a" }, new Error("no"));
  actingFor(origin, () => {
    for (let n = 0; n < 7; n++) note();
  });
  refused[Symbol.dispose]();
  assert.deepEqual(new Set(entries.map(({ from }) => from)), new Set([origin.from()]));
  assert.equal(entries.length, 6);
  note();
  assert.equal(entries.at(-1)?.from, "console");
  refused[Symbol.dispose]();
});

Deno.test("RefusedCalls.note() counts what is too much of one caller and tool, in one entry", async () => {
  const { entries, refused } = noting({ windowMs: 20 });
  using _ = refused;
  const [ann, bob] = [testClient({ principal: "token:a" }), testClient({ principal: "token:b" })];
  for (let n = 0; n < 1_000; n++) refused.note(refusal({ client: ann }), new Error("no"));
  refused.note(refusal({ client: testClient({ principal: "token:a@web" }) }), new Error("no"));
  assert.equal(entries.length, 5);
  refused.note(refusal({ client: ann, name: "push" }), new Error("no"));
  refused.note(refusal({ client: bob }), new Error("no"));
  assert.equal(entries.length, 7, "others are not silenced by it");
  for (let wait = 0; wait < 6_000 && entries.length < 8; wait++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(entries[7]?.after, { reason: "no", more: 996 });
  assert.equal(entries.length, 8);
});

Deno.test("RefusedCalls tells of what was counted when it ends", () => {
  const { entries, refused } = noting();
  for (let n = 0; n < 8; n++) refused.note(refusal(), new Error("no"));
  refused[Symbol.dispose]();
  assert.deepEqual(entries.at(-1)?.after, { reason: "no", more: 3 });
});

Deno.test("RefusedCalls.note() stops at a number a day for each caller, and says so", () => {
  let now = DAY_MS;
  const { entries, refused } = noting({ now: () => now });
  using _ = refused;
  const call = (tool: number, principal = "token:a") =>
    refusal({ client: testClient({ principal }), name: `tool${tool}` });
  for (let n = 0; n < 1_000; n++) refused.note(call(n), new Error("no"));
  assert.equal(entries.length, 200);
  assert.match(JSON.stringify(entries.at(-1)), /further ones are not logged/);
  refused.note({ ...call(2_000), isRequest: true }, new Error("no"));
  assert.equal(entries.pop()?.subject, call(2_000).subject, "requests are counted apart");
  refused.note(call(1, "token:b"), new Error("no"));
  assert.equal(entries.length, 201);
  now += DAY_MS;
  refused.note(call(1_001), new Error("no"));
  assert.equal(entries.length, 202);
});
