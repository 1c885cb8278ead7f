import assert from "node:assert/strict";
import {
  CANONICAL,
  CATEGORIES,
  descriptionHash,
  type EvalRun,
  Evaluation,
  type GoldenPrompt,
} from "../../core/optimization.ts";
import { noMetrics } from "../../optimizer/evaluation/metrics.ts";
import { aPrompt, aRun } from "../../optimizer/testing/runs.ts";
import { type Evidence, evidenceOf, refusalOf } from "./evidence.ts";

const OWN = "The server's own";
const BETTER = "Better";
const PROMPTS = CATEGORIES.flatMap((category) =>
  Array.from({ length: 5 }, (_, index) => aPrompt(`${category}-${index}`, category))
);

/** An evaluation that said yes or no, with runs of which the candidate got so many wrong. */
function trial(
  id: string,
  { wrong, prompts = PROMPTS, ...more }: {
    wrong: number;
    prompts?: readonly GoldenPrompt[];
    model?: string;
    void?: string;
    depth?: "thorough";
    beside?: string[];
  },
): { evaluation: Evaluation; runs: EvalRun[] } {
  const result = { metrics: noMetrics(), errors: 0, confusion: {} };
  const promote = wrong === 0;
  const words = `${id} says ${promote ? "yes" : "no"}`;
  const evaluation = Evaluation.parse({
    id,
    server: "weather",
    toolName: "get_forecast",
    depth: "quick",
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:01:00.000Z",
    evaluator: "claude-cli",
    model: "sonnet",
    thresholds: {},
    prompts: { direct: 5, indirect: 5, negative: 5 },
    repeats: 1,
    results: [
      { ...result, candidateId: CANONICAL, description: OWN },
      {
        ...result,
        candidateId: "c",
        description: BETTER,
        verdict: { promote, depth: "quick", words, rules: [] },
      },
    ],
    runs: 2 * prompts.length,
    errors: 0,
    cost: {},
    warnings: [],
    ...more,
  });
  const runs = prompts.flatMap((prompt, index) => [
    aRun(prompt, prompt.category === "negative", {
      evaluationId: id,
      descriptionHash: descriptionHash(OWN),
    }),
    aRun(prompt, index >= wrong, {
      candidateId: "c",
      evaluationId: id,
      descriptionHash: descriptionHash(BETTER),
    }),
  ]);
  return { evaluation, runs };
}

/** What decides, of the newest first. */
function decided(
  trials: readonly ReturnType<typeof trial>[],
  versions: readonly GoldenPrompt[] = PROMPTS,
): Evidence | undefined {
  return evidenceOf("c", {
    canonical: OWN,
    prompts: PROMPTS,
    versions,
    evaluations: trials.map(({ evaluation }) => evaluation),
    runs: trials.flatMap(({ runs }) => runs),
  });
}

Deno.test("poolTries() lets no further try replace a refusal", () => {
  const [lucky, poor] = [trial("lucky", { wrong: 0 }), trial("poor", { wrong: 9 })];
  assert.equal(refusalOf(decided([lucky])), undefined);
  const found = decided([lucky, poor]);
  assert.deepEqual([found?.tries, found?.prompts], [2, 15]);
  const { correct, total } = found!.metrics.overall;
  assert.deepEqual([correct, total, found?.baseline.overall.correct], [21, 30, 10]);
  assert.match(refusalOf(found) ?? "", /Do not promote: .* combines all 2 evaluations/);
});

Deno.test("poolTries() lets what is good enough over all tries pass", () => {
  const [poor, good] = [trial("poor", { wrong: 3 }), trial("good", { wrong: 0 })];
  const found = decided([poor, good, trial("again", { wrong: 0 })]);
  assert.deepEqual([refusalOf(found), found?.tries], [undefined, 3]);
});

Deno.test("poolTries() begins anew where the model, the prompts or the texts are others", () => {
  const lucky = trial("lucky", { wrong: 0 });
  const other = trial("other", { wrong: 9, model: "opus" });
  assert.deepEqual([refusalOf(decided([lucky, other]))], [undefined]);
  const older = trial("older", { wrong: 9 });
  const edited = PROMPTS.map((prompt) => ({ ...prompt, version: 2, prompt: "Ask another thing" }));
  const versions = [...PROMPTS, ...edited];
  const fresh = trial("fresh", { wrong: 0, prompts: edited });
  assert.equal(refusalOf(decided([fresh, older], versions)), undefined);
  const elsewhere = trial("elsewhere", { wrong: 9 });
  elsewhere.evaluation.results[0]!.description = "Another text of the server's";
  assert.equal(refusalOf(decided([lucky, elsewhere])), undefined);
  const broken = trial("broken", { wrong: 9, void: "too many errors" });
  assert.equal(refusalOf(decided([lucky, broken])), undefined);
});

Deno.test("poolTries() takes a version that asks the same for the same", () => {
  const held = PROMPTS.map((prompt) => ({ ...prompt, version: 2, heldOut: true }));
  const lucky = trial("lucky", { wrong: 0, prompts: held });
  const found = decided([lucky, trial("poor", { wrong: 9 })], [...PROMPTS, ...held]);
  assert.equal(found?.tries, 2);
  assert.match(refusalOf(found) ?? "", /Do not promote/);
});

Deno.test("poolTries() does not count together what was shown beside other tools", () => {
  const beside = ["shop_find_books"];
  const [lucky, poor] = [trial("lucky", { wrong: 0, beside }), trial("poor", { wrong: 9 })];
  const apart = decided([lucky, poor]);
  assert.deepEqual([refusalOf(apart), apart?.tries, apart?.beside], [undefined, undefined, 1]);
  const together = decided([lucky, trial("too", { wrong: 9, beside })]);
  assert.deepEqual(together?.evaluationIds, ["lucky", "too"]);
  assert.match(
    refusalOf(together) ?? "",
    /alongside 1 tool of another server\): .* all 2 evaluations/,
  );
});

Deno.test("poolTries() looks for thefts also among prompts that decide nothing", () => {
  const held = PROMPTS.map((prompt) => ({ ...prompt, heldOut: true }));
  const known = aPrompt("known", "negative", {
    expectedBehavior: { shouldCallTool: false, expectedTool: "get_alerts" },
  });
  const prompts = [...held, known];
  const tries = ["one", "two"].map((id) => trial(id, { wrong: 0, prompts, depth: "thorough" }));
  assert.equal(refusalOf(decided(tries, prompts)), undefined);
  for (const run of tries.flatMap(({ runs }) => runs)) {
    if (run.promptId !== "known" || run.candidateId !== "c") continue;
    run.result = { ...run.result, toolCalled: true, correct: false };
  }
  assert.match(refusalOf(decided(tries, prompts)) ?? "", /steals 1 of 1 prompt .* "get_alerts"/);
});
