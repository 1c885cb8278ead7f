import assert from "node:assert/strict";
import { type Evaluator, EvaluatorTrial, type Observation, type RunRequest } from "./evaluator.ts";

const { signal } = new AbortController();
const cost = { inputTokens: 900, outputTokens: 40 };

function trialWith(run: (request: RunRequest) => Promise<Observation> | Observation, isOn = true) {
  const evaluator: Evaluator = {
    kind: "claude-cli",
    model: "sonnet",
    check: () => Promise.resolve(),
    run: async (request) => await run(request),
  };
  return new EvaluatorTrial({
    evaluator: () => Promise.resolve(evaluator),
    isEnabled: () => isOn,
    now: () => 7,
  });
}

const called = (...names: string[]): Observation => ({
  status: "ok",
  calls: names.map((name) => ({ name, arguments: {} })),
  reasoning: "",
  durationMs: 1_200,
  cost,
  model: "sonnet-x",
});

Deno.test("EvaluatorTrial.run() makes one request with tools, and remembers how it went", async () => {
  const asked: RunRequest[] = [];
  const trial = trialWith((request) => {
    asked.push(request);
    return called(request.target);
  });
  const result = await trial.run(signal);
  assert.deepEqual([result.outcome, result.model, result.at], ["right", "sonnet-x", 7]);
  assert.deepEqual([result.durationMs, result.cost], [1_200, cost]);
  assert.equal(asked.length, 1);
  assert.ok(asked[0]?.tools.some(({ name }) => name === asked[0]?.target));
  assert.equal(trial.last, result);
});

Deno.test("EvaluatorTrial.run() tells another choice from a failure, each with what to do", async () => {
  const none = await trialWith(() => called()).run(signal);
  assert.equal(none.outcome, "wrong");
  assert.match(none.words, /called no tool.*--eval-model/);
  const other = await trialWith(() => called("mail_send")).run(signal);
  assert.match(other.words, /called mail_send/);
  const failed = (isLasting: boolean) =>
    trialWith(() => ({ status: "error", reason: "Refused.", durationMs: 5, cost, isLasting }))
      .run(signal);
  assert.match((await failed(true)).words, /^Refused\. Fix this first/);
  assert.match((await failed(false)).words, /^Refused\. .*run the test again/);
});

Deno.test("EvaluatorTrial.run() spends nothing while optimization is off, and runs once at a time", async () => {
  const off = trialWith(() => assert.fail("it was asked"), false);
  await assert.rejects(off.run(signal), { code: "OPTIMIZATION_DISABLED" });
  const gate = Promise.withResolvers<Observation>();
  const trial = trialWith(() => gate.promise);
  const first = trial.run(signal);
  await assert.rejects(trial.run(signal), { code: "OPERATION_IN_PROGRESS" });
  gate.resolve(called());
  await first;
  await trial.run(signal);
});
