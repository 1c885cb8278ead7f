import assert from "node:assert/strict";
import { VectorScores } from "./vectors.ts";

const scoresOf = (tool: number[], server: number[]) =>
  new VectorScores({
    keys: tool.map((_, position) => `t${position}`),
    positions: new Map(tool.map((_, position) => [`t${position}`, position])),
    tool: Float64Array.from(tool),
    server: Float64Array.from(server),
  });

Deno.test("VectorScores measures nearness against the average tool", () => {
  const scores = scoresOf([0.9, 0.6, 0.3, NaN], [0.5, 0.5, 0.5, NaN]);
  assert.ok(scores.of("t0") > 0.5 && scores.of("t2") < -0.5);
  assert.equal(scores.of("t3"), 0);
  assert.equal(scores.of("no.such"), 0);
  assert.deepEqual(scores.nearest(1), ["t0"]);
  assert.equal(scores.nearest(10).length, 4);
  assert.deepEqual(scoresOf([], []).nearest(5), []);
});

Deno.test("VectorScores is the same for models whose cosines lie elsewhere", () => {
  const low = [0.1, 0.2, 0.4];
  const none = low.map(() => NaN);
  const [one, other] = [scoresOf(low, none), scoresOf(low.map((tool) => 0.7 + tool / 5), none)];
  for (const key of ["t0", "t1", "t2"]) {
    assert.ok(Math.abs(one.of(key) - other.of(key)) < 1e-6);
  }
});
