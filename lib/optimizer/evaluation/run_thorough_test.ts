import assert from "node:assert/strict";
import {
  CANONICAL,
  CATEGORIES,
  type EvalRun,
  type GoldenPrompt,
  type PromptCategory,
} from "../../core/optimization.ts";
import { evaluate, type EvaluationInput } from "./run.ts";
import { evaluationBench, resultOf } from "../testing/evaluation_bench.ts";
import { aPrompt } from "../testing/runs.ts";
import type { Script } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, POOR, somePrompts } from "../testing/weather.ts";

/** Fresh prompts, so many of each category at a time. */
function writer(each = 12) {
  let count = 0;
  const written: PromptCategory[] = [];
  return {
    written,
    write(category: PromptCategory): Promise<GoldenPrompt[]> {
      written.push(category);
      const from = count++ * each;
      return Promise.resolve(
        CATEGORIES.flatMap((category) =>
          Array.from(
            { length: each },
            (_, index) =>
              aPrompt(`fresh-${category}-${from + index}`, category, {
                prompt: `${category} ${from + index} of ${
                  category === "negative" ? "cooking" : "weather"
                }`,
                heldOut: true,
              }),
          )
        ),
      );
    },
  };
}

function thorough(script: Script = byDescription, more: Partial<EvaluationInput> = {}) {
  const { write, written } = writer();
  return {
    ...evaluationBench(script, {
      depth: "thorough",
      alpha: 0.03,
      prompts: [],
      write,
      ...more,
    }),
    written,
  };
}

Deno.test("evaluate() confirms a candidate on fresh prompts, which it has written, and stops then", async () => {
  const { input, saved, written } = thorough();
  const { evaluation } = await evaluate(input);
  const { verdict, metrics, paired } = resultOf(evaluation, "good");
  assert.deepEqual([verdict?.promote, verdict?.confirmed], [true, true]);
  assert.deepEqual(metrics.overall.correct, metrics.overall.total);
  assert.equal(evaluation.alpha, 0.03);
  assert.equal(paired?.baseline.overall.total, metrics.overall.total);
  // One run for each prompt and description; more negative ones to show that nothing is taken.
  assert.equal(saved.length, 2 * metrics.overall.total);
  assert.ok(saved.length < 80, `${saved.length} runs`);
  assert.ok(evaluation.prompts.negative >= 18 && evaluation.prompts.direct < 10);
  assert.ok(written.length >= 1);
  const { gain } = verdict!;
  assert.equal(gain?.prompts, metrics.overall.total);
  assert.ok(gain.low > 0 && gain.low < gain.mean && gain.high <= 1, JSON.stringify(gain));
});

Deno.test("evaluate() screens several candidates on known prompts and tests only the best on fresh ones", async () => {
  const { input, saved } = thorough(byDescription, {
    prompts: somePrompts(8),
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "poor", description: "Does other things." },
      { candidateId: "good", description: GOOD },
      { candidateId: "other", description: "Does nothing." },
    ],
  });
  const { evaluation } = await evaluate(input);
  assert.equal(resultOf(evaluation, "good").verdict?.promote, true);
  const fresh = saved.filter(({ promptId }) => promptId.startsWith("fresh"));
  assert.deepEqual([...new Set(fresh.map((run) => run.candidateId))].sort(), [CANONICAL, "good"]);
  const { verdict } = resultOf(evaluation, "poor");
  assert.match(verdict?.words ?? "", /other candidates did better in the screening/);
  assert.ok(saved.length - fresh.length < 24 * 3, "those that fall behind are dropped");
});

Deno.test("evaluate() gives up what is no better after few prompts", async () => {
  const { input, saved } = thorough(byDescription, {
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "poor", description: "Does other things." },
    ],
  });
  const { evaluation } = await evaluate(input);
  const { verdict } = resultOf(evaluation, "poor");
  assert.equal(verdict?.promote, false);
  assert.equal(verdict?.moreRuns, undefined, "it is refuted");
  assert.ok(saved.length < 200, `${saved.length} runs`);
});

Deno.test("evaluate() refuses a thief although it is far better on its own prompts", async () => {
  const { input } = thorough((asked, request) => {
    const takes = asked.description === GOOD && /^negative \d*[369] /.test(asked.prompt);
    return takes ? [request.target] : byDescription(asked, request);
  });
  const { verdict } = resultOf((await evaluate(input)).evaluation, "good");
  assert.equal(verdict?.promote, false);
  assert.ok(verdict?.rules.some(({ rule, passed }) => rule === "siblings" && !passed));
});

Deno.test("evaluate() has a candidate beat the description in force as well", async () => {
  const { input, saved } = thorough(byDescription, {
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "promoted", description: GOOD, isBaseline: true },
      { candidateId: "good", description: `${GOOD} Too.` },
    ],
  });
  const { evaluation } = await evaluate(input);
  assert.equal(resultOf(evaluation, "good").verdict?.promote, false);
  assert.equal(resultOf(evaluation, "promoted").verdict, undefined);
  assert.ok(saved.some(({ candidateId }) => candidateId === "promoted"));
});

Deno.test("evaluate() is undecided without enough prompts, and says how many more would tell", async () => {
  const { input } = thorough(byDescription, {
    prompts: somePrompts(4, { heldOut: true }),
    write: () => Promise.resolve([]),
  });
  const { evaluation } = await evaluate(input);
  const { verdict } = resultOf(evaluation, "good");
  assert.equal(verdict?.promote, false);
  assert.match(verdict?.words ?? "", /not enough evidence: .*more prompts would tell/);
  assert.ok((verdict?.moreRuns ?? 0) > 0);
});

/** In which order runs end must not matter. */
Deno.test("evaluate() decides the same with many runs at once, and after a kill at any run", async () => {
  // Right on every fourth more than the other.
  const script: Script = ({ prompt, description }, { target }) => {
    if (prompt.startsWith("negative")) return [];
    const isHard = Number(/\d+/.exec(prompt)![0]) % 2 === 0;
    return description.startsWith("GOOD") || isHard ? [target] : [];
  };
  const first = thorough(script);
  const { evaluation } = await evaluate(first.input);
  const wordsOf = (one: typeof evaluation) => resultOf(one, "good").verdict?.words;
  const prompts: GoldenPrompt[] = [];
  const { write } = writer();
  for (let batch = 0; batch < 6; batch++) prompts.push(...await write("direct"));
  for (const concurrency of [1, 3, 8]) {
    let late = 0;
    const slow: Script = async (asked, request) => {
      for (let turn = 0; turn < late; turn++) await Promise.resolve();
      late = (late + 7) % 11;
      return script(asked, request);
    };
    const again = thorough(slow, { concurrency });
    const { evaluation: same } = await evaluate(again.input);
    assert.equal(wordsOf(same), wordsOf(evaluation), `${concurrency} at once`);
    assert.ok(again.saved.length < first.saved.length + concurrency);
  }
  for (const kept of [1, 7, 20, first.saved.length - 1]) {
    const finished: EvalRun[] = first.saved.slice(0, kept);
    const again = thorough(script, { finished, prompts });
    const { evaluation: same } = await evaluate(again.input);
    assert.equal(wordsOf(same), wordsOf(evaluation), `after ${kept} runs`);
    assert.equal(again.saved.length, first.saved.length - kept, "nothing is repeated");
  }
});

Deno.test("evaluate() goes on where an earlier test of the same candidate ended", async () => {
  const earlier = thorough(byDescription, {
    id: "evaluation_0",
    prompts: somePrompts(4, { heldOut: true }),
    write: () => Promise.resolve([]),
  });
  await evaluate(earlier.input);
  assert.ok(earlier.saved.length > 0);
  const { input, saved } = thorough(byDescription, {
    prompts: somePrompts(4, { heldOut: true }),
    finished: earlier.saved,
  });
  const { evaluation } = await evaluate(input);
  assert.equal(resultOf(evaluation, "good").verdict?.promote, true);
  assert.ok(saved.every(({ promptId }) => promptId.startsWith("fresh")), "nothing is asked twice");
  assert.equal(evaluation.runs, saved.length);
  assert.equal(
    resultOf(evaluation, "good").metrics.overall.total,
    (saved.length + earlier.saved.length) / 2,
  );
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
