import assert from "node:assert/strict";
import fc from "../../../tests/fast_check.ts";
import { CATEGORIES, type Depth, type GoldenPrompt, Thresholds } from "../../core/optimization.ts";
import { theftsOf } from "./confusion.ts";
import { countRuns, pairRuns } from "./metrics.ts";
import { aFailedRun, aPrompt, aRun } from "../testing/runs.ts";
import { judge, type VerdictInput } from "./verdict.ts";
import { canStillChange } from "./early_stop.ts";

const SIDES = ["candidate", "baseline"] as const;
const OUTCOMES = ["correct", "wrong", "error"] as const;

/** One run that was made, or that is to come. */
interface Slot {
  prompt: GoldenPrompt;
  side: typeof SIDES[number];
  state: typeof OUTCOMES[number] | "left";
}

function inputOf(slots: readonly Slot[], depth: Depth, thresholds: Thresholds): VerdictInput {
  const prompts = [...new Set(slots.map(({ prompt }) => prompt))];
  const runsOf = (wanted: Slot["side"]) =>
    slots.filter(({ side, state }) => side === wanted && state !== "left")
      .map(({ prompt, state }) =>
        state === "error" ? aFailedRun(prompt) : aRun(prompt, state === "correct")
      );
  const [candidate, baseline] = [runsOf("candidate"), runsOf("baseline")];
  return {
    depth,
    thresholds,
    candidate: countRuns(candidate, prompts),
    baseline: countRuns(baseline, prompts),
    thefts: theftsOf(candidate, baseline, prompts),
    pairs: pairRuns(candidate, baseline, prompts),
  };
}

function leftOf(slots: readonly Slot[]) {
  const count = (side: Slot["side"], category: GoldenPrompt["category"]) =>
    slots.filter((slot) =>
      slot.state === "left" && slot.side === side && slot.prompt.category === category
    ).length;
  const of = (side: Slot["side"]) => ({
    direct: count(side, "direct"),
    indirect: count(side, "indirect"),
    negative: count(side, "negative"),
  });
  return { candidate: of("candidate"), baseline: of("baseline") };
}

function promptsOf(slots: readonly Slot[]) {
  const prompts = [...new Set(slots.map(({ prompt }) => prompt))];
  const count = (category: GoldenPrompt["category"]) =>
    prompts.filter((prompt) => prompt.category === category).length;
  return {
    direct: count("direct"),
    indirect: count("indirect"),
    negative: count("negative"),
  };
}

/** Whether what is left could change the verdict. */
function isOpen(slots: readonly Slot[], input: VerdictInput): boolean {
  return canStillChange({ ...input, left: leftOf(slots), prompts: promptsOf(slots) });
}

/** Every way in which what is left can go. */
function* endings(slots: readonly Slot[]): Generator<Slot[]> {
  const index = slots.findIndex(({ state }) => state === "left");
  const slot = slots[index];
  if (!slot) return yield [...slots];
  for (const state of OUTCOMES) yield* endings(slots.with(index, { ...slot, state }));
}

/** As many prompts in each category, each asked once on both sides. */
function evenly(
  each: number,
  stateOf: (slot: Omit<Slot, "state">, index: number) => Slot["state"],
) {
  return CATEGORIES.flatMap((category) =>
    Array.from({ length: each }, (_, index) => {
      const prompt = aPrompt(`${category}${index}`, category);
      return SIDES.map((side) => ({ prompt, side, state: stateOf({ prompt, side }, index) }));
    }).flat()
  );
}

const promptKinds = fc.array(
  fc.record({
    category: fc.constantFrom(...CATEGORIES),
    isSiblings: fc.boolean(),
    repeats: fc.constantFrom(1, 1, 2),
    // A good candidate and a bad baseline, for the most part: else hardly anything is promoted.
    states: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 4, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 9 },
);

const slotsOf = promptKinds.map((kinds) =>
  kinds.flatMap(({ category, isSiblings, repeats, states }, index) => {
    const expectedBehavior = category === "negative"
      ? { shouldCallTool: false, ...(isSiblings ? { expectedTool: "get_current" } : {}) }
      : { shouldCallTool: true };
    const prompt = aPrompt(`p${index}`, category, { expectedBehavior });
    return SIDES.flatMap((side, which) =>
      Array.from({ length: repeats }, (_, repeat): Slot => {
        const draw = states[2 * which + repeat] ?? 0;
        const isUsual = draw < 6;
        const state = draw === 9 ? "error" : draw === 8 ? "left" : isUsual ? "correct" : "wrong";
        const isBadSide = side === "baseline" && category !== "negative";
        if (!isBadSide || state === "error" || state === "left") return { prompt, side, state };
        return { prompt, side, state: isUsual ? "wrong" : "correct" };
      })
    );
  })
).filter((slots) => slots.filter(({ state }) => state === "left").length <= 5);

const fraction = fc.constantFrom(0, 0.05, 0.1, 0.5, 0.8, 0.85, 1);
const thresholdsOf = fc.record({
  minOverall: fraction,
  minNegative: fraction,
  minImprovement: fraction,
  maxRegression: fraction,
});

for (const depth of ["quick", "thorough"] as const) {
  Deno.test(`canStillChange() says no only where no ${depth} ending promotes otherwise`, () => {
    fc.assert(
      fc.property(slotsOf, thresholdsOf, (slots, thresholds) => {
        const input = inputOf(slots, depth, thresholds);
        if (isOpen(slots, input)) return;
        const { promote } = judge(input);
        for (const ending of endings(slots)) {
          assert.equal(judge(inputOf(ending, depth, thresholds)).promote, promote);
        }
      }),
      { numRuns: 1_500 },
    );
  });
}

Deno.test("canStillChange() says no where nothing is left", () => {
  fc.assert(fc.property(slotsOf, (slots) => {
    const done = slots.filter(({ state }) => state !== "left");
    const input = inputOf(done, "thorough", Thresholds.parse({}));
    assert.equal(isOpen(done, input), false);
  }));
});

Deno.test("canStillChange() gives up a candidate that can no longer reach the threshold", () => {
  // 13 of 15 are needed: 3 mistakes are too many, 2 are not.
  const after = (mistakes: number) => {
    const slots = evenly(5, ({ prompt, side }, index) => {
      if (index >= 3) return "left";
      const isMistake = prompt.category === "direct" && index < mistakes;
      return side === "baseline" || isMistake ? "wrong" : "correct";
    });
    const input = inputOf(slots, "quick", Thresholds.parse({}));
    return isOpen(slots, input);
  };
  assert.equal(after(2), true);
  assert.equal(after(3), false);
});

Deno.test("canStillChange() stops for a promotion that nothing can undo", () => {
  const slots = evenly(10, ({ prompt, side }, index) => {
    if (prompt.category === "direct" && index === 9) return "left";
    return side === "candidate" || prompt.category === "negative" ? "correct" : "wrong";
  });
  for (const depth of ["quick", "thorough"] as const) {
    const input = inputOf(slots, depth, Thresholds.parse({}));
    assert.equal(judge(input).promote, true);
    assert.equal(isOpen(slots, input), false);
  }
});

/** Better on so many direct prompts, the same on all others but one, which is to come. */
function withBetter(better: number): Slot[] {
  return evenly(10, ({ prompt, side }, index) => {
    if (prompt.category === "indirect" && index === 9) return "left";
    const isBetter = prompt.category === "direct" && index < better;
    return side === "candidate" || !isBetter ? "correct" : "wrong";
  });
}

function canExactTestChange(slots: Slot[]): boolean {
  const input = inputOf(slots, "thorough", Thresholds.parse({ minImprovement: 0 }));
  return isOpen(slots, input);
}

Deno.test("canStillChange() goes on while the exact test can turn either way", () => {
  // 5 better and none worse pass; one more that is worse, and they do not.
  assert.equal(canExactTestChange(withBetter(4)), true);
  assert.equal(canExactTestChange(withBetter(5)), true);
  assert.equal(canExactTestChange(withBetter(2)), false);
  assert.equal(canExactTestChange(withBetter(9)), false);
});

Deno.test("canStillChange() knows that one run can turn a prompt from worse to better", () => {
  const direct = (id: string) => aPrompt(id, "direct");
  const pair = (prompt: GoldenPrompt, candidate: Slot["state"][], baseline: Slot["state"][]) => [
    ...candidate.map((state): Slot => ({ prompt, side: "candidate", state })),
    ...baseline.map((state): Slot => ({ prompt, side: "baseline", state })),
  ];
  // 6 better, 2 worse: p = 0.145. 7 and 1: 0.035. 7 and 2: 0.09.
  const slots = [
    ...withBetter(6).filter(({ state }) => state !== "left"),
    ...pair(direct("worse"), ["wrong"], ["correct"]),
    ...pair(direct("open"), ["wrong", "left"], ["correct", "wrong", "wrong"]),
  ];
  assert.equal(canExactTestChange(slots), true);
});

Deno.test("canStillChange() counts no more prompts than there are, however often they are asked", () => {
  // Four prompts decide: all better is p = 0.063, though many runs are to come.
  const direct = ["a", "b", "c"].map((id) => aPrompt(id, "direct"));
  const prompts = [...direct, aPrompt("n", "negative")];
  const slots = [0, 1, 2].flatMap((repeat) =>
    prompts.flatMap((prompt) =>
      SIDES.map((side): Slot => ({
        prompt,
        side,
        state: repeat > 0 ? "left" : side === "candidate" ? "correct" : "wrong",
      }))
    )
  );
  assert.equal(canExactTestChange(slots), false);
  const fifth = aPrompt("i", "indirect");
  const more = SIDES.map((side): Slot => ({ prompt: fifth, side, state: "left" }));
  assert.equal(canExactTestChange([...slots, ...more]), true);
});
