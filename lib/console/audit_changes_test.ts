import assert from "node:assert/strict";
import { auditDifferences } from "./audit_changes.ts";

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
  assert.deepEqual(rows[0]!.words?.slice(0, 2), [
    { kind: "removed", text: "one" },
    { kind: "added", text: "two" },
  ]);
});

Deno.test("auditDifferences() copes with one side, none, a bare value, and one that was cut", () => {
  assert.deepEqual(auditDifferences().rows, []);
  assert.deepEqual(auditDifferences(text("info"), text("debug")).rows, [
    { path: "", before: "info", after: "debug" },
  ]);
  const cut = '{"tools":["a… [cut: 9000 bytes in all]';
  assert.deepEqual(auditDifferences(undefined, cut).rows, [{ path: "", after: cut }]);
  const many = auditDifferences(undefined, text(Array.from({ length: 70 }, (_, n) => n)));
  assert.deepEqual([many.rows.length, many.more], [50, 20]);
});
