import assert from "node:assert/strict";
import { POINTS, WEIGHTS } from "./weights.ts";
import { DESCRIBED } from "./signs.ts";

Deno.test("WEIGHTS tell the words of orders from those of documentation", () => {
  for (const word of ["person", "passwor", "whateve"]) assert.ok(WEIGHTS.get(word)! > 0, word);
  for (const word of ["returns", "optiona", "default"]) assert.ok(WEIGHTS.get(word)! < 0, word);
  for (const word of WEIGHTS.keys()) assert.ok(word.length <= 7, word);
});

Deno.test("POINTS know every phrase of every sign and no other", () => {
  assert.deepEqual([...POINTS.keys()].sort(), DESCRIBED.map(({ id }) => id).sort());
  for (const { id, phrases } of DESCRIBED) {
    assert.equal(POINTS.get(id)!.split(" ").length, phrases.length, id);
  }
});
