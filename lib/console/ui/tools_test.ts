import assert from "node:assert/strict";
import { type PickedTool, sizeOf, toolsetNotes } from "./tools.ts";

function tool(name: string, change: Partial<PickedTool> = {}): PickedTool {
  return { namespacedName: `git.${name}`, server: "git", name, summary: "", ...change };
}

Deno.test("sizeOf() adds up what is known, and says where that is not all", () => {
  assert.deepEqual(sizeOf([tool("a", { tokens: 10 }), tool("b", { tokens: 5 })], 10), {
    count: 2,
    listed: 12,
    tokens: 15,
    isCounted: true,
    isLarge: false,
    isTooLarge: false,
  });
  assert.equal(sizeOf([tool("a", { tokens: 10 }), tool("b")], 0).isCounted, false);
  assert.equal(sizeOf([tool("gone", { note: "its server no longer has it" })], 0).isCounted, true);
});

Deno.test("sizeOf() warns above 40 tools, the gateway's own included", () => {
  const tools = Array.from({ length: 31 }, (_, index) => tool(`t${index}`));
  assert.equal(sizeOf(tools.slice(1), 10).isLarge, false);
  assert.equal(sizeOf(tools, 10).isLarge, true);
});

Deno.test("toolsetNotes() has nothing to say of a toolset that is whole", () => {
  assert.deepEqual(toolsetNotes(Array(30).fill("registered"), 10), []);
});

Deno.test("toolsetNotes() counts what cannot be called, and warns of many", () => {
  assert.deepEqual(toolsetNotes(["registered", "gone", "waiting", "waiting"]), [
    "1 tool is no longer there",
    "2 tools are waiting for a disconnected server",
  ]);
  assert.match(toolsetNotes(Array(31).fill("registered"), 10)[0] ?? "", /list 41 .* limit is 40$/);
});
