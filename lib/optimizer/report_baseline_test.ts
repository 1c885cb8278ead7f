import assert from "node:assert/strict";
import { CANONICAL, Evaluation } from "../core/optimization.ts";
import { baselineOf } from "./report.ts";
import { noMetrics } from "./evaluation/metrics.ts";

/** Five prompts, of which so many were put to the server's own description. */
function evaluationOf(id: string, asked: number, more: Partial<Evaluation> = {}): Evaluation {
  const score = { correct: asked, total: asked };
  return Evaluation.parse({
    id,
    server: "weather",
    toolName: "get_forecast",
    depth: "quick",
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:01:00.000Z",
    evaluator: "claude-cli",
    thresholds: {},
    prompts: { direct: 5, indirect: 0, negative: 0 },
    repeats: 1,
    results: [{
      candidateId: CANONICAL,
      description: "Weather.",
      metrics: { ...noMetrics(), direct: score, overall: score },
      errors: 0,
      confusion: {},
    }],
    runs: asked,
    errors: 0,
    cost: {},
    warnings: [],
    ...more,
  });
}

function found(evaluations: Evaluation[], canonical?: string) {
  const { evaluation, prompts } = baselineOf(evaluations, canonical) ?? {};
  return [evaluation?.id, prompts];
}

Deno.test("baselineOf() takes the newest that asked all of its prompts", () => {
  const [newer, older] = [evaluationOf("newer", 5), evaluationOf("older", 5)];
  assert.deepEqual(found([newer, older]), ["newer", 5]);
  assert.deepEqual(found([evaluationOf("cut", 2), newer, older]), ["newer", 5]);
});

Deno.test("baselineOf() takes what asked the most where none asked all", () => {
  const all = [evaluationOf("cut", 1), evaluationOf("fuller", 3), evaluationOf("as full", 3)];
  assert.deepEqual(found(all), ["fuller", 3]);
  assert.deepEqual(found([evaluationOf("none", 0)]), [undefined, undefined]);
});

Deno.test("baselineOf() passes over what is void or about another text", () => {
  const broken = evaluationOf("broken", 5, { void: "too many errors" });
  assert.deepEqual(found([broken, evaluationOf("cut", 1)]), ["cut", 1]);
  const evaluations = [evaluationOf("whole", 5)];
  assert.deepEqual(found(evaluations, "Weather."), ["whole", 5]);
  assert.deepEqual(found(evaluations, "Rewritten."), [undefined, undefined]);
});

Deno.test("baselineOf() takes a thorough evaluation before a quick one, if it asked all", () => {
  const quick = evaluationOf("quick", 5);
  const whole = evaluationOf("thorough", 5, { depth: "thorough" });
  const cut = evaluationOf("cut", 3, { depth: "thorough" });
  assert.deepEqual(found([quick, whole]), ["thorough", 5]);
  assert.deepEqual(found([cut, quick]), ["quick", 5]);
});
