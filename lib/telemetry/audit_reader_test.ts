import assert from "node:assert/strict";
import type { AuditEntry } from "../storage/audit_repository.ts";
import { auditFile, matchesAudit, readAuditQuery } from "./audit_reader.ts";

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
  const read = (query: string) => readAuditQuery(Object.fromEntries(new URLSearchParams(query)));
  assert.deepEqual(read("since=2026-01-01&until=2026-01-01&who=+a+&action=").range, {
    since: Date.UTC(2026, 0, 1),
    until: Date.UTC(2026, 0, 2),
  });
  assert.deepEqual(read("who=+a+&action=").filter, { who: "a" });
  assert.equal(read("until=2026-01-01T12:00:00Z").range.until, Date.UTC(2026, 0, 1, 12));
  assert.throws(() => read("since=yesterday"), { code: "INVALID_ARGUMENTS" });
});

async function* entries(count: number): AsyncGenerator<AuditEntry> {
  for (let n = 0; n < count; n++) {
    yield await Promise.resolve({
      id: `x-${n}`,
      at: 0,
      chain: "c",
      n,
      principal: "everyone",
      from: 'API, "here"',
      action: "server.change",
      subject: "=cmd",
      before: '{"a":1}',
      after: '{"a": … [truncated: 9 bytes in total]',
      hash: "h",
    });
  }
}

Deno.test("auditFile() writes CSV that a spreadsheet runs nothing of", async () => {
  const text = (await Array.fromAsync(auditFile(entries(1), "csv"))).join("");
  assert.equal(
    text,
    "time,id,principal,who,from,action,subject,before,after,chain,n,prev,hash\r\n" +
      '1970-01-01T00:00:00.000Z,x-0,everyone,,"API, ""here""",server.change,\'=cmd,' +
      '"{""a"":1}","{""a"": … [truncated: 9 bytes in total]",c,0,,h\r\n',
  );
});

Deno.test("auditFile() writes a JSON object a line, in pieces", async () => {
  const pieces = await Array.fromAsync(auditFile(entries(450), "ndjson"));
  assert.equal(pieces.length, 3);
  const lines = pieces.join("").trimEnd().split("\n");
  assert.equal(lines.length, 450);
  const { time, before, after } = JSON.parse(lines[0]!);
  assert.deepEqual([time, before, typeof after], ["1970-01-01T00:00:00.000Z", { a: 1 }, "string"]);
});
