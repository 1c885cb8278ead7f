import assert from "node:assert/strict";
import { JobOptions } from "../core/optimization.ts";
import { choiceFlag, jobOptionsOf, numberFlag } from "./optimize_flags.ts";

const given = (flags: Record<string, string | boolean>) => ({
  flags: new Map(Object.entries(flags)),
});

Deno.test("jobOptionsOf() says only what the flags say", () => {
  assert.deepEqual(jobOptionsOf(given({})), {});
  const options = jobOptionsOf(given({
    depth: "thorough",
    candidates: "2",
    prompts: "3",
    repeats: "4",
    threshold: "92.5",
    "max-runs": "100",
    "max-cost": "1.50",
    "no-promote": true,
    "with-toolset": true,
  }));
  assert.deepEqual(options, {
    depth: "thorough",
    candidatesPerTool: 2,
    promptsPerCategory: 3,
    repeats: 4,
    thresholds: { minOverall: 0.925, minNegative: 0.8, minImprovement: 0.05, maxRegression: 0.1 },
    maxRuns: 100,
    maxCostUsd: 1.5,
    autoPromote: false,
    withToolset: true,
  });
  assert.ok(JobOptions.safeParse(options).success);
});

Deno.test("jobOptionsOf() refuses what no job takes, and says what one takes", () => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ candidates: "0" }, /Cannot use --candidates 0; give a whole number from 1 to 10/],
    [{ candidates: "11" }, /--candidates 11/],
    [{ prompts: "2.5" }, /Cannot use --prompts 2\.5; give a whole number from 1 to 50/],
    [{ threshold: "101" }, /--threshold 101; give a number from 0 to 100/],
    [{ threshold: "85%" }, /--threshold 85%/],
    [{ repeats: "-1" }, /--repeats -1/],
    [{ "max-cost": "0" }, /--max-cost 0/],
    [{ "max-runs": "1e3" }, /--max-runs 1e3/],
    [{ depth: "deep" }, /Cannot use --depth deep; give one of quick, thorough/],
  ];
  for (const [flags, message] of wrong) {
    assert.throws(() => jobOptionsOf(given(flags)), { code: "CONFIG_INVALID", message });
  }
});

Deno.test("numberFlag() and choiceFlag() leave what was not given to others", () => {
  assert.equal(numberFlag(given({}), "n", { min: 1, max: 2 }), undefined);
  assert.equal(numberFlag(given({ n: "2" }), "n", { min: 1, max: 2 }), 2);
  assert.equal(choiceFlag(given({}), "format", ["a"]), undefined);
});
