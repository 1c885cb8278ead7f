import assert from "node:assert/strict";
import { matchingTools, tokensOf } from "./tool_choice.ts";

const tools = [
  { name: "get_forecast", summary: "Weather to come", isOn: true, tokens: 40 },
  { name: "get_radar", summary: "Images", isOn: false, tokens: 2 },
];

Deno.test("matchingTools() finds every word in name or summary", () => {
  assert.deepEqual(matchingTools(tools, " GET weather ").map(({ name }) => name), ["get_forecast"]);
  assert.equal(matchingTools(tools, " ").length, 2);
  assert.equal(matchingTools(tools, "none").length, 0);
});

Deno.test("tokensOf() adds what is chosen, once all of it is counted", () => {
  assert.equal(tokensOf(tools, new Set(["get_forecast", "get_radar"])), 42);
  assert.equal(
    tokensOf([...tools, { name: "x", summary: "", isOn: true }], new Set(["x"])),
    undefined,
  );
  assert.equal(tokensOf(tools, new Set()), 0);
});
