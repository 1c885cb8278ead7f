import assert from "node:assert/strict";
import { SearchRanks } from "./second_opinion.ts";
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

Deno.test("SearchRanks.of() says for every prompt where the tool comes with a description", () => {
  const ranks = new SearchRanks(subject);
  assert.deepEqual(ranks.of("Forecast of rain and sun", prompts), { rain: 1, mail: null });
  assert.deepEqual(ranks.of("Send rain by email to a mother", prompts), { rain: 1, mail: 1 });
});

Deno.test("SearchRanks.of() keeps nothing of the description before", () => {
  const ranks = new SearchRanks(subject);
  assert.equal(ranks.of("Forecast of rain", prompts).rain, 1);
  assert.equal(ranks.of("Does things", prompts).rain, null);
  assert.equal(ranks.of("Forecast of rain", prompts).rain, 1);
});

Deno.test("SearchRanks.of() has nothing to say of a tool that is not there", () => {
  const ranks = new SearchRanks({ ...subject, tool: "gone" });
  assert.deepEqual(ranks.of("Rain", prompts), {});
});
