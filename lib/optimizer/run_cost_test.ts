import assert from "node:assert/strict";
import type { RunCost } from "../core/optimization.ts";
import { addCosts, costText, knownCost, spentBy } from "./run_cost.ts";

const UNPRICED: RunCost = { inputTokens: 1, outputTokens: 2 };
const PRICED = { ...UNPRICED, costUsd: 3 };

Deno.test("addCosts() leaves out a price that nobody knows", () => {
  assert.deepEqual(addCosts(UNPRICED, UNPRICED), { inputTokens: 2, outputTokens: 4 });
  assert.deepEqual(addCosts(), { inputTokens: 0, outputTokens: 0 });
});

Deno.test("addCosts() says where a part of the sum has no price, also of a sum of sums", () => {
  assert.deepEqual(addCosts(PRICED, PRICED), { inputTokens: 2, outputTokens: 4, costUsd: 6 });
  const partly = addCosts(UNPRICED, PRICED);
  assert.deepEqual(partly, { inputTokens: 2, outputTokens: 4, costUsd: 3, costKnown: false });
  assert.equal(addCosts(partly, PRICED).costKnown, false);
});

Deno.test("knownCost() tells nothing spent from nothing known", () => {
  assert.deepEqual(knownCost([]), { costUsd: 0 });
  assert.deepEqual(knownCost([PRICED, { costUsd: 0 }]), { costUsd: 3 });
  assert.deepEqual(knownCost([UNPRICED, { costUsd: 0 }]), { costUsd: null, costKnown: false });
  assert.deepEqual(knownCost([{ costUsd: null, costKnown: false }, PRICED]), {
    costUsd: 3,
    costKnown: false,
  });
});

Deno.test("spentBy() is nothing before the first run and the first text", () => {
  const cost = { inputTokens: 0, outputTokens: 0 };
  assert.deepEqual(addCosts(...spentBy({ runs: 0, cost }), PRICED), PRICED);
  assert.equal(addCosts(...spentBy({ runs: 1, cost }), PRICED).costKnown, false);
  const written = { runs: 0, cost: PRICED, writingCost: PRICED };
  assert.equal(addCosts(...spentBy(written), PRICED).costUsd, 6);
});

Deno.test("costText() never shows less than there was as all", () => {
  assert.equal(costText({ costUsd: 0 }), "$0.00");
  assert.equal(costText({ costUsd: 0.001 }), "$0.0010");
  assert.equal(costText({ costUsd: 1.5, costKnown: false }), "at least $1.50");
  assert.equal(costText({ costUsd: null, costKnown: false }), "not known");
});
