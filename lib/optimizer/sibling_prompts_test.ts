import assert from "node:assert/strict";
import { chooseSiblingPrompts } from "./sibling_prompts.ts";
import { aPrompt } from "./testing/runs.ts";

Deno.test("chooseSiblingPrompts() takes two direct prompts of each of five siblings at most", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const saved = names.flatMap((toolName) => [
    aPrompt(`${toolName}-indirect`, "indirect", { toolName }),
    ...["1", "2", "3"].map((n) => aPrompt(`${toolName}${n}`, "direct", { toolName })),
  ]);
  const chosen = chooseSiblingPrompts(saved, ["none", ...names]);
  assert.deepEqual(
    chosen.map(({ id }) => id),
    ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1", "e2"],
  );
});

Deno.test("chooseSiblingPrompts() turns them into prompts that this tool should leave alone", () => {
  const [prompt] = chooseSiblingPrompts([aPrompt("a1", "direct", { toolName: "a" })], ["a"]);
  assert.equal(prompt?.category, "negative");
  assert.deepEqual(prompt?.expectedBehavior, { shouldCallTool: false, expectedTool: "a" });
});
