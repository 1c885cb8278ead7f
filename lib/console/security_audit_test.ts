import assert from "node:assert/strict";
import { composeAudit } from "../compose_audit.ts";
import { Store } from "../storage/store.ts";
import { actingFor } from "../telemetry/audit_origin.ts";
import { Redactor } from "../telemetry/redact.ts";
import { auditPage, exportAudit, listAudit } from "./security_audit.ts";

type Setting = Parameters<typeof auditPage>[0];

async function withAudit(work: (gateway: Setting) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const audit = composeAudit({
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
    await assert.rejects(listAudit({ audit }, query("since=soon")), { code: "INVALID_ARGUMENTS" });
    await assert.rejects(listAudit({ audit }, query("limit=0")), { code: "INVALID_ARGUMENTS" });
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
    const { entries, hasOlder } = await listAudit({ audit }, query(`limit=5`));
    assert.deepEqual([entries.length, hasOlder], [5, true]);
  }));

Deno.test("exportAudit() gives what the filter leaves, in both formats", () =>
  withAudit(async ({ audit }) => {
    audit.note({ action: "server.add", subject: "git" });
    audit.note({ action: "toolset.save", subject: "work" });
    const read = async (text: string) => await (await exportAudit({ audit }, query(text))).text();
    assert.equal((await read("")).trimEnd().split("\n").length, 2);
    const csv = await read("format=csv&action=server");
    assert.equal(csv.trimEnd().split("\r\n").length, 2);
    assert.match(csv, /,server\.add,git,/);
    const { headers, body } = await exportAudit({ audit }, query("format=csv"));
    await body?.cancel();
    assert.match(
      headers.get("content-disposition") ?? "",
      /filename="audit-\d{4}-\d\d-\d\d\.csv"$/,
    );
    await assert.rejects(exportAudit({ audit }, query("format=xml")), {
      code: "INVALID_ARGUMENTS",
    });
  }));

Deno.test("composeAudit() believes the request, and whoever acts for another of the place", () =>
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
