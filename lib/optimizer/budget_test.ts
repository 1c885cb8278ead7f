import assert from "node:assert/strict";
import { Budget } from "./budget.ts";

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

Deno.test("Budget.takeRun() has no limit unless told", () => {
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
  assert.match(budget.takeRun() ?? "", /cannot be kept, as runs do not say what they cost/);
});
