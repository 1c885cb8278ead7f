import assert from "node:assert/strict";
import { ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import builtIn from "./prices.json" with { type: "json" };
import { priceOf, textWithPrice, withPrice } from "./prices.ts";

Deno.test("priceOf() finds the price of a version by the longest name, and yours before ours", () => {
  assert.deepEqual(priceOf("claude-sonnet-4-5-20250929"), { input: 3, output: 15 });
  assert.deepEqual(priceOf("gpt-4o-mini-2024-07-18"), { input: 0.15, output: 0.6 });
  const own = { "gpt-4o": { input: 1, output: 2 }, "llama3": { input: 0, output: 0 } };
  assert.deepEqual(priceOf("gpt-4o", own), { input: 1, output: 2 });
  assert.deepEqual(priceOf("llama3:8b", own), { input: 0, output: 0 });
  for (const other of ["gpt-4oo", "gpt-5-pro", "claude-opus-5-6", "claude-sonnet-4-9"]) {
    assert.equal(priceOf(other), undefined, `${other} is another model`);
  }
  assert.equal(priceOf("unknown"), undefined);
});

Deno.test("each built-in price says where it is from, and the table when it was checked", () => {
  const { checked, sources, models } = builtIn;
  assert.ok(Date.parse(checked) <= Date.now());
  for (const [name, { input, output, source }] of Object.entries(models)) {
    assert.ok(input > 0 && output > input && source in sources, name);
  }
});

Deno.test("withPrice() and textWithPrice() price tokens, and what has none stays unknown", async () => {
  const { signal } = new AbortController();
  const request = { prompt: "p", tools: [], target: "t", signal };
  const tokens = { inputTokens: 1_000_000, outputTokens: 100_000 };
  const costs = [tokens, { inputTokens: 0, outputTokens: 0 }];
  const evaluator = new ScriptedEvaluator(() => ({
    status: "ok",
    calls: [],
    reasoning: "",
    durationMs: 1,
    cost: costs.shift()!,
  }));
  const plain = { ...evaluator, isPriced: false, run: evaluator.run.bind(evaluator) };
  const check = () => Promise.resolve();
  const priced = withPrice({ ...plain, check }, { input: 3, output: 15 });
  assert.equal(priced.isPriced, true);
  assert.equal((await priced.run(request)).cost.costUsd, 4.5);
  assert.equal((await priced.run(request)).cost.costUsd, undefined);
  assert.equal(withPrice({ ...plain, check }, undefined).isPriced, false);
  const model = textWithPrice({
    kind: "messages-api",
    complete: () => Promise.resolve({ text: "x", cost: tokens }),
  }, { input: 1, output: 1 });
  const { cost } = await model.complete({ system: "", prompt: "", maxTokens: 1, signal });
  assert.equal(cost.costUsd, 1.1);
});
