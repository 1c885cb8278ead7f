import assert from "node:assert/strict";
import { addCosts } from "./run_cost.ts";

Deno.test("addCosts() leaves out a price that nobody knows", () => {
  const free = { inputTokens: 1, outputTokens: 2 };
  assert.deepEqual(addCosts(free, free), { inputTokens: 2, outputTokens: 4 });
  assert.deepEqual(addCosts(free, { ...free, costUsd: 3 }).costUsd, 3);
});
