import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { CATEGORIES, type PromptCategory, Thresholds } from "../../core/optimization.ts";
import { estimateGain } from "./evidence.ts";
import { noMetrics, type PromptPair } from "./metrics.ts";
import type { Attempt, AttemptOutcome } from "./procedure.ts";
import {
  confirmedVerdict,
  isRefuted,
  judge,
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

Deno.test("judge() proposes what is better, promotes nothing, and says on what evidence", () => {
  const verdict = judge(inputOf(pairsOf(good)));
  assert.deepEqual([verdict.promote, verdict.proposed], [false, true]);
  assert.equal(
    verdict.words,
    "Proposed, not confirmed: quick evidence from 15 prompts (5 direct, 5 indirect, 5 negative; 30 " +
      "runs of both descriptions): overall 14/15 (93 %, 95 % interval 70-99 %), before 9/15 (60 %, " +
      "95 % interval 36-80 %), gain +33.3 points (95 % interval 3 to 58). Evaluate it at the depth " +
      "thorough to confirm it on prompts that nobody has seen.",
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
  assert.equal(verdict.proposed, undefined);
  assert.match(
    verdict.words,
    /steals 2 of 3 prompts meant for "get_current"/,
  );
});

Deno.test("judge() applies the spec's rule on counts", () => {
  const rule = (counts: Counts, thresholds = DEFAULTS) =>
    judge(inputOf(pairsOf(counts), { thresholds })).proposed ?? false;
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

Deno.test("judge() proposes exactly what the spec's rule allows", () => {
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
    assert.equal(verdict.promote, false);
    assert.equal(verdict.proposed ?? false, isAllowed);
    assert.equal(verdict.proposed ?? false, verdict.rules.every(({ passed }) => passed));
    assert.match(verdict.words, /quick evidence from \d+ prompts? /);
  }));
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

Deno.test("judge() tolerates that a model strays now and then, also the other way", () => {
  const of = (stolen: number, returned: number, of: number) =>
    judge(inputOf(pairsOf(good), { thefts: [{ tool: "x", stolen, returned, of }] })).proposed;
  assert.equal(of(1, 0, 4), true);
  assert.equal(of(3, 2, 8), true);
  assert.equal(of(2, 0, 8), undefined);
});

function attemptOf(outcome: AttemptOutcome): Attempt {
  const gain = { mean: 0.33, low: 0.05, high: 0.6, prompts: 15 };
  return {
    candidate: "good",
    outcome,
    gains: { canonical: gain },
    prompts: [],
    log: 4.5,
    needed: 3.7,
  };
}

function confirmed(counts: Counts, outcome: AttemptOutcome, more: Partial<VerdictInput> = {}) {
  const input = inputOf(pairsOf(counts), { depth: "thorough", ...more });
  return confirmedVerdict({ ...input, attempt: attemptOf(outcome), morePrompts: 30 });
}

Deno.test("confirmedVerdict() promotes what fresh prompts confirmed, with the interval of the gain", () => {
  const verdict = confirmed(good, "confirmed");
  assert.deepEqual([verdict.promote, verdict.confirmed], [true, true]);
  assert.match(
    verdict.words,
    /^Promote: confirmed, thorough evidence from 15 prompts .*, gain \+33 points \(95 % interval 5 to 60\), with each category counted alike\.$/,
  );
  assert.match(
    verdict.rules[0]!.words,
    /better on 5 prompts, .* \(evidence 90 to 1, 40 to 1 needed\)/,
  );
});

Deno.test("confirmedVerdict() says how a gain is weighted that is not the difference of the rates", () => {
  // Siblings' prompts are most of what was asked: 73 to 100 % of all, but none to all of its own.
  const pairs = pairsOf({ direct: [3, 0, 3], indirect: [3, 0, 3], negative: [16, 16, 16] });
  const [own, others] = [{ wins: 6, losses: 0, ties: 0 }, { wins: 0, losses: 0, ties: 16 }];
  const attempt: Attempt = {
    ...attemptOf("confirmed"),
    gains: {
      canonical: { mean: 0.9, low: 0, high: 1, prompts: 22 },
      inForce: estimateGain([own, others]),
    },
  };
  const input = { ...inputOf(pairs, { depth: "thorough" }), attempt, morePrompts: 30 };
  const { words, gain, gainOver } = confirmedVerdict(input);
  assert.match(
    words,
    /overall 22\/22 .*before 16\/22 \(73 %.*gain \+66.7 points \(.*\), with each category counted alike, over the promoted description/,
  );
  assert.deepEqual([gain?.mean, gainOver], [2 / 3, "the promoted description"]);
});

Deno.test("confirmedVerdict() leaves a confirmed gain below the thresholds to a person, and says so", () => {
  const crowded: Counts = { direct: [8, 6, 10], indirect: [5, 2, 10], negative: [9, 9, 10] };
  const verdict = confirmed(crowded, "confirmed");
  assert.deepEqual([verdict.promote, verdict.proposed, verdict.confirmed], [false, true, true]);
  assert.match(
    verdict.words,
    /^Better, but not by your thresholds: overall 22\/30 .* below the 85 % minimum.*A person can accept it\.$/,
  );
  assert.equal(isRefuted(verdict), false);
});

Deno.test("confirmedVerdict() refuses what was not confirmed, and tells what would if it is open", () => {
  for (const outcome of ["no-gain", "harm"] as const) {
    const verdict = confirmed(good, outcome);
    assert.deepEqual([verdict.promote, verdict.proposed], [false, undefined]);
    assert.equal(isRefuted(verdict), true);
  }
  const open = confirmed(good, "undecided");
  assert.deepEqual([open.promote, open.moreRuns, open.morePrompts], [false, 60, 30]);
  assert.match(open.words, /not enough evidence: .* About 30 more prompts would tell\.$/);
  assert.equal(isRefuted(open), false);
});

Deno.test("confirmedVerdict() refuses what takes most of one sibling's prompts, few as they are of all", () => {
  const of = (stolen: number) =>
    confirmed(good, "confirmed", {
      thefts: [{ tool: "x", stolen, of: 4 }, { tool: "y", stolen: 0, of: 36 }],
    });
  assert.equal(of(2).promote, true);
  const six = (stolen: number) =>
    confirmed(good, "confirmed", { thefts: [{ tool: "x", stolen, of: 6 }] }).promote;
  assert.deepEqual([six(2), six(3)], [true, false]);
  assert.deepEqual([of(3).promote, of(3).confirmed, isRefuted(of(3))], [false, false, true]);
  assert.match(of(3).words, /^Do not promote: steals 3 of 4 prompts meant for "x"; /);
});

Deno.test("confirmedVerdict() applies the rules that compare to the description in force as well", () => {
  const same = pairsOf({ direct: [5, 5, 5], indirect: [5, 5, 5], negative: [5, 5, 5] });
  const verdict = confirmed(good, "confirmed", { inForce: same });
  assert.equal(verdict.promote, false);
  assert.match(verdict.words, /of the promoted one/);
});
