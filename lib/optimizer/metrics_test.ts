import assert from "node:assert/strict";
import fc from "fast-check";
import { CATEGORIES } from "../core/optimization.ts";
import {
  countRuns,
  emptyCategoryWarnings,
  percent,
  rateOf,
  scoreText,
  shortScore,
  specMetrics,
  wilson,
} from "./metrics.ts";
import { aFailedRun, aPrompt, aRun } from "./testing/runs.ts";

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
