import assert from "node:assert/strict";
import { EvalRun, type GoldenPrompt } from "../../core/optimization.ts";
import { somePrompts } from "../testing/weather.ts";
import { suspectPrompts } from "./labels.ts";

const all = somePrompts();
const direct = all.find(({ category }) => category === "direct")!;
const negative = all.find(({ category }) => category === "negative")!;

function run(
  prompt: GoldenPrompt,
  { hash, called, instead, model = "one" }: {
    hash: string;
    called: boolean;
    instead?: string;
    model?: string;
  },
): EvalRun {
  return EvalRun.parse({
    id: crypto.randomUUID(),
    server: prompt.server,
    toolName: prompt.toolName,
    candidateId: hash,
    promptId: prompt.id,
    promptVersion: prompt.version,
    timestamp: "2026-01-01T00:00:00.000Z",
    status: "ok",
    result: {
      toolCalled: called,
      correct: called === prompt.expectedBehavior.shouldCallTool,
      durationMs: 1,
    },
    calls: instead === undefined
      ? []
      : [{ name: `weather_${instead}`, server: prompt.server, tool: instead, arguments: {} }],
    evaluator: "claude-cli",
    askedModel: model,
    descriptionHash: hash,
  });
}

Deno.test("suspectPrompts() names prompts that every description fails, and what speaks for another label", () => {
  const found = suspectPrompts(all, [
    run(direct, { hash: "a", called: false, instead: "get_alerts" }),
    run(direct, { hash: "b", called: false, instead: "get_alerts" }),
    run(negative, { hash: "a", called: true }),
    run(negative, { hash: "b", called: true }),
  ]);
  assert.deepEqual(found.map(({ id, why, proposal }) => ({ id, why, proposal })), [
    {
      id: direct.id,
      why: "the tool was never called, in 2 runs with 2 descriptions; mostly get_alerts was",
      proposal: { category: "negative", expectedTool: "get_alerts" },
    },
    {
      id: negative.id,
      why: "the tool was always called, in 2 runs with 2 descriptions",
      proposal: { category: "direct" },
    },
  ]);
});

Deno.test("suspectPrompts() leaves alone what one description passes, what only one was tried with, older versions and confirmed labels", () => {
  const failing = (prompt: GoldenPrompt) =>
    ["a", "b"].map((hash) => run(prompt, { hash, called: false }));
  const passed = [...failing(direct), run(direct, { hash: "c", called: true })];
  assert.deepEqual(suspectPrompts(all, passed), []);
  assert.deepEqual(suspectPrompts(all, failing(direct).slice(0, 1)), []);
  assert.deepEqual(suspectPrompts([{ ...direct, version: 2 }], failing(direct)), []);
  assert.deepEqual(suspectPrompts([{ ...direct, isConfirmed: true }], failing(direct)), []);
  assert.equal(suspectPrompts([direct], failing(direct)).length, 1);
});

Deno.test("suspectPrompts() names prompts that models disagree on", () => {
  const [found] = suspectPrompts(all, [
    ...["a", "b"].map((hash) => run(direct, { hash, called: true, model: "one" })),
    ...["a", "b"].map((hash) => run(direct, { hash, called: false, model: "two" })),
  ]);
  assert.equal(found?.why, "models disagree: one 2/2 right, two 0/2 right");
});
