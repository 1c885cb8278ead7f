import assert from "node:assert/strict";
import { CANONICAL, descriptionHash } from "../../core/optimization.ts";
import { claudeCliEvaluator } from "../evaluators/claude_cli.ts";
import { fakeClaude } from "../evaluators/testing/fake_claude.ts";
import { evaluate } from "./run.ts";
import { evaluationBench, resultOf } from "../testing/evaluation_bench.ts";
import { called, failed, hang, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, POOR } from "../testing/weather.ts";

Deno.test("evaluate() is void with more than a fifth of errors, says why and promotes nothing", async () => {
  // 4 of 15 prompts are 8 of 30 runs; the last of them come when most runs have been made.
  const { input } = evaluationBench((asked, request) =>
    /^(negative|indirect) [34]/.test(asked.prompt)
      ? failed(asked.prompt.startsWith("negative") ? "529 overloaded" : "timed out")
      : byDescription(asked, request)
  );
  const { evaluation } = await evaluate(input);
  assert.match(evaluation.void ?? "", /runs failed, more than 20 %/);
  assert.match(evaluation.void ?? "", /529 overloaded \(\d times\)/);
  assert.match(evaluation.void ?? "", /timed out \(\d times\)/);
  const { verdict } = resultOf(evaluation, "good");
  assert.equal(verdict?.promote, false);
  assert.match(verdict?.words ?? "", /void/);
});

Deno.test("evaluate() ends when so many runs have failed that the rest cannot help", async () => {
  const { input, saved } = evaluationBench(() => failed("529 overloaded"));
  const { evaluation } = await evaluate(input);
  assert.equal(saved.length, 7);
  assert.ok(evaluation.void);
});

Deno.test("evaluate() ends at once with an error that lasts", async () => {
  const { input, evaluator, saved } = evaluationBench((asked, request) =>
    asked.call === 3 ? failed("not logged in", "all") : byDescription(asked, request)
  );
  const { evaluation, lasting } = await evaluate(input);
  assert.equal(evaluator.asked.length, 3);
  assert.equal(saved.length, 3);
  assert.equal(lasting, "not logged in");
  assert.match(evaluation.void ?? "", /not logged in/);
});

Deno.test("evaluate() ends when its first run did not end in time twice", async () => {
  const { input, evaluator, saved } = evaluationBench(() => failed("hangs", "timeout"));
  const { evaluation, lasting } = await evaluate(input);
  assert.deepEqual([evaluator.asked.length, saved.length, lasting], [2, 1, "hangs"]);
  assert.match(evaluation.void ?? "", /no run can succeed: hangs/);
});

Deno.test("evaluate() ends when two runs in a row did not end in time, not for one", async () => {
  const only = evaluationBench((asked, request) =>
    asked.prompt.startsWith("negative 3") && asked.description === POOR
      ? failed("hangs", "timeout")
      : byDescription(asked, request)
  );
  assert.deepEqual((await evaluate(only.input)).evaluation.errors, 1);
  assert.equal(only.evaluator.asked.length, 31);
  const later = evaluationBench((asked, request) =>
    asked.call > 5 ? failed("hangs", "timeout") : byDescription(asked, request)
  );
  assert.equal((await evaluate(later.input)).lasting, "hangs");
  assert.deepEqual([later.evaluator.asked.length, later.saved.length], [9, 7]);
});

Deno.test("evaluate() gives up a program that hangs after two time-outs, whatever runs at once", async () => {
  await using fake = await fakeClaude(`echo >> "$FOLDER/starts"\nsleep 300`);
  const evaluator = claudeCliEvaluator({
    path: fake.path,
    model: "stand-in",
    timeoutMs: 200,
    env: { PATH: Deno.env.get("PATH") ?? "" },
    openEndpoint: () => Promise.resolve({ url: "", token: "", async [Symbol.asyncDispose]() {} }),
  });
  const { input, saved } = evaluationBench(byDescription, {
    evaluators: [evaluator],
    concurrency: 2,
  });
  const { lasting } = await evaluate(input);
  assert.match(lasting ?? "", /did not exit within 200 ms/);
  const starts = (await Deno.readTextFile(`${fake.folder}/starts`)).length;
  assert.ok(starts <= 4 && saved.length <= 2, `${starts} starts, ${saved.length} runs`);
});

Deno.test("evaluate() goes on after an error that lasts, but that other runs need not meet", async () => {
  const { input, evaluator } = evaluationBench((asked, request) =>
    asked.prompt.startsWith("negative 3")
      ? failed("400: the prompt is too odd", "request")
      : byDescription(asked, request)
  );
  const { evaluation, lasting } = await evaluate(input);
  assert.equal(lasting, undefined);
  // Tried once each: it would fail as surely.
  assert.equal(evaluator.asked.length, 30);
  assert.deepEqual([evaluation.errors, evaluation.void], [2, undefined]);
  assert.equal(resultOf(evaluation, "good").verdict?.proposed, true);
});

Deno.test("evaluate() evaluates the canonical description alone to the end", async () => {
  const { input } = evaluationBench(byDescription, {
    descriptions: [{ candidateId: CANONICAL, description: POOR }],
  });
  const { evaluation } = await evaluate(input);
  assert.equal(resultOf(evaluation, CANONICAL).metrics.overall.total, 15);
});

Deno.test("evaluate() proposes nothing on what a budget left", async () => {
  let left = 24;
  const { input, saved } = evaluationBench(byDescription, {
    mayRun: () => left-- > 0 ? undefined : "the budget of 24 runs is used up",
  });
  const { evaluation } = await evaluate(input);
  assert.equal(saved.length, 24);
  const { verdict, metrics } = resultOf(evaluation, "good");
  assert.deepEqual(metrics.overall, { correct: 12, total: 12 });
  assert.equal(verdict?.promote, false);
  assert.match(
    verdict?.words ?? "",
    /^not enough evidence: only 24 of about 30 runs completed because the budget/,
  );
  assert.deepEqual([verdict?.proposed, verdict?.moreRuns], [undefined, 6]);
  assert.ok(evaluation.warnings.some((words) => words.includes("the budget of 24 runs")));
});

Deno.test("evaluate() does not repeat finished runs", async () => {
  const first = evaluationBench(byDescription);
  await evaluate(first.input);
  const finished = first.saved.slice(0, 17);
  const second = evaluationBench(byDescription, { finished });
  const { evaluation, runs } = await evaluate(second.input);
  assert.equal(second.evaluator.asked.length, 13);
  assert.equal(runs.length, 30);
  assert.equal(evaluation.startedAt, finished[0]?.timestamp);
  assert.equal(resultOf(evaluation, "good").verdict?.proposed, true);
});

Deno.test("evaluate() leaves out finished runs of another model, and says so", async () => {
  const first = evaluationBench(byDescription);
  await evaluate(first.input);
  const finished = first.saved.slice(0, 12);
  const evaluator = new ScriptedEvaluator(byDescription, "another");
  const second = evaluationBench(byDescription, { finished, evaluators: [evaluator] });
  const { evaluation, runs } = await evaluate(second.input);
  assert.equal(evaluator.asked.length, 30);
  assert.ok(runs.every(({ askedModel }) => askedModel === "another"));
  assert.ok(
    evaluation.warnings.some((words) =>
      /^12 finished runs were not counted: model "stand-in"/.test(words)
    ),
  );
});

Deno.test("evaluate() says where more than one model answered", async () => {
  const { input } = evaluationBench((asked, request) => {
    const answer = byDescription(asked, request);
    assert.ok(Array.isArray(answer));
    return { ...called(...answer), model: asked.call > 10 ? "two" : "one" };
  });
  const { evaluation } = await evaluate(input);
  assert.ok(evaluation.warnings.some((words) => /More than one model.*: one, two/.test(words)));
});

Deno.test("evaluate() says the same in words as in numbers, also of runs that were under way", async () => {
  // The outcome is certain while others of the same time are still being made.
  const { input } = evaluationBench(byDescription, {
    concurrency: 6,
    descriptions: [
      { candidateId: CANONICAL, description: POOR },
      { candidateId: "poor", description: "Does other things." },
    ],
  });
  const { evaluation } = await evaluate(input);
  const { verdict, paired } = resultOf(evaluation, "poor");
  assert.ok(paired && verdict);
  const { correct, total } = paired.candidate.overall;
  assert.match(verdict.words, new RegExp(`evidence from ${total} prompts`));
  assert.match(verdict.words, new RegExp(`overall ${correct}/${total} `));
});

Deno.test("evaluate() repeats a finished run of another text", async () => {
  const first = evaluationBench(byDescription);
  await evaluate(first.input);
  const finished = first.saved.map((run) =>
    run.candidateId === CANONICAL ? { ...run, descriptionHash: descriptionHash("another") } : run
  );
  const second = evaluationBench(byDescription, { finished });
  await evaluate(second.input);
  assert.equal(second.evaluator.asked.length, 15);
  assert.ok(second.evaluator.asked.every(({ description }) => description === POOR));
});

Deno.test("evaluate() stops when aborted, and keeps nothing of what was under way", async () => {
  const stopping = new AbortController();
  const { input, saved, evaluator } = evaluationBench((asked, request) => {
    if (asked.call < 5) return byDescription(asked, request);
    if (asked.call === 6) queueMicrotask(() => stopping.abort(new Error("paused")));
    return hang(request);
  }, { concurrency: 2, signal: stopping.signal });
  await assert.rejects(evaluate(input), /paused/);
  assert.equal(saved.length, 4);
  assert.equal(evaluator.asked.length, 6);
});

Deno.test("evaluate() passes on that a run cannot be saved, and leaves no run behind", async () => {
  const { input, evaluator } = evaluationBench(
    (asked, request) => asked.call === 2 ? hang(request) : byDescription(asked, request),
    {
      concurrency: 2,
      save: () => Promise.reject(new Error("disk full")),
    },
  );
  await assert.rejects(evaluate(input), /disk full/);
  assert.equal(evaluator.asked.length, 2);
});

Deno.test("evaluate() says why a tool that has to be found first was not called", async () => {
  const search = { searched: true, found: false };
  const { input } = evaluationBench((asked, request) => {
    const answer = byDescription(asked, request);
    assert.ok(Array.isArray(answer));
    return { ...called(...answer), search };
  }, { view: "deferred", setting: "deferred" });
  const { evaluation, runs } = await evaluate(input);
  assert.deepEqual(resultOf(evaluation, CANONICAL).missed, { "not-found": 10 });
  assert.equal(resultOf(evaluation, "good").missed, undefined);
  assert.equal(runs.filter(({ result }) => result.missed).length, 10);
  assert.equal(evaluation.setting, "deferred");
  assert.match(resultOf(evaluation, "good").verdict?.words ?? "", /; deferred\): overall/);
});

Deno.test("evaluate() ends the other runs where it cannot ask whether one may begin", async () => {
  const ended: unknown[] = [];
  const { input, saved } = evaluationBench((_, request) => {
    request.signal.addEventListener("abort", () => ended.push(request.signal.reason));
    return hang(request);
  }, { concurrency: 3 });
  let asked = 0;
  const mayRun = () => ++asked < 3 ? undefined : Promise.reject(new Error("no store"));
  await assert.rejects(evaluate({ ...input, mayRun }), /no store/);
  assert.deepEqual([ended.length, saved.length, asked], [2, 0, 3]);
});
