import assert from "node:assert/strict";
import { notStartedWords } from "./claude_problem.ts";

Deno.test("notStartedWords() says how to get the CLI, where to name it, and what else there is", () => {
  const words = notStartedWords("claude", { isMissing: true, reason: "" });
  assert.match(words, /^the claude CLI was not found on PATH \(looked for "claude"\)\. /);
  assert.match(words, /npm install -g @anthropic-ai\/claude-code/);
  assert.match(words, /--claude-path PATH/);
  assert.match(words, /--evaluator messages-api$/);
  const elsewhere = notStartedWords("/opt/claude", { isMissing: true, reason: "" });
  assert.match(elsewhere, /^the claude CLI was not found at "\/opt\/claude"\. Install it/);
});

Deno.test("notStartedWords() gives the system's reason where the CLI is there", () => {
  assert.equal(
    notStartedWords("claude", { isMissing: false, reason: "permission denied" }),
    "the claude CLI cannot be started: permission denied",
  );
});
