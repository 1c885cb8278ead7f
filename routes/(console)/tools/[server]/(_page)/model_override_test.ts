import assert from "node:assert/strict";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";
import { readOverride, saveOverride, toolPage } from "./model.ts";

function open() {
  const gateway = stubGateway({
    servers: [{ name: "files", tools: [{ name: "read", description: "Reads a file" }] }],
  });
  return {
    save: (words: Record<string, string>) =>
      saveOverride(gateway, "files", "read", new URLSearchParams(words)),
    async knowledge() {
      const page = await toolPage(gateway, "files", "read");
      assert.ok("knowledge" in page && page.knowledge);
      return page.knowledge;
    },
    gateway,
  };
}

Deno.test("saveToolWords() takes the place of what is inferred, until it is reset", async () => {
  const { save, knowledge } = open();
  const before = await knowledge();
  await save({ summary: "  Opens\n it ", category: "Mine", deprecated: "" });
  const { summary, category, override } = await knowledge();
  assert.deepEqual([summary, category], ["Opens it", "mine"]);
  assert.deepEqual(override, { summary: "Opens it", category: "mine" });
  await save({ summary: "Opens it", reset: "true" });
  assert.deepEqual(await knowledge(), before);
});

Deno.test("saveToolWords() says what is wrong with what was written", async () => {
  const { save, gateway } = open();
  await assert.rejects(save({ category: "not good" }), { code: "INVALID_ARGUMENTS" });
  await assert.rejects(save({ summary: "x".repeat(81) }), { code: "INVALID_ARGUMENTS" });
  const unknown = saveOverride(gateway, "files", "nope", new URLSearchParams());
  await assert.rejects(unknown, { code: "TOOL_NOT_FOUND" });
});

Deno.test("readToolWords() keeps what was written as it was, also what cannot be saved", () => {
  const words = { summary: " x ".repeat(40), category: "not good", deprecated: "" };
  assert.deepEqual(readOverride(new URLSearchParams(words)), words);
});
