import assert from "node:assert/strict";
import { isStricter, natureOf, rulesOf } from "./server_rules.ts";

const demo = { type: "demo" } as const;

function tool(name: string, annotations?: Record<string, unknown>) {
  const inputSchema = { type: "object" as const };
  return { name, definition: { name, inputSchema, ...(annotations ? { annotations } : {}) } };
}

Deno.test("rulesOf() is undefined for an entry that says nothing of calls", () => {
  assert.equal(rulesOf({ ...demo, timeoutMs: 1_000, trust: "untrusted" }), undefined);
  assert.equal(rulesOf({ ...demo, mode: "read-only" })?.mode, "read-only");
  assert.equal(rulesOf({ ...demo, maxConcurrent: 2 })?.maxConcurrent, 2);
});

Deno.test("natureOf() takes silence for destructive, as the protocol does", () => {
  assert.equal(natureOf(tool("a"), undefined), "destroys");
  assert.equal(natureOf(tool("a", { readOnlyHint: true }), undefined), "reads");
  assert.equal(natureOf(tool("a", { readOnlyHint: false }), undefined), "destroys");
  assert.equal(natureOf(tool("a", { readOnlyHint: "true" }), undefined), "destroys");
  assert.equal(natureOf(tool("a", { destructiveHint: false }), undefined), "adds");
  assert.equal(natureOf(tool("a", { destructiveHint: true }), undefined), "destroys");
});

Deno.test("natureOf() takes the owner's word over the server's claim, the stricter of two", () => {
  const rules = rulesOf({
    ...demo,
    readOnlyTools: ["list_*", "both"],
    writingTools: ["run", "both", "purge_*", "!purge_nothing"],
  });
  const claims = { readOnlyHint: true };
  assert.equal(natureOf(tool("list_all"), rules), "reads");
  assert.equal(natureOf(tool("run", claims), rules), "destroys");
  assert.equal(natureOf(tool("run", { destructiveHint: false }), rules), "destroys");
  assert.equal(natureOf(tool("both", claims), rules), "destroys");
  assert.equal(natureOf(tool("purge_all", claims), rules), "destroys");
  assert.equal(natureOf(tool("purge_nothing", claims), rules), "reads");
  assert.equal(natureOf(tool("other", claims), rules), "reads");
});

Deno.test("isStricter() puts read-only over confirm over all", () => {
  assert.ok(isStricter("read-only", "confirm"));
  assert.ok(isStricter("confirm", "all"));
  assert.ok(!isStricter("all", "all"));
  assert.ok(!isStricter("confirm", "read-only"));
});
