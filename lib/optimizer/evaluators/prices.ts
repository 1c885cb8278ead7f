import type { RunCost } from "../../core/optimization.ts";
import type { TextModel } from "../generation/text_model.ts";
import type { Evaluator } from "./evaluator.ts";
import builtIn from "./prices.json" with { type: "json" };

/** USD for a million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** Of the longest name that the model's begins with: versions and dates follow it. */
export function priceOf(
  model: string,
  own: Readonly<Record<string, ModelPrice>> = {},
): ModelPrice | undefined {
  const prices: Record<string, ModelPrice> = { ...builtIn.models, ...own };
  const [best] = Object.keys(prices).filter((name) => isVersionOf(model, name))
    .sort((one, other) => other.length - one.length);
  const price = best === undefined ? undefined : prices[best];
  return price && { input: price.input, output: price.output };
}

/** A date, `latest` or a tag follows the name: "gpt-5-pro" and "claude-opus-5-6" are other models. */
const VERSION = /^([@:]|-(\d{6,}|\d{4}-\d\d-\d\d|latest)$)/;

function isVersionOf(model: string, name: string): boolean {
  return model === name || (model.startsWith(name) && VERSION.test(model.slice(name.length)));
}

function priced(cost: RunCost, price: ModelPrice): RunCost {
  const { inputTokens, outputTokens } = cost;
  // Without tokens nothing is known, which is not free.
  if (cost.costUsd !== undefined || inputTokens + outputTokens === 0) return cost;
  return { ...cost, costUsd: (inputTokens * price.input + outputTokens * price.output) / 1e6 };
}

/** Adds what a run costs, for an API that only counts tokens. */
export function withPrice(evaluator: Evaluator, price: ModelPrice | undefined): Evaluator {
  if (price === undefined) return evaluator;
  return {
    ...evaluator,
    isPriced: true,
    price,
    async run(request) {
      const seen = await evaluator.run(request);
      return { ...seen, cost: priced(seen.cost, price) };
    },
  };
}

export function textWithPrice(model: TextModel, price: ModelPrice | undefined): TextModel {
  if (price === undefined) return model;
  return {
    kind: model.kind,
    async complete(request) {
      const answer = await model.complete(request);
      return { ...answer, cost: priced(answer.cost, price) };
    },
  };
}
