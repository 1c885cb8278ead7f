import assert from "node:assert/strict";
import { nearestNames } from "./nearest.ts";

const names = ["weather", "github", "gitlab", "filesystem", "github-enterprise"];

Deno.test("nearestNames() finds typos, best first", () => {
  assert.deepEqual(nearestNames("wether", names), ["weather"]);
  assert.equal(nearestNames("githb", names)[0], "github");
});

Deno.test("nearestNames() adds names that hold what was typed", () => {
  assert.ok(nearestNames("enterprise", names).includes("github-enterprise"));
});

Deno.test("nearestNames() is silent where nothing is close", () => {
  assert.deepEqual(nearestNames("zzzzzz", names), []);
  assert.deepEqual(nearestNames("", names), []);
  assert.deepEqual(nearestNames("x".repeat(5_000), names), []);
});
