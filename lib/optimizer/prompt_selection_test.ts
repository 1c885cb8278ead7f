import assert from "node:assert/strict";
import { JobOptions } from "../core/optimization.ts";
import {
  chooseHeldOut,
  choosePrompts,
  firstWritten,
  heldOutFrom,
  heldOutVersions,
  missingPrompts,
  wantedPrompts,
} from "./prompt_selection.ts";
import { aPrompt } from "./testing/runs.ts";
import { somePrompts } from "./testing/weather.ts";

const quick = JobOptions.parse({});
const thorough = JobOptions.parse({ depth: "thorough" });

Deno.test("wantedPrompts() asks as many as the depth says, and holds out two fifths of twelve", () => {
  assert.deepEqual(wantedPrompts(quick, []).direct, { all: 5, heldOut: 0 });
  assert.deepEqual(wantedPrompts(thorough, []).negative, { all: 12, heldOut: 5 });
  const five = JobOptions.parse({ depth: "thorough", promptsPerCategory: 5 });
  assert.deepEqual(wantedPrompts(five, []).direct, { all: 5, heldOut: 2 });
});

Deno.test("wantedPrompts() wants what there is where nothing may be written", () => {
  const options = JobOptions.parse({ generate: false });
  const saved = somePrompts(8).filter(({ category }) => category !== "indirect");
  assert.equal(wantedPrompts(options, saved).direct.all, 8);
  assert.equal(wantedPrompts(options, saved).indirect.all, 0);
  const three = JobOptions.parse({ generate: false, promptsPerCategory: 3 });
  assert.equal(wantedPrompts(three, saved).direct.all, 3);
});

Deno.test("missingPrompts() counts what is not there, held out or not", () => {
  const wanted = wantedPrompts(thorough, []);
  assert.deepEqual(missingPrompts(somePrompts(5), wanted).direct, { all: 7, heldOut: 5 });
  assert.deepEqual(missingPrompts(somePrompts(12), wanted).direct, { all: 5, heldOut: 5 });
  const heldOut = somePrompts(5, { heldOut: true });
  assert.deepEqual(missingPrompts(heldOut, wanted).direct, { all: 7, heldOut: 0 });
  assert.deepEqual(missingPrompts(somePrompts(9), wantedPrompts(quick, [])).direct, {
    all: 0,
    heldOut: 0,
  });
});

Deno.test("choosePrompts() prefers what people wrote, and takes the held-out ones that are needed", () => {
  const saved = [
    ...["a", "b", "c"].map((id) => aPrompt(id, "direct", { origin: "generated" })),
    aPrompt("mine", "direct", { origin: "person" }),
    ...["x", "y", "z"].map((id) => aPrompt(id, "direct", { origin: "generated", heldOut: true })),
  ];
  const none = { all: 0, heldOut: 0 };
  const wanted = { direct: { all: 4, heldOut: 2 }, indirect: none, negative: none };
  assert.deepEqual(choosePrompts(saved, wanted).map(({ id }) => id), ["x", "y", "mine", "a"]);
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
  const wanted = wantedPrompts(thorough, []);
  const saved = somePrompts(5);
  const none = new Map<string, number>();
  assert.equal(heldOutVersions(saved, wanted, [], none).length, 15);
  assert.equal(heldOutVersions(saved, wantedPrompts(quick, []), [], none).length, 0);
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
  const wanted = wantedPrompts(thorough, edited);
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
