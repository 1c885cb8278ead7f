import assert from "node:assert/strict";
import { RepeatedWarning } from "./repeated_warning.ts";

Deno.test("RepeatedWarning.report() tells five, then a count once a minute", () => {
  let now = 0;
  const told: string[] = [];
  const warning = new RepeatedWarning({
    onWarning: (text) => told.push(text),
    summary: (count) => `${count} more`,
    now: () => now,
  });
  for (let index = 0; index < 100; index++) warning.report(`w${index}`);
  assert.deepEqual(told, ["w0", "w1", "w2", "w3", "w4"]);
  now = 60_000;
  warning.report("late");
  assert.equal(told.at(-1), "96 more");
  now = 60_001;
  warning.report("later");
  assert.equal(told.length, 6);
  warning.flush();
  warning.flush();
  assert.deepEqual(told.slice(6), ["1 more"]);
});
