import assert from "node:assert/strict";
import type { RunCost } from "../core/optimization.ts";
import { addCosts, Budget, costText, knownCost, spentBy } from "./cost.ts";

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

const unpriced = { inputTokens: 1, outputTokens: 1 };
const price = (costUsd: number) => ({ inputTokens: 1, outputTokens: 1, costUsd });

Deno.test("Budget.takeRun() allows so many runs, with those from before", () => {
  const budget = new Budget({ maxRuns: 3 });
  budget.runFound(price(0));
  assert.deepEqual([budget.takeRun(), budget.takeRun()], [undefined, undefined]);
  assert.equal(budget.refused, undefined);
  assert.equal(budget.takeRun(), "the budget of 3 runs is used up");
  assert.equal(budget.refused, "the budget of 3 runs is used up");
});

Deno.test("Budget.takeRun() stops before the next run would cost too much", () => {
  const budget = new Budget({ maxCostUsd: 0.35 });
  for (let run = 0; run < 2; run++) {
    assert.equal(budget.takeRun(), undefined);
    budget.runEnded(price(0.1));
  }
  assert.equal(budget.takeRun(), undefined);
  // One is under way, and this would be the fourth.
  assert.match(budget.takeRun() ?? "", /0.35 USD is used up \(0.2000 USD spent\)/);
});

Deno.test("Budget.refuse() counts what was written and what was found after a restart", () => {
  const written = new Budget({ maxCostUsd: 1 });
  written.spend(price(1));
  assert.match(written.refuse() ?? "", /used up/);
  const found = new Budget({ maxRuns: 1 });
  found.runFound(price(0));
  assert.match(found.refuse() ?? "", /used up/);
});

Deno.test("Budget.takeRun() has no limit by default", () => {
  const budget = new Budget({});
  for (let run = 0; run < 1_000; run++) assert.equal(budget.takeRun(), undefined);
});

Deno.test("Budget.takeRun() takes a run that does not say what it cost for a usual one", () => {
  const budget = new Budget({ maxCostUsd: 1 });
  for (const cost of [price(0.3), unpriced, unpriced]) {
    assert.equal(budget.takeRun(), undefined);
    budget.runEnded(cost);
  }
  assert.match(budget.takeRun() ?? "", /used up \(0.9000 USD spent\)/);
});

Deno.test("Budget.takeRun() stops where a limit in USD cannot be kept", () => {
  const budget = new Budget({ maxCostUsd: 1 });
  for (let run = 0; run < 3; run++) {
    assert.equal(budget.takeRun(), undefined);
    budget.runEnded(unpriced);
  }
  assert.match(budget.takeRun() ?? "", /cannot be enforced: runs do not report their cost/);
});
