import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { type CategoryScores, type SuccessCount, Thresholds } from "../../core/optimization.ts";
import { noMetrics, pointsText } from "./metrics.ts";
import { missingCategories, thresholdRules } from "./verdict.ts";

const DEFAULTS = Thresholds.parse({});

type Three = [direct: [number, number], indirect: [number, number], negative: [number, number]];

function metricsOf(...scores: Three): CategoryScores {
  const [direct, indirect, negative] = scores.map(([correct, total]): SuccessCount => ({
    correct,
    total,
  }));
  assert.ok(direct && indirect && negative);
  return {
    direct,
    indirect,
    negative,
    overall: {
      correct: direct.correct + indirect.correct + negative.correct,
      total: direct.total + indirect.total + negative.total,
    },
  };
}

function ruleOf(
  rule: string,
  candidate: CategoryScores,
  baseline: CategoryScores,
  thresholds = DEFAULTS,
) {
  return thresholdRules(candidate, baseline, thresholds).find((one) => one.rule === rule);
}

const poor = metricsOf([0, 5], [0, 5], [5, 10]);

Deno.test("thresholdRules() passes 17 of 20 at 85 % and not 16", () => {
  const enough = ruleOf("overall", metricsOf([5, 5], [4, 5], [8, 10]), poor);
  assert.deepEqual(enough, {
    rule: "overall",
    passed: true,
    words: "overall 17/20 (85 %) meets the 85 % minimum",
  });
  const short = ruleOf("overall", metricsOf([5, 5], [3, 5], [8, 10]), poor);
  assert.deepEqual(short, {
    rule: "overall",
    passed: false,
    words: "overall 16/20 (80 %) is below the 85 % minimum (17 needed)",
  });
});

Deno.test("thresholdRules() is not decided by a float's rounding", () => {
  // 0.1 + 0.2 is a hair above 0.3, 0.55 - 0.5 a hair above 0.05, 0.85 - 0.8 a hair below it.
  const thresholds = { ...DEFAULTS, minOverall: 0.1 + 0.2 };
  assert.equal(
    ruleOf("overall", metricsOf([3, 5], [0, 0], [0, 5]), poor, thresholds)?.passed,
    true,
  );
  const gained = metricsOf([5, 5], [4, 5], [8, 10]);
  assert.equal(ruleOf("improvement", gained, metricsOf([5, 5], [3, 5], [8, 10]))?.passed, true);
  for (let before = 0; before <= 95; before++) {
    const [low, high] = [metricsOf([before, 100], [0, 0], [0, 0]), before + 5];
    const passes = (correct: number) =>
      ruleOf("improvement", metricsOf([correct, 100], [0, 0], [0, 0]), low)?.passed;
    assert.deepEqual([passes(high), passes(high - 1)], [true, false], `${before} of 100`);
  }
});

Deno.test("thresholdRules() says by how much the gain is short, or that there is no room", () => {
  const same = metricsOf([5, 5], [3, 5], [8, 10]);
  assert.equal(
    ruleOf("improvement", same, same)?.words,
    "overall 16/20 (80 %) is not 5 points above the 16/20 (80 %) of " +
      "the server's own description (17 needed)",
  );
  const perfect = metricsOf([5, 5], [5, 5], [10, 10]);
  assert.match(ruleOf("improvement", perfect, perfect)?.words ?? "", /too close to the maximum/);
});

Deno.test("thresholdRules() allows a loss of exactly the limit in a category, and no more", () => {
  const before = metricsOf([9, 10], [2, 10], [10, 10]);
  const fine = ruleOf("regression", metricsOf([8, 10], [9, 10], [9, 10]), before);
  assert.equal(fine?.passed, true);
  const worse = ruleOf("regression", metricsOf([7, 10], [9, 10], [8, 10]), before);
  assert.equal(worse?.passed, false);
  assert.equal(
    worse?.words,
    "direct 7/10 (70 %) is more than 10 points below the " +
      "9/10 (90 %) of the server's own description (8 needed); " +
      "negative 8/10 (80 %) is more than 10 points below the " +
      "10/10 (100 %) of the server's own description (9 needed)",
  );
});

Deno.test("thresholdRules() neither passes nor fails a rule without data", () => {
  const candidate = metricsOf([5, 5], [5, 5], [0, 0]);
  assert.equal(ruleOf("negative", candidate, candidate), undefined);
  assert.match(
    ruleOf("regression", candidate, candidate)?.words ?? "",
    /\(no data on negative prompts\)$/,
  );
  assert.deepEqual(thresholdRules(noMetrics(), noMetrics(), DEFAULTS), []);
});

Deno.test("missingCategories() wants negative prompts and some that should call the tool", () => {
  const full = metricsOf([5, 5], [5, 5], [5, 5]);
  assert.deepEqual(missingCategories(full, full), []);
  assert.deepEqual(missingCategories(metricsOf([5, 5], [0, 0], [5, 5]), full), []);
  assert.deepEqual(missingCategories(full, metricsOf([5, 5], [5, 5], [0, 0])), ["negative"]);
  assert.deepEqual(missingCategories(metricsOf([0, 0], [0, 0], [5, 5]), full), [
    "direct",
    "indirect",
  ]);
});

Deno.test("pointsText() is short", () => {
  assert.equal(pointsText(0.1 + 0.2), "30 points");
  assert.equal(pointsText(1 / 15), "6.7 points");
  assert.equal(pointsText(0.01), "1 point");
});

Deno.test("thresholdRules() agrees with whole-number arithmetic and with its own words", () => {
  const score = fc.integer({ min: 1, max: 300 }).chain((total) =>
    fc.tuple(fc.integer({ min: 0, max: total }), fc.constant(total))
  );
  const three = fc.tuple(score, score, score);
  const hundredths = fc.integer({ min: 0, max: 100 });
  fc.assert(fc.property(three, three, hundredths, hundredths, (after, before, limit, gain) => {
    const [candidate, baseline] = [metricsOf(...after), metricsOf(...before)];
    const thresholds = { ...DEFAULTS, minOverall: limit / 100, minImprovement: gain / 100 };
    const [c, t] = [BigInt(candidate.overall.correct), BigInt(candidate.overall.total)];
    const [b, bt] = [BigInt(baseline.overall.correct), BigInt(baseline.overall.total)];
    const overall = ruleOf("overall", candidate, baseline, thresholds);
    assert.equal(overall?.passed, c * 100n >= BigInt(limit) * t);
    const improvement = ruleOf("improvement", candidate, baseline, thresholds);
    assert.equal(improvement?.passed, (c * bt - b * t) * 100n >= BigInt(gain) * t * bt);
    // As many correct as the words say, and no fewer, would pass.
    const needed = BigInt(/(\d+) needed/.exec(overall?.words ?? "")?.[1] ?? c);
    assert.equal(needed > c, !overall?.passed);
    assert.ok(needed * 100n >= BigInt(limit) * t);
    if (needed > c) assert.ok((needed - 1n) * 100n < BigInt(limit) * t);
  }));
});
