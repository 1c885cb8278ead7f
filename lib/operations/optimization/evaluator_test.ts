import assert from "node:assert/strict";
import { checkedText, EvaluatorCheck } from "./evaluator.ts";

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

Deno.test("checkedWords() claims no more than was checked", () => {
  const api = checkedText({ kind: "messages-api", model: "sonnet", problem: null }) ?? "";
  assert.match(api, /^Checked: a URL is set, and an API key .*No request was sent/);
  const cli = checkedText({ kind: "claude-cli", model: "sonnet", problem: null }) ?? "";
  assert.match(cli, /^Checked: the program starts/);
  for (const words of [api, cli]) {
    assert.match(words, /No request was sent to a model: the first run shows /);
  }
});

Deno.test("checkedWords() says nothing where there is no evaluator", () => {
  assert.equal(checkedText({ kind: null, model: null, problem: "Cannot evaluate" }), null);
});
