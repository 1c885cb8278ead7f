import assert from "node:assert/strict";
import {
  type Evaluation,
  JobOptions,
  Thresholds,
  type ToolCandidate,
  type Verdict,
} from "../../core/optimization.ts";
import {
  chooseCandidates,
  chooseHeldOut,
  choosePrompts,
  chooseSiblingPrompts,
  firstWritten,
  heldOutFrom,
  heldOutVersions,
  missingPrompts,
  wantedPrompts,
} from "./selection.ts";
import { nearestSiblings } from "../targets.ts";
import { aPrompt } from "../testing/runs.ts";
import { somePrompts } from "../testing/weather.ts";
import { noMetrics } from "./metrics.ts";

const quick = JobOptions.parse({ depth: "quick" });
const thorough = JobOptions.parse({ depth: "thorough" });

Deno.test("wantedPrompts() asks a few of all in quick, and fresh ones beside a screening in thorough", () => {
  assert.deepEqual(wantedPrompts(quick, [], 4).direct, { all: 5, heldOut: 0 });
  assert.deepEqual(wantedPrompts(thorough, [], 4).negative, { all: 22, heldOut: 12 });
  assert.deepEqual(wantedPrompts(thorough, [], 1).negative, { all: 12, heldOut: 12 });
  const five = JobOptions.parse({ depth: "thorough", promptsPerCategory: 5 });
  assert.deepEqual(wantedPrompts(five, [], 4).direct, { all: 15, heldOut: 5 });
});

Deno.test("wantedPrompts() wants what there is where nothing may be written", () => {
  const options = JobOptions.parse({ depth: "quick", generate: false });
  const saved = somePrompts(8).filter(({ category }) => category !== "indirect");
  assert.equal(wantedPrompts(options, saved, 1).direct.all, 8);
  assert.equal(wantedPrompts(options, saved, 1).indirect.all, 0);
  const three = JobOptions.parse({ depth: "quick", generate: false, promptsPerCategory: 3 });
  assert.equal(wantedPrompts(three, saved, 1).direct.all, 3);
  const closed = JobOptions.parse({ depth: "thorough", generate: false });
  assert.deepEqual(wantedPrompts(closed, saved, 1).direct, { all: 8, heldOut: 8 });
  assert.deepEqual(wantedPrompts(closed, saved, 4).direct, { all: 8, heldOut: 5 });
});

Deno.test("missingPrompts() counts what is not there, held out or not", () => {
  const wanted = wantedPrompts(thorough, [], 4);
  assert.deepEqual(missingPrompts(somePrompts(5), wanted).direct, { all: 17, heldOut: 12 });
  assert.deepEqual(missingPrompts(somePrompts(12), wanted).direct, { all: 12, heldOut: 12 });
  const heldOut = somePrompts(5, { heldOut: true });
  assert.deepEqual(missingPrompts(heldOut, wanted).direct, { all: 17, heldOut: 7 });
  assert.deepEqual(missingPrompts(somePrompts(9), wantedPrompts(quick, [], 4)).direct, {
    all: 0,
    heldOut: 0,
  });
});

Deno.test("choosePrompts() prefers what people wrote, and takes all that are fresh", () => {
  const saved = [
    ...["a", "b", "c"].map((id) => aPrompt(id, "direct", { origin: "generated" })),
    aPrompt("mine", "direct", { origin: "person" }),
    ...["x", "y", "z"].map((id) => aPrompt(id, "direct", { origin: "generated", heldOut: true })),
  ];
  const none = { all: 0, heldOut: 0 };
  const wanted = { direct: { all: 4, heldOut: 2 }, indirect: none, negative: none };
  assert.deepEqual(choosePrompts(saved, wanted).map(({ id }) => id), ["x", "y", "z", "mine", "a"]);
});

Deno.test("chooseHeldOut() chooses the same ones in whatever order", () => {
  const prompts = somePrompts(4);
  const chosen = chooseHeldOut(prompts, 5).map(({ id }) => id);
  assert.equal(chosen.length, 5);
  assert.deepEqual(chooseHeldOut(prompts.toReversed(), 5).map(({ id }) => id), chosen);
});

const JANUARY = "2026-01-15T00:00:00.000Z";
const FEBRUARY = "2026-02-01T00:00:00.000Z";
const MARCH = "2026-03-01T00:00:00.000Z";

Deno.test("heldOutVersions() holds out only what was written after all candidates", () => {
  const wanted = wantedPrompts(thorough, [], 4);
  const saved = somePrompts(5);
  const none = new Map<string, number>();
  assert.equal(heldOutVersions(saved, wanted, [], none).length, 15);
  assert.equal(heldOutVersions(saved, wantedPrompts(quick, [], 4), [], none).length, 0);
  for (const origin of ["generated", "caller", "person"] as const) {
    const candidates = [{ origin, createdAt: FEBRUARY }];
    assert.deepEqual(heldOutVersions(saved, wanted, candidates, none), []);
    const [late] = heldOutVersions(
      [...saved, aPrompt("late", "direct", { createdAt: MARCH })],
      wanted,
      candidates,
      none,
    );
    assert.deepEqual([late?.id, late?.version, late?.heldOut], ["late", 2, true]);
  }
});

Deno.test("heldOutVersions() does not take an edited prompt for one that nobody has seen", () => {
  const saved = somePrompts(12);
  const edited = saved.map((prompt) => ({ ...prompt, version: 2, createdAt: MARCH }));
  const writtenAt = firstWritten([...saved, ...edited]);
  const candidates = [{ origin: "generated" as const, createdAt: FEBRUARY }];
  const wanted = wantedPrompts(thorough, edited, 4);
  assert.deepEqual(heldOutVersions(edited, wanted, candidates, writtenAt), []);
});

Deno.test("heldOutFrom() counts what a caller or a person may have known as seen", () => {
  const saved = [
    aPrompt("early", "direct", { heldOut: true, createdAt: JANUARY }),
    aPrompt("late", "direct", { heldOut: true, createdAt: MARCH }),
  ];
  const heldOut = (origin: "generated" | "caller" | "person") =>
    heldOutFrom(saved, [{ origin, createdAt: FEBRUARY }], firstWritten(saved))
      .filter((prompt) => prompt.heldOut).map(({ id }) => id);
  assert.deepEqual(heldOut("generated"), ["early", "late"]);
  assert.deepEqual(heldOut("caller"), ["late"]);
  assert.deepEqual(heldOut("person"), ["late"]);
});

function aCandidate(id: string, description = `Description ${id}`): ToolCandidate {
  return {
    id,
    server: "weather",
    toolName: "get_forecast",
    description,
    charCount: description.length,
    createdAt: "2026-01-01T00:00:00.000Z",
    origin: "caller",
  };
}

function anEvaluation(candidateId: string, verdict: Partial<Verdict>, more = {}): Evaluation {
  return {
    id: "evaluation",
    server: "weather",
    toolName: "get_forecast",
    depth: "quick",
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:00:00.000Z",
    evaluator: "claude-cli",
    thresholds: Thresholds.parse({}),
    prompts: { direct: 1, indirect: 1, negative: 1 },
    repeats: 1,
    results: [{
      candidateId,
      description: "",
      metrics: noMetrics(),
      errors: 0,
      confusion: {},
      ranks: {},
      verdict: { promote: false, depth: "quick", words: "", rules: [], ...verdict },
    }],
    runs: 1,
    errors: 0,
    cost: { inputTokens: 0, outputTokens: 0 },
    warnings: [],
    ...more,
  };
}

const base = { canonical: "Own", options: quick, evaluations: [] };
const saved = ["a", "b", "c", "d", "e"].map((id) => aCandidate(id));
const idsOf = (candidates: readonly ToolCandidate[]) => candidates.map(({ id }) => id);

Deno.test("chooseCandidates() takes what there is, oldest first, and says how many are missing", () => {
  const all = chooseCandidates({ ...base, saved });
  assert.deepEqual([idsOf(all.candidates), all.missing], [["a", "b", "c", "d"], 0]);
  const few = chooseCandidates({ ...base, saved: saved.slice(0, 1) });
  assert.deepEqual([idsOf(few.candidates), few.missing], [["a"], 3]);
  const options = JobOptions.parse({ generate: false });
  assert.equal(chooseCandidates({ ...base, options, saved: [] }).missing, 0);
});

Deno.test("chooseCandidates() leaves out what is the server's own text, and doubles", () => {
  const doubles = [aCandidate("own", "Own"), aCandidate("a", "Same"), aCandidate("b", "Same")];
  assert.deepEqual(idsOf(chooseCandidates({ ...base, saved: doubles }).candidates), ["a"]);
});

Deno.test("chooseCandidates() tells candidates apart by parameters, and leaves out what cannot be served", () => {
  const described = (id: string, parameters: Record<string, string>) => ({
    ...aCandidate(id, "Own"),
    parameters,
  });
  const all = [
    described("a", { city: "A city" }),
    described("b", { city: "Like Oslo" }),
    described("twice", { city: "A city" }),
    described("gone", { town: "A town" }),
  ];
  const input = { ...base, parameters: { city: "City" }, saved: all };
  assert.deepEqual(idsOf(chooseCandidates(input).candidates), ["a", "b"]);
  assert.deepEqual(idsOf(chooseCandidates({ ...input, inForce: "a" }).candidates), ["b"]);
});

Deno.test("chooseCandidates() takes those that are named and no others", () => {
  const options = JobOptions.parse({ candidateIds: ["e", "b"] });
  const chosen = chooseCandidates({ ...base, options, saved });
  assert.deepEqual([idsOf(chosen.candidates), chosen.missing], [["e", "b"], 0]);
});

Deno.test("chooseCandidates() leaves out what is promoted: the others have to beat it", () => {
  const chosen = chooseCandidates({ ...base, saved, inForce: "a" });
  assert.deepEqual(idsOf(chosen.candidates), ["b", "c", "d", "e"]);
  const options = JobOptions.parse({ candidateIds: ["b", "a"] });
  const named = chooseCandidates({ ...base, options, saved, inForce: "a" });
  assert.deepEqual(idsOf(named.candidates), ["b"]);
});

Deno.test("chooseCandidates() has others written in the place of those that were refused", () => {
  const evaluations = [anEvaluation("a", { promote: false })];
  const chosen = chooseCandidates({ ...base, saved: saved.slice(0, 2), evaluations });
  assert.deepEqual([idsOf(chosen.candidates), chosen.missing], [["b"], 3]);
  const options = JobOptions.parse({ generate: false });
  const all = chooseCandidates({ ...base, options, saved: saved.slice(0, 2), evaluations });
  assert.deepEqual(idsOf(all.candidates), ["a", "b"]);
});

Deno.test("chooseCandidates() tests again what an evaluation could not tell about", () => {
  for (
    const telling of [
      anEvaluation("a", { promote: true }),
      anEvaluation("a", { promote: false, proposed: true }),
      anEvaluation("a", { promote: false, moreRuns: 9 }),
      anEvaluation("a", { promote: false }, { void: "no credentials" }),
    ]
  ) {
    const chosen = chooseCandidates({ ...base, saved: saved.slice(0, 1), evaluations: [telling] });
    assert.deepEqual(idsOf(chosen.candidates), ["a"]);
  }
});

Deno.test("chooseSiblingPrompts() takes four direct prompts of each of five siblings at most, in turns", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const saved = names.flatMap((toolName) => [
    aPrompt(`${toolName}-indirect`, "indirect", { toolName }),
    ...["1", "2", "3", "4", "5"].map((n) => aPrompt(`${toolName}${n}`, "direct", { toolName })),
  ]);
  const chosen = chooseSiblingPrompts(saved, ["none", ...names], "quick");
  assert.deepEqual(
    chosen.map(({ id }) => id),
    [1, 2, 3, 4].flatMap((n) => ["a", "b", "c", "d", "e"].map((name) => `${name}${n}`)),
  );
});

Deno.test("chooseSiblingPrompts() turns them into prompts that this tool should leave alone", () => {
  const [prompt] = chooseSiblingPrompts(
    [aPrompt("a1", "direct", { toolName: "a" })],
    ["a"],
    "thorough",
  );
  assert.equal(prompt?.category, "negative");
  assert.deepEqual(prompt?.expectedBehavior, { shouldCallTool: false, expectedTool: "a" });
});

Deno.test("nearestSiblings() has those first that share most words with the tool", () => {
  const sibling = (name: string, description: string) => ({ name, description });
  const target = {
    name: "get_forecast",
    description: "The weather of the days to come",
    siblings: [
      sibling("list_users", "Everybody who has an account"),
      sibling("get_weather_now", "The weather of this moment"),
      sibling("send_mail", "Writes to somebody about the days off"),
    ],
  };
  const names = nearestSiblings(target).map(({ name }) => name);
  assert.deepEqual(names, ["get_weather_now", "send_mail", "list_users"]);
});
