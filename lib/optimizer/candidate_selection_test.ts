import assert from "node:assert/strict";
import {
  type Evaluation,
  JobOptions,
  Thresholds,
  type ToolCandidate,
  type Verdict,
} from "../core/optimization.ts";
import { chooseCandidates } from "./candidate_selection.ts";
import { noMetrics } from "./metrics.ts";

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

const base = { canonical: "Own", options: JobOptions.parse({}), evaluations: [] };
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

Deno.test("chooseCandidates() takes those that are named and no others", () => {
  const options = JobOptions.parse({ candidateIds: ["e", "b"] });
  const chosen = chooseCandidates({ ...base, options, saved });
  assert.deepEqual([idsOf(chosen.candidates), chosen.missing], [["e", "b"], 0]);
});

Deno.test("chooseCandidates() begins with the promoted one", () => {
  const chosen = chooseCandidates({ ...base, saved, inForce: "e" });
  assert.deepEqual(idsOf(chosen.candidates), ["e", "a", "b", "c"]);
});

Deno.test("chooseCandidates() tests what is promoted beside those that could replace it", () => {
  const named = { candidateIds: ["b"] };
  const replacing = JobOptions.parse(named);
  const chosen = chooseCandidates({ ...base, options: replacing, saved, inForce: "e" });
  assert.deepEqual(idsOf(chosen.candidates), ["b", "e"]);
  const looking = JobOptions.parse({ ...named, autoPromote: false });
  const alone = chooseCandidates({ ...base, options: looking, saved, inForce: "e" });
  assert.deepEqual(idsOf(alone.candidates), ["b"]);
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
      anEvaluation("a", { promote: false, moreRuns: 9 }),
      anEvaluation("a", { promote: false }, { void: "no credentials" }),
    ]
  ) {
    const chosen = chooseCandidates({ ...base, saved: saved.slice(0, 1), evaluations: [telling] });
    assert.deepEqual(idsOf(chosen.candidates), ["a"]);
  }
});
