import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { CATEGORIES, type PromptCategory, Thresholds } from "../../core/optimization.ts";
import { noMetrics, type PromptPair } from "./metrics.ts";
import {
  judge,
  leastDeciding,
  missingCategories,
  thresholdRules,
  type VerdictInput,
} from "./verdict.ts";

const DEFAULTS = Thresholds.parse({});

/** For each category, how many prompts each side has right, of how many. */
type Counts = Partial<Record<PromptCategory, [after: number, before: number, of: number]>>;

/** The candidate is right on the first ones, the baseline too, each prompt asked `repeats` times. */
function pairsOf(counts: Counts, repeats = 1): PromptPair[] {
  return CATEGORIES.flatMap((category) => {
    const [after, before, of] = counts[category] ?? [0, 0, 0];
    return Array.from({ length: of }, (_, index) => ({
      promptId: `${category}${index}`,
      category,
      candidate: { correct: index < after ? repeats : 0, total: repeats },
      baseline: { correct: index < before ? repeats : 0, total: repeats },
    }));
  });
}

function inputOf(pairs: PromptPair[], more: Partial<VerdictInput> = {}): VerdictInput {
  const sums = { candidate: noMetrics(), baseline: noMetrics() };
  for (const pair of pairs) {
    for (const side of ["candidate", "baseline"] as const) {
      for (const sum of [sums[side][pair.category], sums[side].overall]) {
        sum.correct += pair[side].correct;
        sum.total += pair[side].total;
      }
    }
  }
  return { depth: "quick", ...sums, thresholds: DEFAULTS, thefts: [], pairs, ...more };
}

function failedRules(input: VerdictInput): string[] {
  return judge(input).rules.filter(({ passed }) => !passed).map(({ rule }) => rule);
}

const good: Counts = { direct: [5, 3, 5], indirect: [4, 1, 5], negative: [5, 5, 5] };

Deno.test("judge() promotes what is better, and says on what evidence", () => {
  const verdict = judge(inputOf(pairsOf(good)));
  assert.equal(verdict.promote, true);
  assert.equal(
    verdict.words,
    "Promote: quick evidence from 15 prompts (5 direct, 5 indirect, 5 negative; 30 runs of both descriptions): " +
      "overall 14/15 (93 %, 95 % interval 70-99 %), before 9/15 (60 %, 95 % interval 36-80 %).",
  );
  assert.deepEqual(verdict.rules.map(({ rule }) => rule), [
    "evidence",
    "overall",
    "negative",
    "improvement",
    "regression",
    "siblings",
  ]);
});

Deno.test("judge() says which rule failed and by how much", () => {
  const verdict = judge(
    inputOf(pairsOf({ direct: [5, 0, 5], indirect: [3, 0, 5], negative: [8, 8, 10] })),
  );
  assert.equal(verdict.promote, false);
  assert.equal(verdict.moreRuns, undefined);
  assert.match(
    verdict.words,
    /^Do not promote: overall 16\/20 \(80 %\) is below the 85 % minimum \(17 needed\); quick evidence/,
  );
});

Deno.test("judge() does not promote without negative prompts, and says so", () => {
  const input = inputOf(pairsOf({ direct: [5, 0, 5], indirect: [5, 0, 5] }));
  const verdict = judge(input);
  assert.equal(verdict.promote, false);
  assert.deepEqual(failedRules(input), ["evidence"]);
  assert.equal(verdict.rules.some(({ rule }) => rule === "negative"), false);
  assert.match(
    verdict.words,
    /not enough evidence: 10 more runs needed; no negative prompts were tested/,
  );
  assert.equal(verdict.moreRuns, 10);
});

Deno.test("judge() does not promote on negative prompts alone, nor on nothing", () => {
  assert.deepEqual(failedRules(inputOf(pairsOf({ negative: [9, 0, 9] }))), ["evidence"]);
  const nothing = judge(inputOf([]));
  assert.equal(nothing.promote, false);
  assert.equal(nothing.moreRuns, 30);
  assert.match(nothing.words, /no prompts were tested.*quick evidence from 0 prompts/);
});

Deno.test("judge() compares only prompts that were put to both descriptions", () => {
  const input = inputOf(pairsOf(good));
  // The baseline failed to run on what the candidate has right, and the other way round.
  const lone = { ...input, candidate: { ...input.candidate, direct: { correct: 9, total: 9 } } };
  assert.match(judge(lone).words, /overall 14\/15 .*/);
  assert.match(
    judge(lone).words,
    /30 runs of both descriptions, 4 without a counterpart not counted\)/,
  );
  const unpaired = judge({ ...input, pairs: [] });
  assert.equal(unpaired.promote, false);
  assert.match(unpaired.words, /not enough evidence: 30 more runs needed/);
});

Deno.test("judge() never promotes on reported runs, and says which are missing", () => {
  const input = inputOf(pairsOf(good), { isReported: true });
  assert.deepEqual(failedRules(input), ["evidence"]);
  assert.equal(judge(input).moreRuns, undefined, "no number of reports would do");
  assert.match(judge(input).words, /reported by a client, not measured by the gateway/);
  const lone = { ...input, candidate: { ...input.candidate, direct: { correct: 7, total: 7 } } };
  assert.deepEqual(failedRules(lone), ["evidence"]);
  assert.equal(judge(lone).moreRuns, 2);
  assert.match(judge(lone).words, /incomplete: 2 runs without a counterpart/);
});

Deno.test("judge() refuses a thief and says whose prompts it takes", () => {
  const thefts = [{ tool: "get_current", stolen: 2, of: 3 }];
  const verdict = judge(inputOf(pairsOf(good), { thefts }));
  assert.equal(verdict.promote, false);
  assert.match(
    verdict.words,
    /steals 2 of 3 prompts meant for "get_current"/,
  );
});

Deno.test("judge() wants more than thresholds of a thorough evaluation", () => {
  // Better on 4 prompts and worse on none: p = 0.0625; on 5: 0.03125.
  const four: Counts = { direct: [5, 3, 5], indirect: [5, 3, 5], negative: [5, 5, 5] };
  const five: Counts = { direct: [5, 2, 5], indirect: [5, 3, 5], negative: [5, 5, 5] };
  const thorough = (counts: Counts) => inputOf(pairsOf(counts, 3), { depth: "thorough" });
  assert.equal(judge(inputOf(pairsOf(four, 3))).promote, true);
  assert.deepEqual(failedRules(thorough(four)), ["significance"]);
  const verdict = judge(thorough(five));
  assert.equal(verdict.promote, true);
  assert.match(
    verdict.words,
    /thorough evidence from 15 prompts .*; better on 5 prompts, worse on 0, .*\(p = 0\.032\)\.$/,
  );
});

Deno.test("judge() says that a thorough evaluation lacks prompts, not repeats", () => {
  const counts: Counts = { direct: [5, 3, 5], indirect: [5, 3, 5], negative: [5, 5, 5] };
  const verdict = judge(inputOf(pairsOf(counts, 3), { depth: "thorough" }));
  // 4 of 15 are better: 19 prompts would have 5, each asked 3 times on both sides.
  assert.deepEqual([verdict.moreRuns, verdict.morePrompts], [4 * 6, 4]);
  assert.match(
    verdict.words,
    /: 4 more prompts hidden from .* \(24 runs\) needed; better on 4 prompts/,
  );
  assert.match(verdict.words, /p = 0\.063, at most 0\.05 needed/);
});

Deno.test("judge() promises no number of runs where none would help", () => {
  // As many better as worse, each by another amount.
  const pairs = pairsOf({ direct: [0, 0, 4], indirect: [5, 5, 5], negative: [5, 5, 5] }, 3)
    .map((pair, index) => {
      if (pair.category !== "direct") return pair;
      const [candidate, baseline] = index % 2 === 0 ? [3, 0] : [2, 3];
      return {
        ...pair,
        candidate: { correct: candidate, total: 3 },
        baseline: { correct: baseline, total: 3 },
      };
    });
  const input = inputOf(pairs, { depth: "thorough" });
  assert.deepEqual(failedRules(input), ["significance"]);
  assert.equal(judge(input).moreRuns, undefined);
  assert.match(judge(input).words, /^Do not promote: better on 2 prompts, worse on 2/);
});

Deno.test("judge() would be satisfied by the runs that it asks for, and by no fewer", () => {
  const count = fc.integer({ min: 0, max: 12 });
  fc.assert(fc.property(count, count, (better, same) => {
    const counts: Counts = {
      direct: [better + same, same, better + same],
      indirect: [1, 1, 1],
      negative: [5, 5, 5],
    };
    const input = inputOf(pairsOf(counts), { depth: "thorough" });
    const { promote, moreRuns } = judge(input);
    if (promote || moreRuns === undefined) return;
    assert.ok(better > 0 && better < 5);
    const prompts = input.pairs.length;
    const betterAfter = (more: number) => Math.floor(better * (prompts + more) / prompts + 1e-9);
    assert.ok(betterAfter(moreRuns / 2) >= 5);
    assert.ok(betterAfter(moreRuns / 2 - 1) < 5);
  }));
});

Deno.test("judge() applies the spec's rule on counts", () => {
  const rule = (counts: Counts, thresholds = DEFAULTS) =>
    judge(inputOf(pairsOf(counts), { thresholds })).promote;
  assert.equal(rule(good), true);
  // Each rule by itself.
  assert.equal(rule({ direct: [5, 0, 5], indirect: [2, 0, 5], negative: [5, 5, 5] }), false);
  assert.equal(rule({ direct: [9, 0, 9], indirect: [9, 0, 9], negative: [3, 3, 5] }), false);
  assert.equal(rule({ direct: [5, 5, 5], indirect: [5, 5, 5], negative: [5, 5, 5] }), false);
  assert.equal(rule({ direct: [9, 0, 9], indirect: [9, 0, 9], negative: [4, 5, 5] }), false);
  assert.equal(rule({ direct: [9, 0, 9], indirect: [9, 0, 9], negative: [9, 9, 10] }), true);
  assert.equal(rule({ direct: [5, 0, 5], indirect: [5, 0, 5] }), false);
  assert.equal(rule(good, { ...DEFAULTS, minOverall: 1 }), false);
});

Deno.test("judge() promotes in quick exactly what the spec's rule allows", () => {
  const of = fc.integer({ min: 0, max: 6 }).chain((total) => {
    const correct = fc.integer({ min: 0, max: total });
    return fc.tuple(correct, correct, fc.constant(total));
  });
  fc.assert(fc.property(of, of, of, (direct, indirect, negative) => {
    const input = inputOf(pairsOf({ direct, indirect, negative }));
    const verdict = judge(input);
    const { candidate, baseline } = input;
    const isAllowed = missingCategories(candidate, baseline).length === 0 &&
      thresholdRules(candidate, baseline, DEFAULTS).every(({ passed }) => passed);
    assert.equal(verdict.promote, isAllowed);
    assert.equal(verdict.promote, verdict.rules.every(({ passed }) => passed));
    assert.match(verdict.words, /quick evidence from \d+ prompts? /);
  }));
});

Deno.test("judge() lets several candidates share what chance may explain, and says so", () => {
  // 5 better and none worse: p = 0.03125.
  const pairs = pairsOf({ direct: [5, 2, 5], indirect: [5, 3, 5], negative: [5, 5, 5] });
  const alone = judge(inputOf(pairs, { depth: "thorough" }));
  assert.equal(alone.promote, true);
  const among = judge(inputOf(pairs, { depth: "thorough", candidates: 4 }));
  assert.equal(among.promote, false);
  assert.match(
    among.words,
    /p = 0\.0313, at most 0\.0125 needed because 4 candidates share 0\.05/,
  );
});

Deno.test("judge() has intervals over prompts, not over runs", () => {
  const { words } = judge(inputOf(pairsOf(good, 3), { depth: "thorough" }));
  assert.match(words, /overall 42\/45 runs \(93 %, 95 % interval 70-99 %\)/);
});

Deno.test("judge() says what was shown beside the server's own tools", () => {
  const words = (beside: number) => judge(inputOf(pairsOf(good), { beside })).words;
  assert.match(
    words(12),
    /; 30 runs of both descriptions; alongside 12 tools of other servers\): overall 14/,
  );
  assert.match(words(1), /; 30 runs of both descriptions; alongside 1 tool of another server\)/);
  assert.doesNotMatch(words(0), /beside/);
});

Deno.test("leastDeciding() is how many prompts have to be better at least", () => {
  // One in 16 by chance, one in 32.
  assert.equal(leastDeciding(1), 5);
  assert.equal(leastDeciding(4), 7);
});
