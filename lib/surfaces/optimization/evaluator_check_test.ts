import assert from "node:assert/strict";
import { EvaluatorCheck } from "./evaluator_check.ts";

const PROGRAM = { path: "/bin/claude", version: "2.1.325 (Claude Code)" };

Deno.test("EvaluatorCheck looks only when it is run, and remembers that while nothing is switched", async () => {
  let looks = 0;
  let isOn = true;
  const check = new EvaluatorCheck({
    info: () => {
      looks++;
      return Promise.resolve(
        isOn
          ? { kind: "claude-cli", model: "sonnet", problem: null }
          : { kind: null, model: null, problem: "It is off" },
      );
    },
    program: () => Promise.resolve(PROGRAM),
    isEnabled: () => isOn,
  });
  assert.equal(check.last, undefined);
  assert.equal(looks, 0);
  const found = { kind: "claude-cli", model: "sonnet", problem: null, program: PROGRAM };
  assert.deepEqual(await check.run(), found);
  assert.deepEqual(check.last, found);
  isOn = false;
  assert.equal(check.last, undefined);
  const none = { kind: null, model: null, problem: "It is off" };
  assert.deepEqual([await check.run(), check.last], [none, none]);
  assert.equal(looks, 2);
});
