import assert from "node:assert/strict";
import type { ComparisonOptions, TaskRun } from "../../core/task_comparison.ts";
import {
  comparisonCsv,
  comparisonResult,
  differenceText,
  meanDifference,
  successText,
} from "./result.ts";

const options: ComparisonOptions = {
  setups: ["direct", "gateway"],
  repeats: 2,
  view: "inline",
  allowDestructive: false,
  maxTurns: 5,
  timeoutMs: 10_000,
};
const tasks = ["a", "b"].map((name) => ({ name, prompt: name, checks: [{ contains: "x" }] }));

function runOf(
  task: string,
  setup: string,
  status: TaskRun["status"],
  inputTokens: number,
  more: Partial<TaskRun> = {},
): TaskRun {
  return {
    comparison: "c",
    task,
    setup,
    repeat: 0,
    at: "2026-11-18T00:00:00.000Z",
    status,
    answer: "",
    calls: [],
    turns: 2,
    durationMs: 1_000,
    cost: { inputTokens, outputTokens: 1 },
    ...more,
  };
}

Deno.test("comparisonResult() counts tasks, leaves out errors, and pairs by task", () => {
  const { setups: [direct, gateway], differences: [difference], tasks: [a] } = comparisonResult(
    { options, tasks },
    [
      runOf("a", "direct", "success", 100),
      runOf("a", "direct", "failure", 100, { repeat: 1 }),
      runOf("b", "direct", "success", 300),
      runOf("a", "gateway", "success", 50),
      runOf("b", "gateway", "success", 150),
      runOf("b", "gateway", "error", 9_999, { repeat: 1 }),
    ],
  );
  assert.deepEqual(direct?.success, { correct: 2, total: 3, prompts: 2 });
  assert.equal(gateway?.errors, 1);
  assert.match(successText(gateway!), /^2\/2 runs .* 1 error$/);
  assert.equal(gateway?.means.inputTokens, 100);
  assert.equal(gateway?.means.costUsd, null, "an unknown cost is not free");
  assert.equal(difference?.tasks, 2);
  // Of means of tasks: -50 and -150.
  assert.equal(difference?.measures.inputTokens?.mean, -100);
  assert.equal(difference?.measures.costUsd, null);
  assert.deepEqual(a, {
    task: "a",
    setups: [
      { setup: "direct", correct: 1, total: 2 },
      { setup: "gateway", correct: 1, total: 1 },
    ],
  });
});

Deno.test("a task that one set-up has no runs of is in no difference", () => {
  const { differences: [difference] } = comparisonResult({ options, tasks }, [
    runOf("a", "direct", "success", 100),
    runOf("b", "gateway", "success", 100),
  ]);
  assert.deepEqual([difference?.tasks, difference?.success], [0, null]);
});

Deno.test("meanDifference() has an interval from two tasks on, by Student's t", () => {
  assert.equal(meanDifference([]), null);
  assert.deepEqual(meanDifference([4]), { mean: 4, low: null, high: null });
  const { mean, low, high } = meanDifference([1, 2, 3])!;
  assert.equal(mean, 2);
  // 4.303 / sqrt(3)
  assert.ok(Math.abs(high! - 4.484) < 0.001 && Math.abs(low! + 0.484) < 0.001, `${low} ${high}`);
  assert.equal(
    differenceText("turns", { mean: -1, low: -2, high: 0.5 }),
    "-1.0 (95 % interval -2.0 to +0.5)",
  );
  assert.equal(differenceText("turns", { mean: 0, low: 0, high: 0.01 }).slice(0, 8), "0.0 (95 ");
  assert.match(differenceText("costUsd", { mean: 2, low: null, high: null }), /^\+\$2\.00 \(one/);
});

Deno.test("comparisonCsv() has a line for each run", () => {
  const csv = comparisonCsv([
    runOf("a", "direct", "failure", 1, {
      reason: "no, it was not",
      calls: [{ tool: "s.t", failed: true }],
    }),
  ]);
  assert.match(csv, /\na,direct,1,failure,"no, it was not",2,1000,1,1,,s\.t \(failed\)\n$/);
});
