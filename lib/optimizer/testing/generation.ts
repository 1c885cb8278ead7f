import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import type { TextAnswer, TextModel, TextRequest } from "../generation/text_model.ts";
import { MAX_REQUEST } from "../generation/request.ts";
import type { TargetTool } from "../targets.ts";

/** A model that gives these answers in turn, and keeps what it was asked; fails past the last. */
export class ScriptedModel implements TextModel {
  readonly kind = "messages-api";
  readonly requests: TextRequest[] = [];
  readonly #answers: unknown[];

  /** A text is given as it is, an error is thrown, anything else is given as JSON. */
  constructor(...answers: unknown[]) {
    this.#answers = answers;
  }

  complete(request: TextRequest): Promise<TextAnswer> {
    this.requests.push(request);
    const { length } = request.system + request.prompt;
    assert.ok(length <= MAX_REQUEST, `a request of ${length} characters`);
    const answer = this.#answers[this.requests.length - 1];
    assert.notEqual(answer, undefined, `request ${this.requests.length} was not expected`);
    if (answer instanceof Error) return Promise.reject(answer);
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    return Promise.resolve({ text, cost: { inputTokens: 10, outputTokens: 1, costUsd: 0.5 } });
  }
}

export function aTarget(more: Partial<TargetTool> = {}): TargetTool {
  return {
    server: "meteo",
    name: "get_weather",
    description: "Weather.",
    definition: {
      name: "get_weather",
      description: "Weather.",
      inputSchema: {
        type: "object",
        properties: { city: { type: "string", description: "Where" } },
        required: ["city"],
      },
    },
    parameters: { city: "Where" },
    siblings: [
      { name: "book_flight", description: "Books a flight" },
      { name: "get_air_quality", description: "Tells how clean the air of a city is" },
    ],
    ...more,
  };
}

/** A tool whose every text is far too long, and made of what takes most room when escaped. */
export function aHugeTarget(): TargetTool {
  const long = '\u0001<"\\\u2028'.repeat(2_000);
  const properties = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`p${i}${long.slice(0, 100)}`, { description: long }]),
  );
  const siblings = Array.from({ length: 500 }, (_, i) => ({
    name: `sibling_${i}${long.slice(0, 300)}`,
    description: long,
  }));
  return aTarget({
    name: `get_weather${long}`,
    description: long,
    definition: { name: "get_weather", inputSchema: { type: "object", properties } },
    parameters: Object.fromEntries(Object.keys(properties).map((name) => [name, long])),
    siblings,
  });
}

/** For assert.rejects(): CANNOT_GENERATE with such a text. */
export function isCannotGenerate(words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, "CANNOT_GENERATE");
    assert.match(error.message, words);
    return true;
  };
}
