import assert from "node:assert/strict";
import type { AuditEntry } from "../storage/audit_repository.ts";
import { matchesAudit, readAuditQuery } from "./audit_filter.ts";

const ENTRY: AuditEntry = {
  id: "x-1",
  at: 1,
  chain: "c",
  n: 0,
  principal: "token:12ab",
  who: "CI runner",
  from: "API",
  action: "server.add",
  subject: "GitHub",
  hash: "h",
};

Deno.test("matchesAudit() goes by action or family, and by part of names", () => {
  for (
    const [filter, expected] of [
      [{}, true],
      [{ action: "server.add" }, true],
      [{ action: "server" }, true],
      [{ action: "serve" }, false],
      [{ who: "ci run" }, true],
      [{ who: "token:12" }, true],
      [{ who: "GitHub" }, false],
      [{ subject: "hub" }, true],
      [{ subject: "hub", action: "toolset" }, false],
    ] as const
  ) {
    assert.equal(matchesAudit(ENTRY, filter), expected, JSON.stringify(filter));
  }
});

Deno.test("readAuditQuery() takes whole days and exact times", () => {
  const read = (query: string) => readAuditQuery(new URLSearchParams(query));
  assert.deepEqual(read("since=2026-01-01&until=2026-01-01&who=+a+&action=").range, {
    since: Date.UTC(2026, 0, 1),
    until: Date.UTC(2026, 0, 2),
  });
  assert.deepEqual(read("who=+a+&action=").filter, { who: "a" });
  assert.equal(read("until=2026-01-01T12:00:00Z").range.until, Date.UTC(2026, 0, 1, 12));
  assert.throws(() => read("since=yesterday"), { code: "INVALID_ARGUMENTS" });
});
