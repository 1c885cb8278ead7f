import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { GatewayError } from "../../core/errors.ts";
import type { PromptCategory } from "../../core/optimization.ts";
import { generatePrompts, type PromptsInput } from "./prompts.ts";
import { aHugeTarget, aTarget, isCannotGenerate, ScriptedModel } from "../testing/generation.ts";

interface Answered {
  category: PromptCategory;
  prompt: string;
  notes?: string | null;
  expectedTool?: string | null;
}

function generate(model: ScriptedModel, more: Partial<PromptsInput> = {}) {
  return generatePrompts({
    model,
    target: aTarget(),
    counts: { direct: 1, indirect: 1, negative: 1 },
    existing: [],
    signal: new AbortController().signal,
    ...more,
  });
}

const DIRECT: Answered = { category: "direct", prompt: "Get weather in Paris for tomorrow" };
const INDIRECT: Answered = { category: "indirect", prompt: "Should I take an umbrella to Oslo?" };
const NEGATIVE: Answered = {
  category: "negative",
  prompt: "Book a flight to Rome",
  expectedTool: "book_flight",
};

/** So many that have next to nothing in common. */
function many(category: PromptCategory, count: number): Answered[] {
  return Array.from({ length: count }, (_, i) => ({
    category,
    prompt: `Find ${createHash("sha256").update(`${category}${i}`).digest("hex").slice(0, 20)}`,
  }));
}

Deno.test("generatePrompts() gives each category what should come of its prompts", async () => {
  const model = new ScriptedModel({
    prompts: [NEGATIVE, { ...DIRECT, notes: " Plain. ", expectedTool: "book_flight" }, {
      ...INDIRECT,
      notes: null,
      expectedTool: null,
    }],
  });
  const { prompts, warnings, cost } = await generate(model);
  assert.deepEqual(prompts, [
    {
      category: "direct",
      prompt: DIRECT.prompt,
      expectedBehavior: { shouldCallTool: true, notes: "Plain." },
    },
    { category: "indirect", prompt: INDIRECT.prompt, expectedBehavior: { shouldCallTool: true } },
    {
      category: "negative",
      prompt: NEGATIVE.prompt,
      expectedBehavior: { shouldCallTool: false, expectedTool: "book_flight" },
    },
  ]);
  assert.deepEqual(warnings, []);
  assert.equal(cost.inputTokens, 10);
  assert.match(model.requests[0]!.prompt, /exactly 1 direct, 1 indirect, 1 negative prompts/);
});

Deno.test("generatePrompts() gives exactly the counts, and asks nothing for none", async () => {
  const model = new ScriptedModel({
    prompts: [...many("direct", 5), ...many("indirect", 5), ...many("negative", 5)],
  });
  const { prompts } = await generate(model, { counts: { direct: 3, indirect: 0, negative: 1 } });
  assert.deepEqual(prompts.map(({ category }) => category), [
    "direct",
    "direct",
    "direct",
    "negative",
  ]);
  assert.match(model.requests[0]!.prompt, /exactly 3 direct, 1 negative prompts/);
  const none = await generate(new ScriptedModel(), {
    counts: { direct: 0, indirect: 0, negative: 0 },
  });
  assert.deepEqual(none.prompts, []);
});

Deno.test("generatePrompts() asks once more for what breaks the rules, and says why", async () => {
  const model = new ScriptedModel({
    prompts: [
      { category: "direct", prompt: "Rain?" },
      { category: "direct", prompt: "Show the wind in Bonn now" },
      { category: "indirect", prompt: "Get weather so that I can pack" },
      { category: "negative", prompt: "What is it like outside?", expectedTool: "get_weather" },
    ],
  }, { prompts: [DIRECT, INDIRECT, NEGATIVE] });
  const { prompts, warnings } = await generate(model, {
    existing: ["Give me the wind in Bonn now"],
  });
  assert.deepEqual(prompts.map(({ prompt }) => prompt), [
    DIRECT.prompt,
    INDIRECT.prompt,
    NEGATIVE.prompt,
  ]);
  assert.deepEqual(warnings, []);
  const { prompt } = model.requests[1]!;
  assert.match(prompt, /"Rain\?","why":"It has 5 characters; at least 10 are required"/);
  assert.match(prompt, /nearly the same as \\"Give me the wind in Bonn now/);
  assert.match(prompt, /contains the tool's name/);
  assert.match(prompt, /meant for the tool itself/);
});

Deno.test("generatePrompts() drops what is still bad, and says what is missing", async () => {
  const model = new ScriptedModel({ prompts: [DIRECT, DIRECT, NEGATIVE] }, {
    prompts: [{ category: "indirect", prompt: "Use getWeather for me" }],
  });
  const { prompts, warnings } = await generate(model);
  assert.equal(prompts.length, 2);
  assert.match(warnings[0]!, /^A prompt \(indirect\) was dropped: Use getWeather for me - It con/);
  assert.equal(warnings[1], "Only 0 of 1 indirect prompts could be generated");
  assert.equal(warnings.length, 2);
});

Deno.test("generatePrompts() cannot generate where nothing is left", async () => {
  const bad = { prompts: [{ category: "direct", prompt: "Short" }] };
  await assert.rejects(
    generate(new ScriptedModel(bad, bad)),
    isCannotGenerate(/meteo\.get_weather.*It has 5 characters/),
  );
  const unknown = { prompts: [{ category: "other", prompt: "What is this, then?" }] };
  await assert.rejects(
    generate(new ScriptedModel(unknown, unknown)),
    isCannotGenerate(/category/),
  );
});

Deno.test("generatePrompts() knows a sibling by any of its names, and no other tool", async () => {
  const spelled = async (expectedTool: string) => {
    const model = new ScriptedModel({ prompts: [{ ...NEGATIVE, expectedTool }] });
    const counts = { direct: 0, indirect: 0, negative: 1 };
    const siblings = [{ name: "book-flight", description: "" }, { name: "天气", description: "" }];
    const { prompts, warnings } = await generate(model, {
      counts,
      target: aTarget({ siblings }),
    });
    return [prompts[0]!.expectedBehavior.expectedTool, warnings.length];
  };
  for (const name of ["book-flight", "book_flight", "meteo.book-flight", "meteo_book_flight"]) {
    assert.deepEqual(await spelled(name), ["book-flight", 0], name);
  }
  assert.deepEqual(await spelled("天气"), ["天气", 0]);
  // Nothing then tells whether a sibling loses its work.
  for (const name of ["气天", "rent_car", ""]) {
    assert.deepEqual(await spelled(name), [undefined, 1]);
  }
});

Deno.test("generatePrompts() asks for many in several parts, each knowing those before", async () => {
  const direct = many("direct", 100);
  const model = new ScriptedModel(
    { prompts: direct.slice(0, 33) },
    { prompts: direct.slice(33, 66) },
    { prompts: direct.slice(66) },
  );
  const { prompts } = await generate(model, { counts: { direct: 100, indirect: 0, negative: 0 } });
  assert.deepEqual(prompts.map(({ prompt }) => prompt), direct.map(({ prompt }) => prompt));
  assert.ok(model.requests[1]!.prompt.includes(JSON.stringify(direct[32]!.prompt)));
});

Deno.test("generatePrompts() keeps what it has when asking for more fails", async () => {
  const away = new GatewayError("CANNOT_GENERATE", { message: "The model is away" });
  const model = new ScriptedModel({ prompts: [DIRECT, NEGATIVE] }, away);
  const { prompts, warnings } = await generate(model);
  assert.equal(prompts.length, 2);
  assert.match(warnings[0]!, /The request for more prompts failed\. The model is away/);
  await assert.rejects(generate(new ScriptedModel(away)), away);
});

Deno.test("generatePrompts() keeps every request short, however long the texts are", async () => {
  const long = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      category: "indirect",
      prompt: `${i}${"<".repeat(5_000)}`,
    }));
  // The scripted model refuses a request that is too long.
  const model = new ScriptedModel(
    "No JSON. ".repeat(10_000),
    { prompts: long(40) },
    "No JSON. ".repeat(10_000),
    { prompts: [INDIRECT] },
  );
  const { prompts } = await generate(model, {
    target: aHugeTarget(),
    counts: { direct: 0, indirect: 40, negative: 0 },
    existing: Array.from({ length: 200 }, (_, i) => `${i}${"<".repeat(270)}`),
  });
  assert.equal(prompts.length, 1);
  assert.equal(model.requests.length, 4);
});
