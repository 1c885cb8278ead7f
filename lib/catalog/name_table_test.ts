import assert from "node:assert/strict";
import { findCollisions, PromptCollisions } from "./name_table.ts";
import { flatNames } from "./names.ts";

const found = (...prompts: string[]) => findCollisions(flatNames(prompts, 60), 60);

function shown(collisions: PromptCollisions): string[] {
  return collisions.list().map(({ namespaced, keptBy }) => `${namespaced} after ${keptBy}`);
}

Deno.test("PromptCollisions.note() replaces what the same servers listed before, and that alone", () => {
  const collisions = new PromptCollisions(() => true);
  collisions.note(["a", "a_b"], found("a.b_x", "a_b.x"));
  collisions.note(["c"], found("c.x-y", "c.x_y"));
  collisions.note(["a"], []);
  assert.deepEqual(shown(collisions), ["a_b.x after a.b_x", "c.x_y after c.x-y"]);
  collisions.note(["a", "a_b"], found("a.b_y", "a_b.y"));
  assert.deepEqual(shown(collisions), ["c.x_y after c.x-y", "a_b.y after a.b_y"]);
  collisions.note(["a", "a_b", "c"], []);
  assert.deepEqual(shown(collisions), []);
});

Deno.test("PromptCollisions.list() leaves out those of servers that are gone", () => {
  const there = new Set(["a", "a_b", "c"]);
  const collisions = new PromptCollisions((server) => there.has(server));
  const long = "long_".repeat(12);
  collisions.note(["a", "a_b", "c"], [
    ...found("a.b_x", "a_b.x"),
    ...found(`a.b_${long}`, `a_b.${long}`),
    ...found("c.x-y", "c.x_y"),
  ]);
  assert.equal(collisions.list().length, 3);
  there.delete("a");
  assert.deepEqual(shown(collisions), ["c.x_y after c.x-y"]);
});
