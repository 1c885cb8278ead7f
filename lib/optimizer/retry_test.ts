import assert from "node:assert/strict";
import type { RunRequest } from "./evaluator.ts";
import { runWithRetries } from "./retry.ts";
import { called, failed, ScriptedEvaluator } from "./testing/scripted_evaluator.ts";

function aRequest(signal = new AbortController().signal): RunRequest {
  return { prompt: "What about tomorrow?", tools: [], target: "weather_get_forecast", signal };
}

Deno.test("runWithRetries() tries three times and adds up what all tries cost", async () => {
  const evaluator = new ScriptedEvaluator(() => failed("busy"));
  const tried = await runWithRetries(evaluator, aRequest(), { delayMs: 1 });
  assert.equal(tried.observation.status, "error");
  assert.equal(tried.attempts, 3);
  assert.equal(evaluator.asked.length, 3);
  assert.equal(tried.cost.inputTokens, 3);
  assert.equal(tried.cost.costUsd?.toFixed(3), "0.003");
});

Deno.test("runWithRetries() stops with the first try that goes well", async () => {
  const evaluator = new ScriptedEvaluator(({ call }) => call < 2 ? failed("busy") : called());
  const tried = await runWithRetries(evaluator, aRequest(), { delayMs: 1 });
  assert.deepEqual([tried.observation.status, tried.attempts], ["ok", 2]);
});

Deno.test("runWithRetries() does not repeat what would fail as surely again", async () => {
  const evaluator = new ScriptedEvaluator(() => failed("not installed", "request"));
  assert.equal((await runWithRetries(evaluator, aRequest(), { delayMs: 1 })).attempts, 1);
});

Deno.test("runWithRetries() takes an evaluator's exception for a failed run", async () => {
  const evaluator = new ScriptedEvaluator(() => Promise.reject(new Error("a bug")));
  const { observation } = await runWithRetries(evaluator, aRequest(), { delayMs: 1 });
  assert.ok(observation.status === "error");
  assert.match(observation.reason, /a bug/);
});

Deno.test("runWithRetries() gives up its pause when aborted", async () => {
  const stopping = new AbortController();
  const evaluator = new ScriptedEvaluator(() => {
    setTimeout(() => stopping.abort(new Error("cancelled")), 1);
    return failed("busy");
  });
  const request = aRequest(stopping.signal);
  // Without the abort it would wait for an hour.
  await assert.rejects(runWithRetries(evaluator, request, { delayMs: 3_600_000 }), /cancelled/);
  assert.equal(evaluator.asked.length, 1);
});

Deno.test("runWithRetries() keeps nothing of a run that was aborted", async () => {
  const stopping = new AbortController();
  const evaluator = new ScriptedEvaluator(() => {
    stopping.abort(new Error("cancelled"));
    return called("weather_get_forecast");
  });
  await assert.rejects(runWithRetries(evaluator, aRequest(stopping.signal)), /cancelled/);
});
