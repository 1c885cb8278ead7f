import assert from "node:assert/strict";
import { inPageWords } from "./optimization_problem_words.ts";

Deno.test("inPageWords() says where a person finds what a step names for models", () => {
  assert.equal(
    inPageWords('Call evaluate_candidate for "cand_1"'),
    'Use Evaluate (in the tool\'s candidates) for "cand_1"',
  );
  assert.equal(
    inPageWords("Take the id from what optimize_tools answered, or list the jobs"),
    "Take the id from what Optimize answered, or list the jobs",
  );
  assert.equal(inPageWords("Start another one"), "Start another one");
});
