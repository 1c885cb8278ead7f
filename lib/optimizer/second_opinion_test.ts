import assert from "node:assert/strict";
import { SearchRanks, searchRanks } from "./second_opinion.ts";
import { aPrompt } from "./testing/runs.ts";

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
const subject = { tools, server: "weather", tool: "get_x" };

Deno.test("searchRanks() says where the tool comes with a description, for prompts that are for it", () => {
  const description = "Forecast of rain and sun for a city";
  assert.deepEqual(searchRanks({ ...subject, description, prompts }), { rain: 1 });
});

Deno.test("searchRanks() says null where the tool is not found", () => {
  assert.deepEqual(searchRanks({ ...subject, description: "Does things", prompts }), {
    rain: null,
  });
});

Deno.test("SearchRanks.of() keeps nothing of the description before", () => {
  const ranks = new SearchRanks(subject);
  assert.deepEqual(ranks.of("Forecast of rain", prompts), { rain: 1 });
  assert.deepEqual(ranks.of("Does things", prompts), { rain: null });
  assert.deepEqual(ranks.of("Forecast of rain", prompts), { rain: 1 });
});

Deno.test("searchRanks() has nothing to say of a tool that is not there", () => {
  assert.deepEqual(searchRanks({ ...subject, tool: "gone", description: "Rain", prompts }), {});
});
