import assert from "node:assert/strict";
import { chooseSiblingPrompts, nearestSiblings } from "./sibling_prompts.ts";
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

Deno.test("nearestSiblings() has those first that share most words with the tool", () => {
  const sibling = (name: string, description: string) => ({ name, description });
  const subject = {
    name: "get_forecast",
    description: "The weather of the days to come",
    siblings: [
      sibling("list_users", "Everybody who has an account"),
      sibling("get_weather_now", "The weather of this moment"),
      sibling("send_mail", "Writes to somebody about the days off"),
    ],
  };
  assert.deepEqual(nearestSiblings(subject), ["get_weather_now", "send_mail", "list_users"]);
});
