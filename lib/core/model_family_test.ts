import assert from "node:assert/strict";
import { familyOfClient, familyOfModel } from "./model_family.ts";

Deno.test("familyOfModel() goes by the start of a model's name, also after its maker's", () => {
  const expected = {
    "sonnet": "claude",
    "sonnet[1m]": "claude",
    "claude-sonnet-4-5-20250929": "claude",
    "us.anthropic.claude-opus-4-20250514-v1:0": "claude",
    "anthropic/claude-3.5-haiku": "claude",
    "gpt-5-mini": "gpt",
    "openai/gpt-4.1": "gpt",
    "o4-mini": "gpt",
    "chatgpt-4o-latest": "gpt",
    "models/gemini-2.5-pro": "gemini",
    "llama3:8b": "llama",
    "meta-llama/llama-4-maverick": "llama",
    "deepseek-r1-distill-llama-70b": "deepseek",
    "qwen2.5-coder": "qwen",
    "grok-4": "grok",
    "moonshotai/kimi-k2": "kimi",
  };
  for (const [model, family] of Object.entries(expected)) {
    assert.equal(familyOfModel(model), family, model);
  }
  for (const model of ["", "gpt4all-j", "stand-in", "my-claude", "omega"]) {
    assert.equal(familyOfModel(model), undefined, model);
  }
});

Deno.test("familyOfClient() knows clients of one maker; others are yours to name", () => {
  const expected = {
    "claude-code": "claude",
    "claude-ai": "claude",
    "claude-ai (via mcp-remote 0.1.16)": "claude",
    "Anthropic/ClaudeAI": "claude",
    "codex-mcp-client": "gpt",
    "openai-mcp": "gpt",
    "ChatGPT": "gpt",
    "gemini-cli-mcp-client-library": "gemini",
    "qwen-code-mcp-client": "qwen",
    "mistral-vibe": "mistral",
  };
  for (const [client, family] of Object.entries(expected)) {
    assert.equal(familyOfClient(client), family, client);
  }
  for (
    const client of ["", "cursor-vscode", "Visual Studio Code", "windsurf-client", "claudette"]
  ) {
    assert.equal(familyOfClient(client), undefined, client);
  }
  assert.equal(familyOfClient("cursor-vscode 1.0", { cursor: "gpt" }), "gpt");
  assert.equal(
    familyOfClient("cursor-vscode", { cursor: "gpt", "cursor-vscode": "claude" }),
    "claude",
  );
  assert.equal(familyOfClient("claude-code", { "claude-code": "kimi" }), "kimi");
});
