import assert from "node:assert/strict";
import { heldChanges, loggedChanges } from "./tool_changes.ts";
import { listed } from "./testing/open_review.ts";
import { readTool } from "../catalog/catalog_tool.ts";
import { ToolGuard } from "../catalog/tool_guard.ts";

const asIs = (text: string) => text;

Deno.test("loggedChanges() tells field by field and word by word, with nothing hidden", () => {
  const [change] = loggedChanges([{
    tool: "a\u202e",
    kind: "changed",
    text: listed("a", "Reads all\u200b files", { title: "A\u001b[2J" }),
    before: listed("a", "Reads some files"),
  }], asIs);
  assert.deepEqual(change, {
    tool: "a<U+202E>",
    kind: "changed",
    diff: [
      "title: {+A<U+001B>[2J+}",
      "description: Reads [-some-]{+all<U+200B>+} files",
    ],
  });
});

Deno.test("loggedChanges() is short, whatever a server lists", () => {
  const long = (word: string) => Array(1_000).fill(word).join(" ");
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`p${n}`, { type: "string" }]),
  );
  const change = {
    tool: "t".repeat(5_000),
    text: listed("a", long("new"), { inputSchema: { type: "object", properties } }),
    before: listed("a", long("old"), { inputSchema: { type: "object", properties: {} } }),
  };
  const logged = loggedChanges(Array(500).fill(change), asIs);
  assert.equal(logged.length, 50);
  assert.match(logged[0]?.diff?.[0] ?? "", /^description: \[-old old.*…-\]\{\+new new.*…\+\}$/);
  assert.match(logged[0]?.diff?.at(-1) ?? "", /^and \d+ more changes$/);
  assert.equal(logged.at(-1)?.diff, undefined);
  assert.ok(JSON.stringify(logged).length < 50_000);
});

Deno.test("loggedChanges() compares no more than can be done between two calls", () => {
  const words = (seed: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${seed}${n}`).join(" ");
  const change = (count: number) => ({
    tool: "a",
    text: listed("a", words("x", count)),
    before: listed("a", words("y", count)),
  });
  const [huge] = loggedChanges([change(5_000)], asIs);
  assert.deepEqual(huge, { tool: "a" });
  const many = loggedChanges(Array(20).fill(change(1_000)), asIs);
  const compared = many.filter(({ diff }) => diff !== undefined).length;
  assert.ok(compared > 0 && compared < 10, String(compared));
});

Deno.test("loggedChanges() takes secrets out before words are compared", () => {
  const [change] = loggedChanges([{
    tool: "a",
    text: listed("a", "Logs in with key-one-two"),
    before: listed("a", "Logs in with key-one-too"),
  }], (text) => text.replaceAll("key-one-two", "[redacted]"));
  assert.doesNotMatch(JSON.stringify(change), /two/);
});

Deno.test("heldChanges() compares with what is served, leaves out what was turned down", () => {
  const read = (text: string) => {
    const tool = readTool("s", text, 0);
    assert.ok("fingerprint" in tool);
    return tool;
  };
  const guard = new ToolGuard();
  guard.setRules("s", {
    policy: "hold",
    isWhole: true,
    pins: new Map([["old", { tool: read(listed("old", "Reads")), isKept: false }]]),
    rejected: new Map(),
    hidden: new Set(),
    waived: new Set(),
  });
  const held = heldChanges("s", [
    {
      kind: "renamed",
      name: "new",
      from: "old",
      listed: read(listed("new", "Reads")),
      isRejected: false,
    },
    { kind: "added", name: "b", listed: read(listed("b")), isRejected: false },
    { kind: "added", name: "c", listed: read(listed("c")), isRejected: true },
  ], guard);
  assert.deepEqual(loggedChanges(held, asIs), [
    { tool: "new", kind: "renamed", from: "old", diff: ['name: "old" -> "new"'] },
    { tool: "b", kind: "added", definition: listed("b") },
  ]);
});
