import assert from "node:assert/strict";
import { CANONICAL, descriptionHash, Evaluation, textHash } from "../../core/optimization.ts";
import { evaluate, type EvaluationProgress, runWithRetries } from "./run.ts";
import { chooseSiblingPrompts } from "./selection.ts";
import { evaluationBench, resultOf } from "../testing/evaluation_bench.ts";
import { aPrompt } from "../testing/runs.ts";
import { called, failed, type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, GREEDY, POOR, somePrompts, TARGET } from "../testing/weather.ts";
import type { RunRequest } from "../evaluators/evaluator.ts";

Deno.test("evaluate() puts the same prompts to all descriptions and proposes the better one", async () => {
  const { input, evaluator, saved } = evaluationBench(byDescription);
  const { evaluation, runs } = await evaluate(input);
  assert.deepEqual(Evaluation.parse(evaluation), evaluation);
  assert.equal(runs.length, 30);
  assert.deepEqual(saved, runs);
  assert.deepEqual(resultOf(evaluation, CANONICAL).metrics.overall, { correct: 5, total: 15 });
  assert.deepEqual(resultOf(evaluation, "good").metrics.overall, { correct: 15, total: 15 });
  const { verdict } = resultOf(evaluation, "good");
  assert.deepEqual([verdict?.promote, verdict?.proposed], [false, true]);
  assert.equal(resultOf(evaluation, CANONICAL).verdict, undefined);
  assert.equal(evaluation.model, "stand-in-1");
  assert.deepEqual(evaluation.prompts, { direct: 5, indirect: 5, negative: 5 });
  assert.equal(evaluation.cost.costUsd?.toFixed(2), "0.30");
  for (let at = 0; at < evaluator.asked.length; at += 2) {
    const pair = evaluator.asked.slice(at, at + 2);
    assert.deepEqual(pair.map(({ description }) => description), [POOR, GOOD]);
    assert.equal(pair[0]?.prompt, pair[1]?.prompt);
  }
});

Deno.test("evaluate() decides itself whether a run is correct, and records what it rests on", async () => {
  const [prompt] = somePrompts(1);
  assert.ok(prompt);
  const { input, saved } = evaluationBench(() => ["weather_get_alerts", TARGET, "somewhere_else"], {
    descriptions: [{ candidateId: CANONICAL, description: POOR }],
    prompts: [{ ...prompt, version: 3 }, aPrompt("no", "negative")],
  });
  await evaluate(input);
  const [first, second] = saved;
  assert.deepEqual(first?.calls.map(({ name, server, tool }) => ({ name, server, tool })), [
    { name: "weather_get_alerts", server: "weather", tool: "get_alerts" },
    { name: TARGET, server: "weather", tool: "get_forecast" },
    { name: "somewhere_else", server: undefined, tool: undefined },
  ]);
  assert.deepEqual(first?.calls[0]?.arguments, { city: "Rome" });
  assert.equal(first?.promptVersion, 3);
  assert.equal(first?.descriptionHash, descriptionHash(POOR));
  assert.equal(first?.evaluationId, "evaluation_1");
  assert.deepEqual([first?.result.toolCalled, first?.result.correct], [true, true]);
  assert.deepEqual([second?.result.toolCalled, second?.result.correct], [true, false]);
});

Deno.test("evaluate() keeps only the beginning of arguments that are as long as a file", async () => {
  const { input, saved } = evaluationBench((_, { target }) => ({
    ...called(target),
    calls: [{ name: target, arguments: { text: "x".repeat(10_000) } }],
  }), { descriptions: [{ candidateId: CANONICAL, description: POOR }] });
  await evaluate(input);
  const given = saved[0]?.calls[0]?.arguments;
  assert.ok(typeof given === "string" && given.length < 4_100);
  assert.match(given, /^\{"text":"x+… \(cut from 10011 characters\)$/);
});

Deno.test("evaluate() tries a failed run again, and counts what the failed tries cost", async () => {
  const { input, saved } = evaluationBench(
    (asked, request) => asked.call === 1 ? failed("busy") : byDescription(asked, request),
    { descriptions: [{ candidateId: CANONICAL, description: POOR }] },
  );
  const { evaluation } = await evaluate(input);
  assert.equal(saved[0]?.status, "ok");
  assert.equal(saved[0]?.attempts, 2);
  assert.equal(saved[0]?.cost.costUsd?.toFixed(3), "0.011");
  assert.equal(evaluation.errors, 0);
});

Deno.test("evaluate() scores a failed run neither as correct nor as incorrect", async () => {
  const { input } = evaluationBench((asked, request) =>
    asked.prompt.startsWith("negative 0") ? failed("busy") : byDescription(asked, request)
  );
  const { evaluation } = await evaluate(input);
  assert.equal(evaluation.errors, 2);
  assert.equal(evaluation.void, undefined);
  assert.deepEqual(resultOf(evaluation, "good").metrics.negative, { correct: 4, total: 4 });
  assert.equal(resultOf(evaluation, "good").errors, 1);
});

Deno.test("evaluate() refuses a candidate that takes what is meant for a sibling", async () => {
  const siblings = [0, 1].map((index) =>
    aPrompt(`alert-${index}`, "direct", {
      toolName: "get_alerts",
      prompt: `weather alerts number ${index}`,
    })
  );
  const { input, saved } = evaluationBench(byDescription, {
    siblingPrompts: chooseSiblingPrompts(siblings, ["get_alerts"], "quick"),
  });
  const { evaluation } = await evaluate(input);
  const { verdict, metrics, confusion } = resultOf(evaluation, "good");
  assert.equal(saved.length, 34);
  assert.deepEqual(metrics.overall, { correct: 15, total: 15 });
  assert.equal(confusion.get_alerts?.get_forecast, 2);
  assert.equal(verdict?.proposed, undefined);
  assert.match(verdict?.words ?? "", /get_alerts/);
});

Deno.test("evaluate() proposes nothing that takes siblings' prompts, whatever the thresholds", async () => {
  const siblingPrompts = Array.from(
    { length: 10 },
    (_, index) =>
      aPrompt(`alert-${index}`, "negative", {
        toolName: "get_alerts",
        prompt: index < 8 ? `number ${index} of alerts` : `number ${index} of weather alerts`,
        expectedBehavior: { shouldCallTool: false, expectedTool: "get_alerts" },
      }),
  );
  const { input } = evaluationBench(byDescription, {
    prompts: somePrompts(10).filter(({ id, category }) =>
      category === "direct" || id === "negative-0"
    ),
    siblingPrompts,
    // So low that it is certain to reach them long before the end.
    thresholds: { minOverall: 0.1, minNegative: 0, minImprovement: 0, maxRegression: 1 },
  });
  const { evaluation } = await evaluate(input);
  const { verdict } = resultOf(evaluation, "good");
  assert.deepEqual(verdict?.rules.filter(({ passed }) => !passed).map(({ rule }) => rule), [
    "siblings",
  ]);
});

Deno.test("evaluate() makes no more runs at once than it may", async () => {
  const { input, evaluator } = evaluationBench(async (asked, request) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return byDescription(asked, request);
  }, { concurrency: 3 });
  await evaluate(input);
  assert.equal(evaluator.most, 3);
});

Deno.test("evaluate() reports how far it is", async () => {
  const seen: EvaluationProgress[] = [];
  const { input } = evaluationBench(byDescription, {
    onProgress: (progress) => seen.push(progress),
  });
  await evaluate(input);
  assert.deepEqual([seen[0]?.runsDone, seen[0]?.runsTotal], [0, 30]);
  const last = seen.at(-1);
  assert.deepEqual([last?.runsDone, last?.runsTotal], [30, 30]);
  assert.deepEqual(last?.byCategory.direct, { done: 10, total: 10 });
  assert.equal(last?.currentCandidate, 1);
});

Deno.test("evaluate() refuses a greedy candidate for what it does with negative prompts", async () => {
  const { input } = evaluationBench(byDescription, {
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "greedy", description: GREEDY },
    ],
  });
  const { evaluation } = await evaluate(input);
  const { verdict } = resultOf(evaluation, "greedy");
  assert.equal(verdict?.promote, false);
  assert.ok(verdict?.rules.some(({ rule, passed }) => rule === "negative" && !passed));
});

function aRequest(signal = new AbortController().signal): RunRequest {
  return { prompt: "What about tomorrow?", tools: [], target: "weather_get_forecast", signal };
}

Deno.test("runWithRetries() tries three times and adds up what all tries cost", async () => {
  const evaluator = new ScriptedEvaluator(() => failed("busy"));
  const tried = await runWithRetries(evaluator, aRequest(), 1);
  assert.equal(tried.observation.status, "error");
  assert.equal(tried.attempts, 3);
  assert.equal(evaluator.asked.length, 3);
  assert.equal(tried.cost.inputTokens, 3);
  assert.equal(tried.cost.costUsd?.toFixed(3), "0.003");
});

Deno.test("runWithRetries() stops with the first try that goes well", async () => {
  const evaluator = new ScriptedEvaluator(({ call }) => call < 2 ? failed("busy") : called());
  const tried = await runWithRetries(evaluator, aRequest(), 1);
  assert.deepEqual([tried.observation.status, tried.attempts], ["ok", 2]);
});

Deno.test("runWithRetries() does not repeat what would fail as surely again", async () => {
  const evaluator = new ScriptedEvaluator(() => failed("not installed", "request"));
  assert.equal((await runWithRetries(evaluator, aRequest(), 1)).attempts, 1);
});

Deno.test("runWithRetries() takes an evaluator's exception for a failed run", async () => {
  const evaluator = new ScriptedEvaluator(() => Promise.reject(new Error("a bug")));
  const { observation } = await runWithRetries(evaluator, aRequest(), 1);
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
  await assert.rejects(runWithRetries(evaluator, request, 3_600_000), /cancelled/);
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

Deno.test("evaluate() shows the model texts for parameters, and keeps what the server says of them", async () => {
  const parameters = { city: "A city, in any spelling" };
  const seen = new Set<string>();
  const script: Script = (_, { target, tools }) => {
    const { text } = tools.find(({ name }) => name === target)!;
    const { city } = JSON.parse(text).inputSchema.properties ?? {};
    seen.add(city?.description ?? "none");
    return city ? [target] : [];
  };
  const { input, saved } = evaluationBench(script, {
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "named", description: POOR, parameters },
    ],
    ownParameters: { city: "City", day: null },
  });
  const { evaluation } = await evaluate(input);
  assert.deepEqual(seen, new Set(["none", parameters.city]));
  assert.deepEqual(Evaluation.parse(evaluation).canonicalParameters, { city: "City" });
  const named = resultOf(evaluation, "named");
  assert.deepEqual([named.description, named.parameters], [POOR, parameters]);
  assert.equal(named.metrics.direct.correct, 5);
  assert.equal(resultOf(evaluation, CANONICAL).metrics.direct.correct, 0);
  const hashes = Map.groupBy(saved, ({ descriptionHash }) => descriptionHash);
  assert.deepEqual([...hashes.keys()], [
    descriptionHash(POOR),
    textHash({
      description: POOR,
      parameters,
    }),
  ]);
  // Runs with other texts for parameters are another candidate's.
  const other = { description: POOR, parameters: { city: "Town" } };
  const [, second] = input.descriptions;
  const again = evaluationBench(script, {
    descriptions: [input.descriptions[0]!, { ...second!, ...other }],
    finished: saved,
  });
  await evaluate(again.input);
  assert.deepEqual(new Set(again.saved.map(({ candidateId }) => candidateId)), new Set(["named"]));
});
