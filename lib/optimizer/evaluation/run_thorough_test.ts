import assert from "node:assert/strict";
import { CANONICAL, type GoldenPrompt } from "../../core/optimization.ts";
import { evaluate } from "./run.ts";
import { evaluationBench, resultOf } from "../testing/evaluation_bench.ts";
import { byDescription, GOOD, POOR, somePrompts } from "../testing/weather.ts";

const THOROUGH = { depth: "thorough", repeats: 3 } as const;
const isHeldOut = (index: number) => index % 12 < 5;

/** Twelve of each category, five of these held out; the negative ones may name a sibling. */
function prompts(nameOf: (index: number) => string | undefined = () => undefined): GoldenPrompt[] {
  return somePrompts(12).map((prompt, index) => {
    const expectedTool = prompt.category === "negative" ? nameOf(index % 12) : undefined;
    if (expectedTool === undefined) return { ...prompt, heldOut: isHeldOut(index) };
    const expectedBehavior = { shouldCallTool: false, expectedTool };
    return { ...prompt, heldOut: isHeldOut(index), expectedBehavior };
  });
}

Deno.test("evaluate() asks of a thorough evaluation only what decides or shows a theft, that last", async () => {
  const all = prompts((index) => index === 9 ? "get_alerts" : undefined);
  const { input, saved } = evaluationBench(byDescription, { ...THOROUGH, prompts: all });
  const { evaluation } = await evaluate(input);
  const asked = new Set(saved.map(({ promptId }) => promptId));
  const deciding = all.filter(({ heldOut }) => heldOut).map(({ id }) => id);
  assert.deepEqual([...asked].sort(), [...deciding, "negative-9"].sort());
  assert.equal(saved.length, 16 * 2 * 3);
  assert.deepEqual(
    new Set(saved.slice(-6).map(({ promptId }) => promptId)),
    new Set(["negative-9"]),
  );
  assert.deepEqual(evaluation.prompts, { direct: 5, indirect: 5, negative: 5 });
  assert.equal(resultOf(evaluation, "good").verdict?.promote, true);
});

Deno.test("evaluate() refuses what takes a sibling's prompt that whoever wrote it may know", async () => {
  const all = prompts((index) => isHeldOut(index) ? undefined : "get_alerts");
  const { input } = evaluationBench(
    (asked, request) =>
      asked.description === GOOD && asked.prompt.startsWith("negative 7")
        ? [request.target]
        : byDescription(asked, request),
    { ...THOROUGH, prompts: all },
  );
  const { evaluation } = await evaluate(input);
  const { verdict, metrics } = resultOf(evaluation, "good");
  assert.deepEqual(metrics.overall, { correct: 45, total: 45, prompts: 15 });
  assert.equal(verdict?.promote, false);
  assert.match(verdict?.words ?? "", /steals 1 of 7 prompts meant for "get_alerts"/);
});

Deno.test("evaluate() does not ask what is taken from siblings of what fails anyway", async () => {
  const all = prompts(() => "get_alerts");
  const { input, saved } = evaluationBench(byDescription, {
    ...THOROUGH,
    prompts: all,
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "poor", description: "Does other things." },
    ],
  });
  await evaluate(input);
  const heldOut = new Set(all.filter((prompt) => prompt.heldOut).map(({ id }) => id));
  assert.ok(saved.length < 15 * 2 * 3, String(saved.length));
  assert.ok(saved.every(({ promptId }) => heldOut.has(promptId)));
});

Deno.test("evaluate() counts what it stopped after without runs that were made later for others", async () => {
  const descriptions = [
    { candidateId: CANONICAL, description: POOR },
    { candidateId: "poor", description: "Does other things." },
    { candidateId: "good", description: GOOD },
  ];
  const { input, saved } = evaluationBench(byDescription, {
    repeats: 3,
    descriptions,
    // Given up only in the second round, when every prompt has been asked.
    thresholds: { minOverall: 0.6, minNegative: 0, minImprovement: 0, maxRegression: 1 },
  });
  const { evaluation } = await evaluate(input);
  const own = saved.filter(({ candidateId }) => candidateId === "poor").length;
  assert.ok(own > 15 && own < 45, String(own));
  const words = `after ${2 * own} of`;
  assert.match(resultOf(evaluation, "poor").verdict?.words ?? "", new RegExp(`${words} 90 runs`));
  assert.ok(evaluation.warnings.some((warning) => warning.includes(`${words} the 90 runs`)));

  // Nor does a restart count them.
  const finished = saved.slice(0, -4);
  const again = evaluationBench(byDescription, { ...input, finished });
  const { evaluation: resumed } = await evaluate(again.input);
  assert.deepEqual(resumed.warnings, evaluation.warnings);
});

Deno.test("evaluate() records what was shown beside, and says so", async () => {
  const { input } = evaluationBench(byDescription);
  const { evaluation: alone } = await evaluate(input);
  assert.equal(alone.beside, undefined);
  const { shown } = input;
  const tool = (name: string) => ({ name: `shop_${name}`, server: "shop", tool: name, text: "{}" });
  const more = evaluationBench(byDescription, {
    shown: (description) => [...shown(description), tool("refund"), tool("find_books")],
  });
  const { evaluation } = await evaluate(more.input);
  assert.deepEqual(evaluation.beside, ["shop_find_books", "shop_refund"]);
  const { words } = resultOf(evaluation, "good").verdict!;
  assert.match(words, /; alongside 2 tools of other servers\): overall/);
});
