import assert from "node:assert/strict";
import { compareTools } from "../catalog/tool_diff.ts";
import { itemRow, itemText } from "./review_text.ts";

const plain = (_: string, text: string) => text;

Deno.test("itemText() shows the diff and the findings, and hides nothing of them", () => {
  const diff = compareTools(
    '{"name":"a","description":"Reads files"}',
    '{"name":"a","description":"Reads \\u001b[2Jsecrets\\u202e"}',
  );
  const text = itemText({
    server: "s",
    tool: "a\u001b[31m",
    kind: "changed",
    state: "held",
    fingerprint: "f00",
    diff,
    findings: [{
      rule: "secrets",
      severity: "high",
      where: "description",
      excerpt: "Reads \u001b[2Jsecrets\u200b\ufeff",
      why: "It asks for secrets",
    }],
  }, plain);
  assert.doesNotMatch(text, /[[\p{Cc}\p{Cf}]--\n]/v);
  assert.match(text, /description: .*secrets<U\+202E>/);
  assert.match(text, /secrets<U\+200B U\+FEFF>\n/);
  assert.match(text, /held {2}changed {2}compatible\n {2}fingerprint f00/);
  assert.match(text, /high: secrets in description\n {4}It asks for secrets/);
});

Deno.test("itemRow() names what a tool was called before", () => {
  const row = itemRow({
    server: "s",
    tool: "b",
    kind: "renamed",
    state: "notice",
    fingerprint: "f",
    from: "a",
    findings: [],
  }, plain);
  assert.deepEqual(row, ["s.b", "passed on", "renamed, was a", ""]);
});
