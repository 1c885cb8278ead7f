import assert from "node:assert/strict";
import {
  CANONICAL,
  type Depth,
  descriptionHash,
  type EvalRun,
  Evaluation,
  type Verdict,
} from "../../core/optimization.ts";
import { NOT_TESTED_BESIDE, whyNotInstead } from "./comparison.ts";
import { noMetrics } from "./metrics.ts";
import { aPrompt, aRun } from "../testing/runs.ts";

const TEXTS = { [CANONICAL]: "Own", promoted: "Promoted", better: "Better" };
const INDEXES = Array.from({ length: 10 }, (_, index) => index);
const DIRECT = INDEXES.map((index) => aPrompt(`d${index}`, "direct", { heldOut: true }));
const NEGATIVE = INDEXES.map((index) => {
  const expectedBehavior = { shouldCallTool: false, expectedTool: "get_alerts" };
  return aPrompt(`n${index}`, "negative", { heldOut: true, expectedBehavior });
});
const PROMPTS = [...DIRECT, ...NEGATIVE];

function evaluation(depth: Depth, promoted?: Partial<Verdict>): Evaluation {
  const verdict = { promote: true, depth, words: "", rules: [], ...promoted };
  const result = { metrics: noMetrics(), errors: 0, confusion: {} };
  return Evaluation.parse({
    id: "evaluation",
    server: "weather",
    toolName: "get_forecast",
    depth,
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:01:00.000Z",
    evaluator: "claude-cli",
    thresholds: {},
    prompts: { direct: 10, indirect: 0, negative: 10 },
    repeats: 1,
    results: Object.entries(TEXTS).map(([candidateId, description]) => ({
      ...result,
      candidateId,
      description,
      ...(candidateId === "promoted" ? { verdict } : {}),
    })),
    runs: 1,
    errors: 0,
    cost: {},
    warnings: [],
  });
}

/** Runs of a description that fails on the first so many of each kind. */
function runsOf(candidateId: keyof typeof TEXTS, direct: number, negative: number): EvalRun[] {
  const hash = descriptionHash(TEXTS[candidateId]);
  const run = (failures: number) => (prompt: (typeof PROMPTS)[number], index: number) =>
    aRun(prompt, index >= failures, { candidateId, descriptionHash: hash });
  return [...DIRECT.map(run(direct)), ...NEGATIVE.map(run(negative))];
}

function why(runs: EvalRun[], one = evaluation("quick"), inForce = "Promoted") {
  const input = { candidateId: "better", inForce, runs, prompts: PROMPTS, asked: PROMPTS };
  return whyNotInstead({ evaluation: one, ...input });
}

Deno.test("whyNotInstead() requires the same gain as over the canonical description", () => {
  assert.equal(why([...runsOf("promoted", 1, 0), ...runsOf("better", 0, 0)]), undefined);
  assert.match(
    why([...runsOf("promoted", 1, 0), ...runsOf("better", 1, 0)]) ?? "",
    /^compared with the promoted one, overall 19\/20 .* is not 5 points above the 19\/20 .* of the promoted one \(20 needed\)$/,
  );
});

Deno.test("whyNotInstead() refuses a regression in a category, and stolen sibling prompts", () => {
  const worse = why([...runsOf("promoted", 6, 0), ...runsOf("better", 0, 2)]);
  assert.match(
    worse ?? "",
    /negative 8\/10 .* below the 10\/10 \(100 %\) of the promoted one/,
  );
  assert.match(worse ?? "", /steals 2 of 10 prompts meant for "get_alerts"/);
});

Deno.test("whyNotInstead() requires significance in a thorough evaluation", () => {
  const runs = [...runsOf("promoted", 4, 0), ...runsOf("better", 0, 0)];
  assert.equal(why(runs), undefined);
  assert.match(
    why(runs, evaluation("thorough")) ?? "",
    /^compared with the promoted one, better on 4 prompts, worse on 0/,
  );
  const lacking = evaluation("thorough", { promote: false, moreRuns: 10 });
  assert.match(why(runs, lacking) ?? "", /better on 4 prompts/, "nothing speaks against it");
  assert.equal(why(runs, evaluation("thorough", { promote: false })), undefined, "it is refuted");
});

Deno.test("whyNotInstead() compares with the text in force, which must have been tested", () => {
  const runs = [...runsOf("promoted", 9, 0), ...runsOf("better", 0, 0)];
  assert.equal(why(runs, evaluation("quick"), "Another text"), NOT_TESTED_BESIDE);
  assert.equal(why([], evaluation("quick"), "Own"), undefined, "its verdict is about that");
  assert.equal(why([], evaluation("quick"), "Better"), undefined, "it is in force");
  assert.match(why(runsOf("better", 0, 0)) ?? "", /^no prompt was tested with both/);
});
