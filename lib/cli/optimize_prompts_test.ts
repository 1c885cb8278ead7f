import assert from "node:assert/strict";
import { promptsOf } from "./optimize_prompts.ts";

const PROMPTS = [
  { category: "direct", prompt: "Will it rain in Oslo?" },
  {
    category: "negative",
    prompt: "What is the capital of France?",
    expectedBehavior: { shouldCallTool: false, expectedTool: "lookup" },
  },
];

Deno.test("promptsOf() reads a list, also one under `prompts`", () => {
  assert.deepEqual(promptsOf(JSON.stringify(PROMPTS), "x"), PROMPTS);
  assert.deepEqual(promptsOf(`\uFEFF${JSON.stringify({ prompts: PROMPTS })}`, "x"), PROMPTS);
});

Deno.test("promptsOf() says where a file is wrong", () => {
  const wrong: [string, RegExp][] = [
    ["[", /Cannot save my\.json: it is not valid JSON/],
    ["[]", /Cannot save my\.json: /],
    ["{}", /Cannot save my\.json: /],
    [JSON.stringify([PROMPTS[0], { category: "other", prompt: "x" }]), /1\.category: /],
    [JSON.stringify({ prompts: [{ category: "direct" }] }), /prompts\.0\.prompt: /],
    [JSON.stringify([{ ...PROMPTS[0], catgory: "x" }]), /0: .*catgory/],
  ];
  for (const [text, message] of wrong) {
    assert.throws(() => promptsOf(text, "my.json"), { code: "CONFIG_INVALID", message });
  }
});
