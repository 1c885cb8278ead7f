import assert from "node:assert/strict";
import { matchesWords, searchWords, toolSummary, waitingTools, waitsFor } from "./tool_rows.ts";
import type { Gateway } from "../gateway.ts";

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

const ITEMS = [
  { server: "a", tool: "t", kind: "finding", state: "quarantined" },
  { server: "a", tool: "(instructions)", kind: "finding", state: "quarantined" },
  { server: "a", tool: "t", kind: "changed", state: "held" },
  { server: "a", tool: "t", kind: "changed", state: "held" },
  { server: "a", tool: "u", kind: "changed", state: "notice" },
  { server: "b", tool: "t", kind: "added", state: "held" },
];

function gatewayWith(items: typeof ITEMS) {
  const waiting = (only?: string) =>
    items.filter(({ server }) => only === undefined || server === only);
  return { review: { waiting } as unknown as Gateway["review"] };
}

Deno.test("waitingTools() lists what is held or quarantined, each tool once and no texts of servers", () => {
  const all = waitingTools(gatewayWith(ITEMS));
  assert.deepEqual(all.map(({ server, tool, state }) => [server, tool, state]), [
    ["a", "t", "quarantined"],
    ["a", "t", "held"],
    ["b", "t", "held"],
  ]);
  assert.deepEqual(waitingTools(gatewayWith(ITEMS), "b").map(({ server }) => server), ["b"]);
  assert.deepEqual(waitingTools(gatewayWith([])), []);
});

Deno.test("waitsFor() puts quarantine before a change that is held", () => {
  const wait = waitsFor(waitingTools(gatewayWith(ITEMS)));
  assert.deepEqual(wait("a", "t"), { wait: "quarantined" });
  assert.deepEqual(wait("b", "t"), { wait: "held" });
  assert.deepEqual(wait("a", "u"), {});
});
