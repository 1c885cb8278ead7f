import assert from "node:assert/strict";
import { matchesWords, searchWords, toolSummary } from "./tool_text.ts";

const inputSchema = { type: "object" } as const;

Deno.test("toolSummary() is the first paragraph on one line", () => {
  const description = "  Reads a\n  file.\n\nUse it with care.";
  assert.equal(toolSummary({ name: "t", description, inputSchema }), "Reads a file.");
});

Deno.test("toolSummary() keeps a huge description short", () => {
  const summary = toolSummary({ name: "t", description: "😀".repeat(100_000), inputSchema });
  assert.ok(summary.length < 500);
  assert.ok(summary.endsWith("…"));
  assert.ok(!/[\uD800-\uDBFF]…$/.test(summary), "half a character");
});

Deno.test("matchesWords() wants every word, in any of the texts", () => {
  const words = searchWords("  Git   LIST ");
  assert.ok(matchesWords(words, "github", "list_issues", undefined));
  assert.ok(!matchesWords(words, "github", "create_issue"));
  assert.ok(matchesWords([], undefined));
});
