import assert from "node:assert/strict";
import { Throttle } from "./throttle.ts";

Deno.test("Throttle.ask() acts at once, then once for all that was asked meanwhile", async () => {
  let acts = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const throttle = new Throttle(20, () => {
    if (++acts === 2) resolve();
  });
  for (let asked = 0; asked < 10; asked++) throttle.ask();
  assert.equal(acts, 1);
  await promise;
  assert.equal(acts, 2);
});

Deno.test("Throttle.now() acts at once, and for what was asked before", () => {
  let acts = 0;
  using throttle = new Throttle(3_600_000, () => acts++);
  throttle.ask();
  throttle.ask();
  throttle.now();
  assert.equal(acts, 2);
});
