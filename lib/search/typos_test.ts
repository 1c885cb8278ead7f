import assert from "node:assert/strict";
import { correct, lettersBetween } from "./typos.ts";

Deno.test("correct() finds the nearest known words", () => {
  const known = ["create", "delete", "calendar", "issue", "tissue"];
  assert.deepEqual(correct("calender", known).map(({ word }) => word), ["calendar"]);
  assert.deepEqual(correct("isuse", known).map(({ word }) => word), ["issue"]);
  assert.ok(correct("calendr", known)[0]!.trust > correct("caledr", ["calendar"]).length);
});

Deno.test("correct() leaves alone what is too short, too far or no word", () => {
  assert.deepEqual(correct("lss", ["ls"]), []);
  assert.deepEqual(correct("philippines", ["create", "issue"]), []);
  assert.deepEqual(correct("2203x", ["2203"]), []);
  assert.deepEqual(correct("x".repeat(5_000), ["x"]), []);
});

Deno.test("lettersBetween() counts a swap of neighbors once", () => {
  assert.equal(lettersBetween("serach", "search", 2), 1);
  assert.equal(lettersBetween("abc", "xyz", 1), 2);
});
