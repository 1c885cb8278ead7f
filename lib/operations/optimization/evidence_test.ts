import assert from "node:assert/strict";
import {
  CANONICAL,
  CATEGORIES,
  type Depth,
  descriptionHash,
  type EvalRun,
  Evaluation,
  type GoldenPrompt,
} from "../../core/optimization.ts";
import { noMetrics } from "../../optimizer/evaluation/metrics.ts";
import { aPrompt, aRun } from "../../optimizer/testing/runs.ts";
import { type Evidence, evidenceOf, refusalOf, type ToolRecords } from "./evidence.ts";

const OWN = "The server's own";
const PROMPTS = [aPrompt("d", "direct"), aPrompt("i", "indirect"), aPrompt("n", "negative")];

function evaluation(id: string, depth: Depth, promote: boolean, more: Partial<Evaluation> = {}) {
  const words = `${id} says ${promote ? "yes" : "no"}`;
  const result = { metrics: noMetrics(), errors: 0, confusion: {} };
  return Evaluation.parse({
    id,
    server: "weather",
    toolName: "get_forecast",
    depth,
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:01:00.000Z",
    evaluator: "claude-cli",
    thresholds: {},
    prompts: { direct: 1, indirect: 1, negative: 1 },
    repeats: 1,
    results: [
      { ...result, candidateId: CANONICAL, description: OWN },
      {
        ...result,
        candidateId: "c",
        description: "Better",
        verdict: { promote, depth, words, rules: [] },
      },
    ],
    runs: 6,
    errors: 0,
    cost: {},
    warnings: [],
    ...more,
  });
}

function records(evaluations: Evaluation[], runs: EvalRun[] = []): ToolRecords {
  return { canonical: OWN, prompts: PROMPTS, evaluations, runs };
}

/** What a caller would report of a candidate that does all right. */
function reported(candidateId: string, correct: boolean): EvalRun[] {
  return PROMPTS.map((prompt) =>
    aRun(prompt, correct, {
      candidateId,
      evaluator: "caller",
      descriptionHash: descriptionHash(OWN),
    })
  );
}

const ALL = [...reported("c", true), ...reported(CANONICAL, false)];

function decides(found: Evidence | undefined): string {
  return found?.evaluationId ?? found?.source ?? "nothing";
}

Deno.test("evidenceOf() prefers the newest evaluation, and a thorough one to a quick one", () => {
  const [quick, older] = [evaluation("new", "quick", true), evaluation("old", "quick", false)];
  assert.equal(decides(evidenceOf("c", records([quick, older]))), "new");
  const thorough = evaluation("deep", "thorough", false);
  const found = evidenceOf("c", records([quick, older, thorough]));
  assert.equal(decides(found), "deep");
  assert.equal(refusalOf(found), "deep says no");
  assert.equal(evidenceOf("other", records([quick])), undefined);
});

Deno.test("evidenceOf() passes over what is void or about an older description", () => {
  const broken = evaluation("broken", "thorough", true, { void: "too many errors" });
  const fine = evaluation("fine", "quick", true);
  const found = evidenceOf("c", records([broken, fine]));
  assert.deepEqual([decides(found), refusalOf(found)], ["fine", undefined]);
  const alone = refusalOf(evidenceOf("c", records([broken])));
  assert.equal(alone, "The evaluation is void: too many errors");
  const changed = { ...records([fine]), canonical: "Rewritten" };
  assert.match(refusalOf(evidenceOf("c", changed)) ?? "", /has changed since this evaluation/);
});

Deno.test("evidenceOf() takes reports where nothing was measured that holds", () => {
  const refusing = evaluation("measured", "quick", false);
  assert.equal(decides(evidenceOf("c", records([refusing], ALL))), "measured");
  const broken = evaluation("broken", "quick", false, { void: "too many errors" });
  const found = evidenceOf("c", records([broken], ALL));
  assert.deepEqual([found?.source, found?.depth, found?.problem], [
    "reported",
    "quick",
    undefined,
  ]);
  assert.match(refusalOf(found) ?? "", /reported by a client, not measured by the gateway/);
});

Deno.test("evidenceOf() counts no report that went wrong, and none of the gateway's runs", () => {
  const [first, ...rest] = ALL;
  const failed: EvalRun = { ...first!, status: "error" };
  assert.match(
    refusalOf(evidenceOf("c", records([], [failed, ...rest]))) ?? "",
    /c has no run for d$/,
  );
  const measured = ALL.map((run): EvalRun => ({ ...run, evaluator: "claude-cli" }));
  assert.equal(evidenceOf("c", records([], measured)), undefined);
  const none = { ...records([], ALL), prompts: [] };
  assert.match(refusalOf(evidenceOf("c", none)) ?? "", /the tool has no saved prompts/);
});

Deno.test("evidenceOf() counts a prompt once, by its newest report", () => {
  const prompts = CATEGORIES.flatMap((category) =>
    Array.from({ length: 5 }, (_, index) => aPrompt(`${category}-${index}`, category))
  );
  const said = (prompt: GoldenPrompt, correct: boolean, candidateId: string) =>
    aRun(prompt, correct, {
      candidateId,
      evaluator: "caller",
      descriptionHash: descriptionHash(OWN),
    });
  const isEasy = ({ id, category }: GoldenPrompt) => category === "negative" || /[01]$/.test(id);
  const runs = prompts.flatMap((prompt) => [
    said(prompt, prompt.category === "negative", CANONICAL),
    said(prompt, isEasy(prompt), "c"),
  ]);
  const again = prompts.filter(isEasy).flatMap((prompt) =>
    Array.from({ length: 10 }, () => said(prompt, true, "c"))
  );
  const of = (runs: EvalRun[]) => evidenceOf("c", { ...records([], runs), prompts });
  const once = of(runs);
  const scoreOf = (found: Evidence | undefined) => {
    const { correct, total } = found!.metrics.overall;
    return `${correct}/${total}`;
  };
  assert.deepEqual([scoreOf(once), once?.prompts], ["9/15", 15]);
  assert.match(refusalOf(once) ?? "", /below the 85 % minimum/);
  const repeated = of([...runs, ...again]);
  assert.deepEqual(repeated?.metrics, once?.metrics);
  assert.equal(refusalOf(repeated), refusalOf(once));
  const fixed = of([...runs, said(prompts[4]!, true, "c")]);
  assert.equal(scoreOf(fixed), "10/15", "a report can be corrected");
});

Deno.test("evidenceOf() takes a whole evaluation of the server's own text over one that was cut", () => {
  const measured = (id: string, depth: Depth, asked: number) => {
    const one = evaluation(id, depth, true);
    const score = { correct: asked, total: asked };
    one.results[0]!.metrics = { ...noMetrics(), direct: score, overall: score };
    return one;
  };
  const [cut, whole] = [measured("cut", "thorough", 1), measured("whole", "quick", 3)];
  const of = (evaluations: Evaluation[]) => evidenceOf(CANONICAL, records(evaluations));
  assert.deepEqual([decides(of([cut, whole])), of([cut, whole])?.prompts], ["whole", 3]);
  assert.deepEqual([decides(of([cut])), of([cut])?.prompts], ["cut", 1]);
  const deep = measured("deep", "thorough", 3);
  assert.equal(decides(of([whole, deep])), "deep");
});

Deno.test("evidenceOf() lets no evaluation that was cut short outrank one that was not", () => {
  const words = "not enough evidence: 1 of 90 runs were made, since the budget is used up";
  const cut = evaluation("cut", "thorough", false);
  const rules = [{ rule: "evidence" as const, passed: false, words }];
  cut.results[1]!.verdict = { promote: false, depth: "thorough", words, rules, moreRuns: 89 };
  const found = evidenceOf("c", records([cut, evaluation("whole", "quick", true)]));
  assert.deepEqual([decides(found), refusalOf(found)], ["whole", undefined]);
  assert.equal(refusalOf(evidenceOf("c", records([cut]))), words);
  const stopped = evaluation("stopped", "thorough", false);
  stopped.results[1]!.verdict!.rules = rules;
  const refused = evidenceOf("c", records([stopped, evaluation("whole", "quick", true)]));
  assert.equal(decides(refused), "stopped", "what stopped since more could not help is a refusal");
});

/** Confirmed for these families only, after it was compared with these descriptions as well. */
function forFamilies(families: string[], others: string[], more: Partial<Evaluation> = {}) {
  const { results, ...rest } = evaluation("deep", "thorough", false);
  const [own, candidate] = results;
  return Evaluation.parse({
    ...rest,
    results: [
      own,
      ...others.map((description) => ({ ...own, candidateId: description, description })),
      { ...candidate, verdict: { ...candidate!.verdict, proposed: true, families } },
    ],
    ...more,
  });
}

Deno.test("refusalOf() allows for a family what is confirmed for it, over what its clients get", () => {
  const refused = (tested: Evaluation, family?: "claude" | "gpt", ofFamily = {}) =>
    refusalOf(evidenceOf("c", { ...records([tested]), ofFamily }, family), family);
  assert.equal(refused(forFamilies(["gpt"], []), "gpt"), undefined);
  assert.equal(refused(forFamilies(["gpt"], []), "claude"), "deep says no");
  assert.equal(refused(forFamilies(["gpt"], [])), "deep says no");
  const own = { gpt: { description: "For gpt" } };
  const untested = /not tested against the promoted description/;
  assert.match(refused(forFamilies(["gpt"], []), "gpt", own) ?? "", untested);
  assert.equal(refused(forFamilies(["gpt"], ["For gpt"]), "gpt", own), undefined);
  const all = evaluation("deep", "thorough", true);
  assert.equal(refused(all, "gpt"), undefined);
  assert.match(refused(all, "gpt", own) ?? "", untested);
  assert.equal(refused(all, "claude", own), undefined);
  const below = forFamilies(["gpt"], []);
  below.results[1]!.verdict!.rules = [{ rule: "overall", passed: false, words: "too few" }];
  assert.equal(refused(below, "gpt"), "deep says no", "its thresholds refuse it");
  const imported = forFamilies(["gpt"], [], { imported: true });
  assert.match(refused(imported, "gpt") ?? "", /^Imported from a file/);
});
