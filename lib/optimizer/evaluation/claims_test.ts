import assert from "node:assert/strict";
import { CATEGORIES } from "../../core/optimization.ts";
import { alphaForAll, claimsOf, ClaimTest, type TrialModel } from "./claims.ts";
import {
  type Attempt,
  nextAction,
  type Trial,
  TRIAL_LIMITS,
  type TrialPrompt,
} from "./procedure.ts";
import { logEvidence } from "./evidence.ts";

const TWO: TrialModel[] = [{ id: "sonnet", family: "claude" }, { id: "gpt-5", family: "gpt" }];

Deno.test("claimsOf() spends no more on several families than on one model", () => {
  const spent = (models: TrialModel[]) =>
    claimsOf(models, 0.024).reduce((sum, { needed }) => sum + Math.exp(-needed), 0);
  assert.ok(Math.abs(spent([TWO[0]!]) - 0.024) < 1e-12);
  assert.ok(Math.abs(spent(TWO) - 0.024) < 1e-12);
  const three = [...TWO, { id: "gemini", family: "gemini" }];
  assert.ok(Math.abs(spent(three) - 0.024) < 1e-12);
  assert.ok(Math.abs(alphaForAll(three, 0.024) - 0.012) < 1e-12);
});

Deno.test("claimsOf() claims for families only where there are several, and one that is known", () => {
  const familiesOf = (models: TrialModel[]) =>
    claimsOf(models, 0.03).map(({ family, models }) => [family, models.length]);
  assert.deepEqual(familiesOf([TWO[0]!]), [[undefined, 1]]);
  assert.deepEqual(familiesOf([TWO[0]!, { id: "opus", family: "claude" }]), [[undefined, 2]]);
  assert.deepEqual(familiesOf([{ id: "own" }, { id: "another" }]), [[undefined, 2]]);
  assert.deepEqual(familiesOf([...TWO, { id: "own" }]), [
    [undefined, 3],
    ["claude", 1],
    ["gpt", 1],
  ]);
  const apart = claimsOf([TWO[0]!], 0.03, new Set(["claude"]));
  assert.deepEqual(apart, [{ family: "claude", models: ["sonnet"], needed: -Math.log(0.03) }]);
});

Deno.test("a prompt counts once, whatever the number of models, and never for more than their mean", () => {
  const [claim] = claimsOf(TWO, 0.024);
  const of = (results: [number, number][]) => {
    const test = new ClaimTest(claim!, 1, TRIAL_LIMITS);
    for (const [one, another] of results) {
      test.add("direct", [[[one, 0], [another, 0]]]);
    }
    return test;
  };
  const both = of(Array.from({ length: 8 }, () => [1, 1]));
  assert.equal(both.gains()[0]!.prompts, 8);
  const alone = { wins: 8, losses: 0, ties: 0 };
  // The other kind has no prompts yet, and a third of the weight.
  assert.ok(Math.abs(both.log - Math.log(2 / 3 * Math.exp(logEvidence(alone)) + 1 / 3)) < 1e-9);
  const half = of(Array.from({ length: 8 }, () => [1, 0]));
  assert.ok(half.log > 0 && half.log < both.log);
  const missing = new ClaimTest(claim!, 1, TRIAL_LIMITS);
  missing.add("direct", [[[1, 0], [null, 0]]]);
  assert.equal(missing.gains()[0]!.prompts, 0, "one of the models did not answer");
  assert.equal(missing.gainsOf("sonnet")[0]!.prompts, 1);
});

/** Rates of each description with each model: on prompts for the tool, and on others. */
type Rates = Record<string, Record<string, [own: number, others: number]>>;

function play(rates: Rates, more: Partial<Trial> = {}): {
  end: Attempt;
  asked: Map<string, number>;
  /** Descriptions with the models that were asked. */
  runs: Set<string>;
} {
  const fresh: TrialPrompt[] = Array.from(
    { length: 90 },
    (_, at) => CATEGORIES.map((category) => ({ id: `${category}-${at}`, category })),
  ).flat();
  const scores = new Map<string, number>();
  const asked = new Map<string, number>();
  const runs = new Set<string>();
  const trial: Trial = {
    models: TWO,
    candidates: ["new"],
    baselines: ["canonical"],
    alpha: 0.03,
    screen: [],
    fresh,
    isClosed: true,
    limits: TRIAL_LIMITS,
    score: (description, { id }, model) => scores.get(`${description} ${id} ${model}`),
    ...more,
  };
  for (;;) {
    const action = nextAction(trial);
    if (action.kind === "end") return { end: action.attempts[0]!, asked, runs };
    assert.equal(action.kind, "run");
    if (action.kind !== "run") continue;
    const { prompt: { id, category } } = action;
    for (const { description, model } of action.runs) {
      const [own, others] = rates[description]![model]!;
      const place = (Number(/\d+$/.exec(id)![0]) * 0.6180339 + description.length * 0.17) % 1;
      const isRight = place < (category === "negative" ? others : own);
      scores.set(`${description} ${id} ${model}`, Number(isRight));
      runs.add(`${description} ${model}`);
      asked.set(model, (asked.get(model) ?? 0) + 1);
    }
  }
}

Deno.test("a gain with both models is confirmed for all", () => {
  const { end, asked } = play({
    canonical: { sonnet: [0.4, 1], "gpt-5": [0.5, 1] },
    new: { sonnet: [1, 1], "gpt-5": [1, 1] },
  });
  assert.deepEqual([end.outcome, end.families], ["confirmed", undefined]);
  assert.equal(asked.get("sonnet"), asked.get("gpt-5"));
  const gains = end.models!.map(({ model, gains }) => [model, gains.canonical!.mean > 0.2]);
  assert.deepEqual(gains, [["sonnet", true], ["gpt-5", true]]);
});

Deno.test("a gain with one model is confirmed for all only if the other loses nothing", () => {
  const unchanged = play({
    canonical: { sonnet: [0.3, 1], "gpt-5": [1, 1] },
    new: { sonnet: [1, 1], "gpt-5": [1, 1] },
  });
  assert.deepEqual([unchanged.end.outcome, unchanged.end.families], ["confirmed", undefined]);
  const worse = play({
    canonical: { sonnet: [0.3, 1], "gpt-5": [1, 1] },
    new: { sonnet: [1, 1], "gpt-5": [0.6, 1] },
  });
  assert.deepEqual([worse.end.outcome, worse.end.families], ["confirmed", ["claude"]]);
  assert.ok(worse.end.gains.canonical!.mean > 0.4, "the gain is that of the family");
  assert.ok(worse.asked.get("gpt-5")! <= worse.asked.get("sonnet")!);
});

Deno.test("no gain is confirmed for anybody where there is none, or where each model is harmed", () => {
  const equal = play({
    canonical: { sonnet: [0.7, 1], "gpt-5": [0.7, 1] },
    new: { sonnet: [0.7, 1], "gpt-5": [0.7, 1] },
  });
  assert.deepEqual([equal.end.outcome, equal.end.families], ["no-gain", undefined]);
  const thief = play({
    canonical: { sonnet: [0.4, 1], "gpt-5": [0.4, 1] },
    new: { sonnet: [1, 0.5], "gpt-5": [1, 0.5] },
  });
  assert.deepEqual([thief.end.outcome, thief.end.families], ["harm", undefined]);
});

Deno.test("a family's claim is about what that family's clients get", () => {
  const ofFamily = new Map([["gpt", "gpt's own"]]);
  const rates = {
    canonical: { sonnet: [1, 1], "gpt-5": [0.3, 1] },
    new: { sonnet: [0.6, 1], "gpt-5": [1, 1] },
  } satisfies Rates;
  const better = play({ ...rates, "gpt's own": { "gpt-5": [0.5, 1] } }, { ofFamily });
  assert.deepEqual([better.end.outcome, better.end.families], ["confirmed", ["gpt"]]);
  assert.deepEqual(Object.keys(better.end.gains), ["canonical", "gpt's own"]);
  assert.equal(better.runs.has("gpt's own sonnet"), false);
  const { end } = play({ ...rates, "gpt's own": { "gpt-5": [1, 1] } }, { ofFamily });
  assert.deepEqual([end.outcome, end.families], ["harm", undefined]);
});

Deno.test("with models of one family, a test is about what its clients get", () => {
  const models = TWO.slice(0, 1);
  const more = {
    models,
    baselines: ["canonical", "own"],
    ofFamily: new Map([["claude", "own"]]),
  };
  const rates = { canonical: { sonnet: [0.3, 1] }, own: { sonnet: [0.4, 1] } } satisfies Rates;
  const { end } = play({ ...rates, new: { sonnet: [1, 1] } }, more);
  assert.deepEqual([end.outcome, end.families], ["confirmed", ["claude"]]);
  const none = play({ ...rates, new: { sonnet: [0.4, 1] } }, more).end;
  assert.deepEqual([none.outcome, none.families], ["no-gain", undefined]);
});
