import assert from "node:assert/strict";
import { SearchRanking } from "./search_ranks.ts";
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
const target = { tools, server: "weather", tool: "get_x" };

Deno.test("SearchRanking.of() says for every prompt where the tool comes with a description", () => {
  const ranks = new SearchRanking(target);
  assert.deepEqual(ranks.of("Forecast of rain and sun", prompts), { rain: 1, mail: null });
  assert.deepEqual(ranks.of("Send rain by email to a mother", prompts), { rain: 1, mail: 1 });
});

Deno.test("SearchRanking.of() keeps nothing of the description before", () => {
  const ranks = new SearchRanking(target);
  assert.equal(ranks.of("Forecast of rain", prompts).rain, 1);
  assert.equal(ranks.of("Does things", prompts).rain, null);
  assert.equal(ranks.of("Forecast of rain", prompts).rain, 1);
});

Deno.test("SearchRanking.of() has nothing to say of a tool that is not there", () => {
  const ranks = new SearchRanking({ ...target, tool: "gone" });
  assert.deepEqual(ranks.of("Rain", prompts), {});
});
