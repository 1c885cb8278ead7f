import assert from "node:assert/strict";
import { searchRanking } from "./search_ranks.ts";
import { aPrompt } from "../testing/runs.ts";

function aTool(name: string, description: string) {
  return {
    server: "weather",
    name,
    definition: { name, description, inputSchema: { type: "object" as const } },
  };
}

const tools = [
  aTool("get_x", "Does things"),
  aTool("book_flight", "Book a flight between two airports"),
  aTool("send_mail", "Send an email to somebody"),
];
const prompts = [
  aPrompt("rain", "indirect", { prompt: "Will there be rain in Rome tomorrow?" }),
  aPrompt("mail", "negative", { prompt: "Send an email to my mother" }),
];

Deno.test("searchRanking() says for every prompt where the tool comes with a description", () => {
  const ranksOf = searchRanking(tools, tools[0]!);
  assert.deepEqual(ranksOf({ description: "Forecast of rain and sun" }, prompts), {
    rain: 1,
    mail: null,
  });
  // "Send" is not what a tool called get_x does, however it is described.
  assert.deepEqual(ranksOf({ description: "Send rain by email to a mother" }, prompts), {
    rain: 1,
    mail: 2,
  });
});

Deno.test("searchRanking() keeps nothing of the description before", () => {
  const ranksOf = searchRanking(tools, tools[0]!);
  assert.equal(ranksOf({ description: "Forecast of rain" }, prompts).rain, 1);
  assert.equal(ranksOf({ description: "Does things" }, prompts).rain, null);
  assert.equal(ranksOf({ description: "Forecast of rain" }, prompts).rain, 1);
});

Deno.test("searchRanking() has nothing to say of a tool that is not there", () => {
  const ranksOf = searchRanking(tools, aTool("gone", "Rain"));
  assert.deepEqual(ranksOf({ description: "Rain" }, prompts), {});
});

Deno.test("searchRanking() goes by texts for parameters, too", () => {
  const target = aTool("get_x", "Does things");
  const inputSchema = { type: "object" as const, properties: { when: { type: "string" } } };
  const own = { ...target, definition: { ...target.definition, inputSchema } };
  const ranksOf = searchRanking(tools, own);
  const description = "Does things";
  const parameters = { when: "The day of the rain" };
  assert.equal(ranksOf({ description, parameters }, prompts).rain, 1);
  assert.equal(ranksOf({ description }, prompts).rain, null);
});
