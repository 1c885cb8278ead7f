import assert from "node:assert/strict";
import fc from "fast-check";
import { exactTest, pairRuns, type PromptPair, signTest } from "./paired_exact.ts";
import { aFailedRun, aPrompt, aRun } from "./testing/runs.ts";

function pairOf(candidate: [number, number], baseline: [number, number]): PromptPair {
  return {
    promptId: crypto.randomUUID(),
    category: "direct",
    candidate: { correct: candidate[0], total: candidate[1] },
    baseline: { correct: baseline[0], total: baseline[1] },
  };
}

Deno.test("pairRuns() keeps only prompts that both descriptions answered", () => {
  const [both, failed, lone] = [
    aPrompt("a", "direct"),
    aPrompt("b", "indirect"),
    aPrompt("c", "negative"),
  ];
  const candidate = [aRun(both, true), aRun(both, false), aRun(failed, true), aRun(lone, true)];
  const baseline = [aRun(both, false), aFailedRun(failed)];
  assert.deepEqual(pairRuns(candidate, baseline, [both, failed, lone]), [{
    promptId: "a",
    category: "direct",
    candidate: { correct: 1, total: 2 },
    baseline: { correct: 0, total: 1 },
  }]);
});

Deno.test("pairRuns() does not pair different versions of a prompt", () => {
  const [first, second] = [aPrompt("a", "direct"), aPrompt("a", "direct", { version: 2 })];
  assert.deepEqual(pairRuns([aRun(second, true)], [aRun(first, true)], [first, second]), []);
});

Deno.test("exactTest() counts prompts, not runs, and compares their rates", () => {
  const pairs = [
    pairOf([3, 3], [0, 3]),
    pairOf([1, 3], [2, 3]),
    // One half is one half, however often it was asked.
    pairOf([1, 2], [2, 4]),
    pairOf([2, 3], [1, 2]),
  ];
  assert.deepEqual(exactTest(pairs), { better: 2, worse: 1, ties: 1, p: 0.5 });
  assert.deepEqual(exactTest([]), { better: 0, worse: 0, ties: 0, p: 1 });
});

Deno.test("signTest() gives the binomial tail", () => {
  assert.equal(signTest(4, 0), 1 / 16);
  assert.equal(signTest(5, 0), 1 / 32);
  assert.equal(signTest(7, 1), 9 / 256);
  assert.equal(signTest(0, 5), 1);
  // Too large for floats on the way.
  assert.ok(Math.abs(signTest(1_500, 1_500) - 0.5073) < 1e-4);
});

Deno.test("signTest() agrees with counting all outcomes", () => {
  const count = fc.integer({ min: 0, max: 6 });
  fc.assert(fc.property(count, count, (better, worse) => {
    const n = better + worse;
    let hits = 0;
    for (let outcome = 0; outcome < 1 << n; outcome++) {
      const ones = outcome.toString(2).replaceAll("0", "").length;
      if (ones >= better) hits++;
    }
    assert.equal(signTest(better, worse), hits / (1 << n));
  }));
});

Deno.test("signTest() falls with each better prompt and rises with each worse one", () => {
  const count = fc.integer({ min: 0, max: 200 });
  fc.assert(fc.property(count, count, (better, worse) => {
    const p = signTest(better, worse);
    assert.ok(p >= 0 && p <= 1);
    assert.ok(signTest(better + 1, worse) <= p);
    assert.ok(signTest(better, worse + 1) >= p);
  }));
});
