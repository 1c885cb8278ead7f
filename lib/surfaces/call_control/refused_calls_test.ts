import assert from "node:assert/strict";
import type { AuditedChange } from "../../core/audit.ts";
import { RefusedCalls, type RefusedCallsOptions } from "./refused_calls.ts";
import { gatedCall, testPort } from "./testing/gated_call.ts";

const DAY_MS = 24 * 60 * 60_000;

function noting(more: Partial<RefusedCallsOptions> = {}) {
  const entries: AuditedChange[] = [];
  const refused = new RefusedCalls({ onAudit: (entry) => entries.push(entry), ...more });
  return { entries, refused };
}

Deno.test("RefusedCalls.note() says who, from where, which tool and why, and not with what", () => {
  const { entries, refused } = noting();
  using _ = refused;
  const port = testPort({ principal: "token:a@web", door: "servers/git?" });
  refused.note(gatedCall({ port, args: '{"text":"hunter2"}' }), new Error("It may change things"));
  assert.deepEqual(entries, [{
    action: "call.refuse",
    subject: "git.commit",
    principal: "token:a@web",
    from: "MCP at /servers/git, test",
    after: { reason: "It may change things" },
  }]);
});

Deno.test("RefusedCalls.note() counts what is too much of one caller and tool, in one entry", async () => {
  const { entries, refused } = noting({ windowMs: 20 });
  using _ = refused;
  const [ann, bob] = [testPort({ principal: "token:a" }), testPort({ principal: "token:b" })];
  for (let n = 0; n < 1_000; n++) refused.note(gatedCall({ port: ann }), new Error("no"));
  refused.note(gatedCall({ port: testPort({ principal: "token:a@web" }) }), new Error("no"));
  assert.equal(entries.length, 5);
  refused.note(gatedCall({ port: ann, name: "push" }), new Error("no"));
  refused.note(gatedCall({ port: bob }), new Error("no"));
  assert.equal(entries.length, 7, "others are not silenced by it");
  for (let wait = 0; wait < 100 && entries.length < 8; wait++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(entries[7]?.after, { reason: "no", more: 996 });
  assert.equal(entries.length, 8);
});

Deno.test("RefusedCalls tells of what was counted when it ends", () => {
  const { entries, refused } = noting();
  for (let n = 0; n < 8; n++) refused.note(gatedCall(), new Error("no"));
  refused[Symbol.dispose]();
  assert.deepEqual(entries.at(-1)?.after, { reason: "no", more: 3 });
});

Deno.test("RefusedCalls.note() stops at a number a day for each caller, and says so", () => {
  let now = DAY_MS;
  const { entries, refused } = noting({ now: () => now });
  using _ = refused;
  const call = (tool: number, principal = "token:a") =>
    gatedCall({ port: testPort({ principal }), name: `tool${tool}` });
  for (let n = 0; n < 1_000; n++) refused.note(call(n), new Error("no"));
  assert.equal(entries.length, 200);
  assert.match(JSON.stringify(entries.at(-1)), /those that follow are not noted/);
  refused.note(call(1, "token:b"), new Error("no"));
  assert.equal(entries.length, 201);
  now += DAY_MS;
  refused.note(call(1_001), new Error("no"));
  assert.equal(entries.length, 202);
});
