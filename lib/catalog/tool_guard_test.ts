import assert from "node:assert/strict";
import { type CatalogTool, isUsable, readTool } from "./catalog_tool.ts";
import { findWords, listed } from "../trust/testing/open_review.ts";
import { type ReviewRules, ToolGuard, waiverKey } from "./tool_guard.ts";

function read(text: string) {
  return readTool("s", text, 0);
}

function tool(text: string): CatalogTool {
  const found = read(text);
  assert.ok(isUsable(found));
  return found;
}

function rules(more: Partial<ReviewRules>, ...pins: string[]): ReviewRules {
  return {
    policy: "hold",
    isWhole: true,
    pins: new Map(pins.map((text) => [tool(text).name, { tool: tool(text), isKept: false }])),
    rejected: new Map(),
    hidden: new Set(),
    waived: new Set(),
    ...more,
  };
}

const scanner = {
  find: (_: string, fingerprint: string) => found.get(fingerprint),
  verdict: (findings: readonly { severity: string }[]) =>
    findings.some(({ severity }) => severity === "high")
      ? "quarantine" as const
      : findings.length > 0
      ? "warn" as const
      : "clean" as const,
};
const found = new Map<string, ReturnType<typeof findWords>>();

Deno.test("ToolGuard.judge() serves a changed tool byte for byte as it is pinned", () => {
  const guard = new ToolGuard();
  guard.setRules("s", rules({}, listed("a"), listed("b")));
  const changed = listed("a", "Does worse");
  const reordered = '{ "inputSchema":{"type":"object"},"description":"Does b","name":"b"}';
  const { tools, held } = guard.judge("s", [changed, reordered].map(read));
  assert.deepEqual(tools.map(({ text }) => text), [listed("a"), listed("b")]);
  assert.deepEqual(held.map(({ kind, name, listed }) => [kind, name, listed.text]), [
    ["changed", "a", changed],
  ]);
});

Deno.test("ToolGuard.judge() holds what is added, and knows a rename", () => {
  const guard = new ToolGuard();
  guard.setRules("s", rules({}, listed("a", "Reads a file")));
  const { tools, held } = guard.judge("s", [listed("z", "Reads a file"), listed("b")].map(read));
  assert.deepEqual(tools, []);
  assert.deepEqual(held.map(({ kind, name, from }) => [kind, name, from]), [
    ["renamed", "z", "a"],
    ["added", "b", undefined],
  ]);
});

Deno.test("ToolGuard.judge() serves a pinned tool once, whatever else has its name", () => {
  const guard = new ToolGuard();
  guard.setRules("s", rules({}, listed("a")));
  const broken = '{"name":"a","inputSchema":{"type":"array"}}';
  const both = guard.judge("s", [broken, listed("a", "other")].map(read));
  assert.deepEqual(both.tools.map(({ text }) => text), [listed("a")]);
  const alone = guard.judge("s", [broken].map(read));
  assert.deepEqual(alone.tools.map(({ text }) => text), [listed("a")]);
  assert.deepEqual(alone.held.map(({ kind }) => kind), ["invalid"]);
});

Deno.test("ToolGuard.judge() passes changes on unless they are held, but for what a person kept", () => {
  const guard = new ToolGuard();
  const changed = [listed("a", "Does worse"), listed("b", "Does worse"), listed("c")];
  const pins = new Map([
    ["a", { tool: tool(listed("a")), isKept: true }],
    ["b", { tool: tool(listed("b")), isKept: false }],
  ]);
  const shown = () => guard.judge("s", changed.map(read)).tools.map(({ text }) => text);
  guard.setRules("s", rules({ policy: "notify", pins, hidden: new Set(["c"]) }));
  assert.deepEqual(shown(), [listed("a"), listed("b", "Does worse")]);
  guard.setRules("s", rules({ policy: "allow", pins, hidden: new Set(["c"]) }));
  assert.deepEqual(shown(), changed);
  guard.setRules("s", undefined);
  assert.deepEqual(shown(), changed);
});

Deno.test("ToolGuard.judge() says what was turned down", () => {
  const guard = new ToolGuard();
  const changed = tool(listed("a", "Does worse"));
  const rejected = new Map([["a", new Set([changed.fingerprint])]]);
  guard.setRules("s", rules({ rejected }, listed("a")));
  assert.deepEqual(guard.judge("s", [changed]).held.map(({ isRejected }) => isRejected), [true]);
  const next = guard.judge("s", [tool(listed("a", "Does worst"))]);
  assert.deepEqual(next.held.map(({ isRejected }) => isRejected), [false]);
});

Deno.test("ToolGuard.judge() quarantines by findings that are not waived, and holds what nobody has looked at", () => {
  const guard = new ToolGuard(scanner);
  const [evil, odd, plain, unseen] = ["EVIL", "ODD", "plain", "unseen"].map((text) =>
    tool(listed(text.toLowerCase(), text))
  );
  for (const each of [evil!, odd!, plain!]) {
    found.set(each.fingerprint, findWords("description", each.text));
  }
  const all = [evil!, odd!, plain!, unseen!];
  const judged = guard.judge("s", all);
  assert.deepEqual(judged.tools.map(({ name }) => name), ["odd", "plain"]);
  assert.deepEqual(judged.quarantined.map(({ tool }) => tool.name), ["evil"]);
  assert.deepEqual(judged.flagged.map(({ tool }) => tool.name), ["odd"]);
  assert.deepEqual(judged.unscanned.map(({ name }) => name), ["unseen"]);

  const waived = new Set([waiverKey("evil", "evil", evil!.fingerprint)]);
  guard.setRules("s", rules({ policy: "notify", waived }));
  assert.deepEqual(guard.judge("s", all).quarantined, []);
  // For this definition alone.
  const other = tool(listed("evil", "EVIL again"));
  found.set(other.fingerprint, findWords("description", other.text));
  assert.equal(guard.judge("s", [other]).quarantined.length, 1);
});
