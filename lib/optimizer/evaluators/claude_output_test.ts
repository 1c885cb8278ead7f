import assert from "node:assert/strict";
import { ClaudeTranscript, startProblem } from "./claude_output.ts";
import { init, result, said, text, toolUse } from "./testing/fake_claude.ts";

function read(...events: unknown[]): ClaudeTranscript {
  const transcript = new ClaudeTranscript();
  for (const event of events) {
    transcript.read(typeof event === "string" ? event : JSON.stringify(event));
  }
  return transcript;
}

Deno.test("ClaudeTranscript.calls has all parallel calls of one message, by flat name", () => {
  const { calls, reasoning } = read(
    init(["git_find", "git_log"]),
    said("m1", text("Let me look")),
    said("m1", toolUse("mcp__tools__git_find", { text: "naïve" })),
    { type: "user", message: { content: [{ type: "tool_result", content: "denied" }] } },
    said("m1", toolUse("mcp__tools__git_log")),
    said("m1", { type: "tool_use", id: "toolu_3", name: "WebSearch" }),
    said("m2", text("I may not")),
    result(),
  );
  assert.deepEqual(calls, [
    { name: "git_find", arguments: { text: "naïve" } },
    { name: "git_log", arguments: {} },
    { name: "WebSearch", arguments: {} },
  ]);
  assert.equal(reasoning, "Let me look");
});

Deno.test("ClaudeTranscript.calls leaves out what follows the refusal to run a tool", () => {
  const { calls } = read(
    said("m1", toolUse("mcp__tools__git_log")),
    said("m2", toolUse("mcp__tools__git_find")),
    result(),
  );
  assert.deepEqual(calls.map(({ name }) => name), ["git_log"]);
});

Deno.test("ClaudeTranscript.calls leaves out those of agents below", () => {
  const below = { ...said("m1", toolUse("mcp__tools__git_log")), parent_tool_use_id: "toolu_1" };
  assert.deepEqual(read(below).calls, []);
});

Deno.test("ClaudeTranscript keeps what the CLI says by itself apart from its model's words", () => {
  const own = read(said("x", text("/compact is not available"), "<synthetic>"), result());
  assert.equal(own.hasModelAnswered, false);
  assert.equal(own.ownWords, "/compact is not available");
  assert.equal(own.model, undefined);
  assert.equal(own.reasoning, "");
  const heard = read(said("m1", text("No tool fits")), result());
  assert.equal(heard.hasModelAnswered, true);
  assert.equal(heard.model, "claude-x");
  assert.deepEqual([heard.calls, heard.reasoning], [[], "No tool fits"]);
});

Deno.test("ClaudeTranscript.cost is all input with what was cached, from the result", () => {
  assert.deepEqual(read(result()).cost, { inputTokens: 321, outputTokens: 4, costUsd: 0.25 });
  assert.deepEqual(read().cost, { inputTokens: 0, outputTokens: 0 });
  assert.deepEqual(read(result({ usage: undefined, total_cost_usd: undefined })).cost, {
    inputTokens: 0,
    outputTokens: 0,
  });
});

Deno.test("ClaudeTranscript.cost has no price where the CLI knows none for the model", () => {
  assert.deepEqual(read(result({ total_cost_usd: 0 })).cost, { inputTokens: 321, outputTokens: 4 });
  assert.deepEqual(read(result({ usage: undefined, total_cost_usd: 0 })).cost, {
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
  });
});

Deno.test("ClaudeTranscript.isListed() is about the server of the run", () => {
  const transcript = read(init(["git_find"], "failed"));
  assert.equal(transcript.serverStatus, "failed");
  assert.equal(transcript.isListed("git_find"), true);
  assert.equal(transcript.isListed("find"), false);
  assert.equal(transcript.isListed("mcp__tools__git_find"), false);
  assert.equal(read().isListed("git_find"), false);
});

Deno.test("ClaudeTranscript.read() passes over garbage", () => {
  const transcript = read(
    "",
    "[warn] something",
    "[1,2]",
    "null",
    '{"type":"result"}',
    '{"type":"assistant","message":{"content":"text"}}',
    '{"type":"res',
  );
  assert.equal(transcript.hasModelAnswered, false);
  assert.equal(transcript.result?.result, undefined);
  transcript.read(JSON.stringify(result()));
  assert.equal(transcript.result?.result, "Done");
});

Deno.test("ClaudeTranscript.reasoning has a limit", () => {
  const { reasoning } = read(said("m1", text("x".repeat(10_000))));
  assert.equal(reasoning.length, 4_000);
});

Deno.test("notStartedWords() says how to get the CLI, where to name it, and what else there is", () => {
  const words = startProblem("claude", { isMissing: true, reason: "" });
  assert.match(words, /^the claude CLI was not found on PATH \(looked for "claude"\)\. /);
  assert.match(words, /npm install -g @anthropic-ai\/claude-code/);
  assert.match(words, /--claude-path PATH/);
  assert.match(words, /--evaluator messages-api$/);
  const elsewhere = startProblem("/opt/claude", { isMissing: true, reason: "" });
  assert.match(elsewhere, /^the claude CLI was not found at "\/opt\/claude"\. Install it/);
});

Deno.test("notStartedWords() gives the system's reason where the CLI is there", () => {
  assert.equal(
    startProblem("claude", { isMissing: false, reason: "permission denied" }),
    "the claude CLI cannot be started: permission denied",
  );
});
