import assert from "node:assert/strict";
import { planRuns } from "./selection.ts";
import { aPrompt } from "../testing/runs.ts";

Deno.test("planRuns() asks all descriptions one prompt before the next, what counts first", () => {
  const plan = planRuns({
    candidateIds: ["canonical", "one"],
    prompts: [
      aPrompt("d1", "direct"),
      aPrompt("d2", "direct"),
      aPrompt("i1", "indirect"),
      aPrompt("n1", "negative"),
    ],
    otherPrompts: [aPrompt("n2", "negative")],
    siblingPrompts: [aPrompt("s1", "negative", { toolName: "other" })],
    repeats: 2,
  });
  assert.deepEqual(
    plan.map(({ candidateId, prompt, repeat }) => `${repeat} ${prompt.id} ${candidateId}`),
    [["d1", "i1", "n1", "d2"], ["n2", "s1"]].flatMap((phase) =>
      [0, 1].flatMap((repeat) =>
        phase.flatMap((id) => [`${repeat} ${id} canonical`, `${repeat} ${id} one`])
      )
    ),
  );
  assert.deepEqual(
    plan.filter(({ isSibling }) => isSibling).map(({ prompt }) => prompt.id),
    ["s1", "s1", "s1", "s1"],
  );
});

Deno.test("planRuns() plans nothing without prompts", () => {
  const input = { candidateIds: ["canonical"], prompts: [], siblingPrompts: [], repeats: 3 };
  assert.deepEqual(planRuns(input), []);
});
