import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { CATEGORIES } from "../../core/optimization.ts";
import {
  averageGain,
  countRuns,
  emptyCategoryWarnings,
  gainOf,
  gainPoints,
  pairedSigns,
  pairRuns,
  percent,
  type PromptPair,
  rateOf,
  scoreText,
  shortScore,
  specMetrics,
  wilson,
} from "./metrics.ts";
import { aFailedRun, aPrompt, aRun } from "../testing/runs.ts";

const score = fc.integer({ min: 0, max: 3_000 }).chain((total) =>
  fc.record({ correct: fc.integer({ min: 0, max: total }), total: fc.constant(total) })
);

Deno.test("countRuns() counts a run under its prompt's category", () => {
  const [direct, negative] = [aPrompt("d", "direct"), aPrompt("n", "negative")];
  const runs = [aRun(direct, true), aRun(direct, false), aRun(negative, true)];
  assert.deepEqual(countRuns(runs, [direct, negative]), {
    direct: { correct: 1, total: 2, prompts: 1 },
    indirect: { correct: 0, total: 0 },
    negative: { correct: 1, total: 1 },
    overall: { correct: 2, total: 3, prompts: 2 },
  });
});

Deno.test("countRuns() leaves out errors, other prompts and other versions", () => {
  const negative = aPrompt("n", "negative");
  const edited = aPrompt("n", "negative", { version: 2 });
  const runs = [
    aFailedRun(negative),
    aRun(edited, true),
    aRun(aPrompt("other", "direct"), true),
  ];
  assert.deepEqual(countRuns(runs, [negative]).overall, { correct: 0, total: 0 });
  assert.deepEqual(countRuns(runs, [negative, edited]).negative, { correct: 1, total: 1 });
});

Deno.test("countRuns() has the sum of the categories as overall", () => {
  const prompts = CATEGORIES.map((category) => aPrompt(category, category));
  const run = fc.tuple(fc.constantFrom(...prompts), fc.boolean(), fc.boolean());
  fc.assert(fc.property(fc.array(run, { maxLength: 40 }), (plan) => {
    const metrics = countRuns(
      plan.map(([prompt, isOk, correct]) => isOk ? aRun(prompt, correct) : aFailedRun(prompt)),
      prompts,
    );
    const sum = (key: "correct" | "total") =>
      CATEGORIES.reduce((total, category) => total + metrics[category][key], 0);
    assert.equal(metrics.overall.total, plan.filter(([, isOk]) => isOk).length);
    assert.equal(metrics.overall.correct, sum("correct"));
    assert.equal(metrics.overall.total, sum("total"));
  }));
});

Deno.test("rateOf() has no rate without runs", () => {
  assert.equal(rateOf({ correct: 0, total: 0 }), null);
  assert.equal(rateOf({ correct: 0, total: 4 }), 0);
  assert.equal(rateOf({ correct: 3, total: 4 }), 0.75);
});

Deno.test("wilson() gives the published values", () => {
  // Newcombe 1998, table I: method 3.
  const cases = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const;
  for (const [correct, total, low, high] of cases) {
    const interval = wilson({ correct, total });
    assert.equal(interval?.low.toFixed(4), low.toFixed(4));
    assert.equal(interval?.high.toFixed(4), high.toFixed(4));
  }
  assert.equal(wilson({ correct: 0, total: 0 }), undefined);
});

Deno.test("wilson() holds the rate, stays within 0 and 1, and mirrors", () => {
  fc.assert(fc.property(score, ({ correct, total }) => {
    const interval = wilson({ correct, total });
    if (total === 0) return assert.equal(interval, undefined);
    assert.ok(interval);
    const rate = correct / total;
    assert.ok(0 <= interval.low && interval.low <= rate);
    assert.ok(rate <= interval.high && interval.high <= 1);
    const mirrored = wilson({ correct: total - correct, total });
    assert.ok(mirrored && Math.abs(mirrored.low - (1 - interval.high)) < 1e-12);
  }));
});

Deno.test("wilson() takes repeats of a prompt for no further evidence", () => {
  const once = wilson({ correct: 13, total: 15 });
  assert.deepEqual(wilson({ correct: 39, total: 45, prompts: 15 }), once);
  assert.notDeepEqual(wilson({ correct: 39, total: 45 }), once);
});

Deno.test("scoreText() says counts, rate and interval", () => {
  assert.equal(scoreText({ correct: 13, total: 15 }), "13/15 (87 %, 95 % interval 62-96 %)");
  assert.equal(scoreText({ correct: 5, total: 5 }), "5/5 (100 %, 95 % interval 57-100 %)");
  assert.equal(scoreText({ correct: 0, total: 0 }), "no data");
  assert.equal(shortScore({ correct: 13, total: 15 }), "13/15 (87 %)");
  assert.equal(shortScore({ correct: 0, total: 0 }), "no data");
});

Deno.test("percent() shows all and none only where it is so", () => {
  assert.equal(percent({ correct: 0, total: 0 }), "no data");
  assert.equal(percent({ correct: 199, total: 200 }), "99 %");
  assert.equal(percent({ correct: 1, total: 300 }), "1 %");
  fc.assert(fc.property(score, (counts) => {
    assert.equal(percent(counts) === "no data", counts.total === 0);
    assert.equal(percent(counts) === "100 %", counts.total > 0 && counts.correct === counts.total);
    assert.equal(percent(counts) === "0 %", counts.total > 0 && counts.correct === 0);
  }));
});

Deno.test("emptyCategoryWarnings() names each category that nothing asks about", () => {
  const prompts = [aPrompt("d", "direct"), aPrompt("n", "negative", { retired: true })];
  const warnings = emptyCategoryWarnings(prompts);
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? "", /^Warning: No indirect prompts defined - /);
  assert.match(warnings[1] ?? "", /^Warning: No negative prompts defined - .*no data/);
  assert.deepEqual(emptyCategoryWarnings(CATEGORIES.map((kind) => aPrompt(kind, kind))), []);
});

Deno.test("specMetrics() has null, not 0, for an empty category", () => {
  assert.deepEqual(
    specMetrics({
      direct: { correct: 1, total: 2 },
      indirect: { correct: 0, total: 0 },
      negative: { correct: 0, total: 2 },
      overall: { correct: 1, total: 4 },
    }),
    { directSuccess: 0.5, indirectSuccess: null, negativeSuccess: 0, overall: 0.25 },
  );
});

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

Deno.test("pairedSigns() counts prompts, not runs, and compares their rates", () => {
  const pairs = [
    pairOf([3, 3], [0, 3]),
    pairOf([1, 3], [2, 3]),
    // One half is one half, however often it was asked.
    pairOf([1, 2], [2, 4]),
    pairOf([2, 3], [1, 2]),
  ];
  assert.deepEqual(pairedSigns(pairs), { better: 2, worse: 1, ties: 1 });
  assert.deepEqual(pairedSigns([]), { better: 0, worse: 0, ties: 0 });
});

Deno.test("gainOf() has Newcombe's interval, and nothing without data", () => {
  // The example of his paper: 56/70 against 48/80, 0.0524 to 0.3339.
  const gain = gainOf({ correct: 48, total: 80 }, { correct: 56, total: 70 });
  assert.deepEqual(
    [gain?.mean, gain?.low, gain?.high].map((value) => value?.toFixed(4)),
    ["0.2000", "0.0524", "0.3339"],
  );
  assert.equal(gainOf({ correct: 0, total: 0 }, { correct: 1, total: 2 }), undefined);
  assert.equal(gainOf(undefined, { correct: 1, total: 2 }), undefined);
});

Deno.test("gainPoints() never shows a gain without its interval", () => {
  assert.equal(
    gainPoints({ mean: 0.08, low: -0.04, high: 0.21 }),
    "+8 points (95 % interval -4 to 21)",
  );
  assert.equal(gainPoints({ mean: 0, low: -0.001, high: 0.1 }), "0 points (95 % interval 0 to 10)");
});

Deno.test("averageGain() is more certain than each of its parts", () => {
  const one = { mean: 0.2, low: 0.1, high: 0.3 };
  const four = averageGain([one, one, one, one]);
  assert.deepEqual(
    [four?.mean, four?.low, four?.high].map((value) => value?.toFixed(3)),
    ["0.200", "0.150", "0.250"],
  );
  assert.equal(averageGain([]), undefined);
});
