import assert from "node:assert/strict";
import type { RecordedTool } from "../storage/canonical_tools_repository.ts";
import { ServerHistory, serverHistory, toolEvents } from "./tool_history.ts";

const version = (seenAt: number, description = `Since ${seenAt}`) => ({
  text: JSON.stringify({ name: "t", description, inputSchema: { type: "object" } }),
  fingerprint: description,
  seenAt,
});
const tool = (name: string, times: number[], rest: Partial<RecordedTool> = {}): RecordedTool => {
  const [current = version(0), ...earlier] = times.map((time) => version(time));
  return { server: "s", name, version: times.length, current, earlier, ...rest };
};

Deno.test("serverHistory() tells each version with what it changed", () => {
  const history = serverHistory("s", { tools: [tool("a", [30, 20, 10])], invalid: [] }, 10);
  const [a] = ServerHistory.parse(history).tools;
  assert.equal(a?.state, "listed");
  assert.deepEqual(a?.versions.map(({ version, seenAt }) => [version, seenAt]), [
    [3, 30],
    [2, 20],
    [1, 10],
  ]);
  assert.deepEqual(a?.versions.map(({ diff }) => diff?.changes.length), [1, 1, undefined]);
});

Deno.test("serverHistory() compares only the newest changes, of whichever tool", () => {
  const tools = [tool("a", [40, 10]), tool("b", [50, 30, 10])];
  const { tools: told, withoutDiff } = serverHistory("s", { tools, invalid: [] }, 2);
  assert.deepEqual(
    told.map(({ versions }) => versions.map(({ diff }) => diff !== undefined)),
    [[true, false], [true, false, false]],
  );
  assert.equal(withoutDiff, 1);
});

Deno.test("serverHistory() tells a tool that is gone from one that is invalid", () => {
  const { tools, invalid } = serverHistory("s", {
    tools: [tool("gone", [10], { goneSince: 20 }), tool("bad", [10], { goneSince: 20 })],
    invalid: [
      { server: "s", name: "bad", problem: "It has no name", text: "x".repeat(9_000), seenAt: 20 },
    ],
  }, 10);
  assert.deepEqual(tools.map(({ state, goneSince }) => [state, goneSince]), [
    ["gone", 20],
    ["invalid", undefined],
  ]);
  assert.ok((invalid[0]?.definition.length ?? 0) < 5_000);
});

Deno.test("toolEvents() has the newest first, and does not call the first tools new", () => {
  const tools = [
    tool("first", [10]),
    tool("changed", [40, 10]),
    tool("later", [30]),
    tool("gone", [10], { goneSince: 50 }),
    // Its first version is no longer kept.
    tool("old", [20], { version: 30 }),
  ];
  const events = toolEvents(serverHistory("s", { tools, invalid: [] }, 10));
  assert.deepEqual(events.map(({ kind, tool, at }) => [kind, tool, at]), [
    ["gone", "gone", 50],
    ["changed", "changed", 40],
    ["added", "later", 30],
  ]);
  assert.deepEqual(events.map(({ isListed }) => isListed), [false, true, true]);
  assert.deepEqual(toolEvents(serverHistory("s", { tools: [], invalid: [] }, 10)), []);
});
