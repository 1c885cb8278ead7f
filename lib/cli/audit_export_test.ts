import assert from "node:assert/strict";
import type { AuditEntry } from "../storage/audit_repository.ts";
import { auditExport, jsonArray } from "./audit_export.ts";
import type { CommandInput } from "./command.ts";

async function* entries(count: number): AsyncGenerator<AuditEntry, void> {
  for (let n = 0; n < count; n++) {
    yield await Promise.resolve({ at: n, subject: `a\u202Eb ${n}`, after: "[1]" } as AuditEntry);
  }
}

async function textOf(count: number): Promise<string> {
  return (await Array.fromAsync(jsonArray(entries(count)))).join("");
}

Deno.test("jsonArray() writes one JSON value, in which nothing is hidden", async () => {
  for (const count of [0, 1, 3]) {
    const text = await textOf(count);
    const read = JSON.parse(text);
    assert.equal(read.length, count);
    assert.ok(text.endsWith("]\n") && !text.includes("\u202E"), text);
  }
  assert.deepEqual(JSON.parse(await textOf(1)), [
    { time: "1970-01-01T00:00:00.000Z", subject: "a\u202Eb 0", after: [1] },
  ]);
});

Deno.test("audit export refuses --json beside another form of the same output", async () => {
  const flags = new Map<string, string | boolean>([["json", true], ["format", "csv"]]);
  const input = { positionals: [], flags } as unknown as CommandInput;
  await assert.rejects(auditExport.run(input), {
    code: "CONFIG_INVALID",
    message: /--json and --format exclude each other without --output/,
  });
});
