import assert from "node:assert/strict";
import { openAudit } from "../../../../../lib/telemetry/audit.ts";
import { Store } from "../../../../../lib/storage/store.ts";
import { actingFor } from "../../../../../lib/telemetry/audit_log.ts";
import { Redactor } from "../../../../../lib/telemetry/redact.ts";
import { actionTitle, AUDIT_ACTIONS, auditDifferences, auditPage } from "./model.ts";

type Setting = Parameters<typeof auditPage>[0];

async function withAudit(work: (gateway: Setting) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const audit = openAudit({
    stack,
    store,
    redactor: new Redactor(),
    nameOf: (principal) => principal === "token:1" ? "ci" : principal,
    onWarning: (message) => assert.fail(message),
  });
  await work({ audit });
}

const query = (text: string) => new URLSearchParams(text);

Deno.test("auditPage() shows who, from where and what, newest first and filtered", () =>
  withAudit(async ({ audit }) => {
    const origin = { principal: "token:1", from: () => "API, 10.0.0.7" };
    actingFor(origin, () => audit.note({ action: "server.add", subject: "git", after: { a: 1 } }));
    audit.note({ action: "toolset.save", subject: "work" });
    const { rows } = await auditPage({ audit }, query(""));
    assert.deepEqual(rows.map(({ action, who, from }) => [action, who, from]), [
      ["toolset.save", "gateway", "gateway"],
      ["server.add", "ci", "API, 10.0.0.7"],
    ]);
    assert.deepEqual(rows[1]!.changes.rows, [{ path: "a", after: "1" }]);
    const found = await auditPage({ audit }, query("who=ci&action=server&check=1"));
    assert.equal(found.rows.length, 1);
    assert.deepEqual(found.query, { who: "ci", action: "server" });
    assert.deepEqual(found.check?.problems, []);
  }));

Deno.test("auditPage() says what is wrong with a date, and shows everything", () =>
  withAudit(async ({ audit }) => {
    audit.note({ action: "server.add", subject: "git" });
    const page = await auditPage({ audit }, query("since=soon"));
    assert.equal(page.rows.length, 1);
    assert.match(page.error?.message ?? "", /"soon" as a date/);
  }));

Deno.test("auditPage() leads to older entries, each shown once", () =>
  withAudit(async ({ audit }) => {
    for (let n = 0; n < 60; n++) audit.note({ action: "server.add", subject: `s${n}` });
    const first = await auditPage({ audit }, query(""));
    assert.deepEqual([first.rows.length, first.hasOlder, first.isOlder], [50, true, false]);
    const before = first.rows.at(-1)!.id;
    const second = await auditPage({ audit }, query(`before=${before}`));
    assert.deepEqual([second.rows.length, second.hasOlder, second.isOlder], [10, false, true]);
    const subjects = [...first.rows, ...second.rows].map(({ subject }) => subject);
    assert.equal(new Set(subjects).size, 60);
  }));

Deno.test("openAudit() believes the request, and whoever acts for another of the place", () =>
  withAudit(async ({ audit }) => {
    const origin = { principal: "everyone", from: () => "console, 127.0.0.1" };
    actingFor(origin, () => {
      audit.note({ action: "a.same", subject: "", principal: "everyone", from: "127.0.0.1" });
      audit.note({ action: "b.other", subject: "", principal: "token:1" });
      audit.note({ action: "c.job", subject: "", principal: "gateway", from: "a job" });
    });
    const { rows } = await auditPage({ audit }, query(""));
    assert.deepEqual(rows.map(({ principal, from }) => [principal, from]), [
      ["gateway", "a job"],
      ["token:1", "console, 127.0.0.1"],
      ["everyone", "console, 127.0.0.1"],
    ]);
  }));

const text = (value: unknown) => JSON.stringify(value);

Deno.test("auditDifferences() shows only what differs, by its place", () => {
  const before = text({ type: "stdio", args: ["a", "b"], env: { A: "***" }, timeoutMs: 5 });
  const after = text({ type: "stdio", args: ["a", "c", "b"], env: { B: "***" }, timeoutMs: 6 });
  assert.deepEqual(auditDifferences(before, after), {
    rows: [
      { path: "args", after: "c" },
      { path: "env.A", before: "***" },
      { path: "timeoutMs", before: "5", after: "6" },
      { path: "env.B", after: "***" },
    ],
    more: 0,
  });
});

Deno.test("auditDifferences() shows longer texts by word", () => {
  const [before, after] = ["one", "two"].map((word) => `${word} ${"and so on ".repeat(10)}`);
  const { rows } = auditDifferences(text({ description: before }), text({ description: after }));
  assert.equal(rows.length, 1);
  assert.deepEqual(rows[0]!.segments?.slice(0, 2), [
    { kind: "removed", text: "one" },
    { kind: "added", text: "two" },
  ]);
});

Deno.test("auditDifferences() copes with one side, none, a bare value, and one that was cut", () => {
  assert.deepEqual(auditDifferences().rows, []);
  assert.deepEqual(auditDifferences(text("info"), text("debug")).rows, [
    { path: "", before: "info", after: "debug" },
  ]);
  const cut = '{"tools":["a… [truncated: 9000 bytes in total]';
  assert.deepEqual(auditDifferences(undefined, cut).rows, [{ path: "", after: cut }]);
  const many = auditDifferences(undefined, text(Array.from({ length: 70 }, (_, n) => n)));
  assert.deepEqual([many.rows.length, many.more], [50, 20]);
});

Deno.test("actionTitle() is a whole phrase for every action", () => {
  assert.equal(actionTitle("search.reindex"), "Rebuilt the search index");
  assert.equal(actionTitle("server.add"), "Added server");
  for (const action of AUDIT_ACTIONS) {
    assert.doesNotMatch(actionTitle(action), /( (the|of|to|in|for|into|on|off|up)|:)$/, action);
  }
});
