import assert from "node:assert/strict";
import { JobOptions } from "../core/optimization.ts";
import {
  chooseHeldOut,
  choosePrompts,
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

Deno.test("heldOutVersions() holds out only what no generated candidate can have seen", () => {
  const wanted = wantedPrompts(thorough, []);
  const saved = somePrompts(5);
  assert.equal(heldOutVersions(saved, wanted, []).length, 15);
  assert.equal(heldOutVersions(saved, wantedPrompts(quick, []), []).length, 0);
  assert.deepEqual(heldOutVersions(saved, wanted, ["2026-02-01T00:00:00.000Z"]), []);
  const [late] = heldOutVersions(
    [...saved, aPrompt("late", "direct", { createdAt: "2026-03-01T00:00:00.000Z" })],
    wanted,
    ["2026-02-01T00:00:00.000Z"],
  );
  assert.deepEqual([late?.id, late?.version, late?.heldOut], ["late", 2, true]);
});
