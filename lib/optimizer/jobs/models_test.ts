import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { CANONICAL, type EvaluatorKind } from "../../core/optimization.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
import { JobBench, WritingModel } from "../testing/job_bench.ts";
import { ended } from "../testing/job_waits.ts";
import { called, type Script, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, TARGET } from "../testing/weather.ts";
import { promotionSample } from "../../storage/testing/optimization_samples.ts";
import { promotedFor } from "./models.ts";

const SONNET = "claude-cli:sonnet";
const GPT = "openai-api:gpt-5-mini";
const MODELS = [SONNET, GPT];
const REQUEST = { server: "weather", tools: ["get_forecast"], by: "person" } as const;
const request = (options: object) => ({ ...REQUEST, tools: [...REQUEST.tools], options });

/** Gets a prompt right whatever the description says, but for the good one. */
const hurtByGood: Script = ({ prompt, description }) =>
  /cook/i.test(prompt) || description === GOOD ? [] : [TARGET];

function two(scripts: Record<string, Script>) {
  const evaluators = new Map(
    Object.entries(scripts).map(([ref, script]) => {
      const [kind, model] = ref.split(":") as [EvaluatorKind, string];
      return [ref, new ScriptedEvaluator(script, model, kind)];
    }),
  );
  return {
    evaluators,
    evaluator(ref?: string): Promise<Evaluator> {
      const found = evaluators.get(ref ?? "");
      return found ? Promise.resolve(found) : Promise.reject(new Error(`not asked for: ${ref}`));
    },
  };
}

Deno.test("a job with several models confirms for all what each of them gains by", async () => {
  await using bench = await JobBench.open();
  const { evaluators, evaluator } = two({ [SONNET]: byDescription, [GPT]: byDescription });
  await bench.saveCandidate("good");
  const written: (string | undefined)[] = [];
  const textModel = (ref?: string) => {
    written.push(ref);
    return Promise.resolve(new WritingModel());
  };
  const jobs = bench.gateway("one", { evaluator, textModel, defaultModels: MODELS });
  const job = await ended(
    jobs,
    await jobs.start(request({ depth: "thorough", candidatesPerTool: 1, rounds: 1 })),
  );
  assert.deepEqual(job.options.models, MODELS, "the same after a restart");
  assert.equal(job.tools[0]?.promotedCandidateId, "good");
  assert.ok(written.every((ref) => ref === SONNET), "the first model writes");
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  assert.deepEqual(evaluation?.models, MODELS);
  const results = evaluation!.results.map(({ candidateId, models = [] }) =>
    [candidateId, models.map(({ model, family }) => [model, family])] as const
  );
  const both = [[SONNET, "claude"], [GPT, "gpt"]];
  assert.deepEqual(results, [[CANONICAL, both], ["good", both]]);
  const good = evaluation!.results.at(-1)!;
  for (const { gain, metrics, baseline } of good.models!) {
    assert.ok(gain && gain.low > -1 && gain.mean > 0.2 && gain.prompts === metrics.overall.total);
    assert.equal(baseline?.overall.total, metrics.overall.total);
  }
  const prompts = good.models![0]!.metrics.overall.total;
  assert.deepEqual(good.metrics.overall, { correct: 2 * prompts, total: 2 * prompts, prompts });
  assert.deepEqual([...evaluators.values()].map(({ asked }) => asked.length), [
    2 * prompts,
    2 * prompts,
  ]);
  const promotion = bench.promotions.of("weather", "get_forecast");
  assert.deepEqual(promotion?.testedModels, MODELS);
});

Deno.test("a gain with one family that another loses by is promoted for that family alone", async () => {
  await using bench = await JobBench.open();
  const { evaluator } = two({ [SONNET]: byDescription, [GPT]: hurtByGood });
  await bench.saveCandidate("good");
  const jobs = bench.gateway("one", { evaluator });
  const job = await ended(
    jobs,
    await jobs.start(
      request({ depth: "thorough", candidatesPerTool: 1, rounds: 1, models: MODELS }),
    ),
  );
  const [tool] = job.tools;
  assert.equal(tool?.promotedCandidateId, "good");
  assert.match(tool?.outcome ?? "", /^Promoted: .*interval.*, for claude models only$/);
  const [promotion, ...others] = bench.promotions.list();
  assert.deepEqual([promotion?.family, promotion?.candidateId, others], ["claude", "good", []]);
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  const { verdict, models = [] } = evaluation!.results.at(-1)!;
  assert.deepEqual([verdict?.promote, verdict?.proposed, verdict?.families], [
    false,
    true,
    ["claude"],
  ]);
  assert.match(verdict!.words, /^Promote for claude models only: confirmed for them, /);
  assert.ok(models[0]!.gain!.mean > 0 && models[1]!.gain!.mean < 0);
});

Deno.test("a gain for one family waits for a person if the job does not promote, or the thresholds refuse", async () => {
  for (
    const [more, field] of [
      [{ autoPromote: false }, "promotableCandidateId"],
      [{ thresholds: { minImprovement: 0.9 } }, "proposedCandidateId"],
    ] as const
  ) {
    await using bench = await JobBench.open();
    const { evaluator } = two({ [SONNET]: byDescription, [GPT]: hurtByGood });
    await bench.saveCandidate("good");
    const jobs = bench.gateway("one", { evaluator });
    const options = { depth: "thorough", candidatesPerTool: 1, rounds: 1, models: MODELS, ...more };
    const [tool] = (await ended(jobs, await jobs.start(request(options)))).tools;
    assert.equal(tool?.[field], "good", tool?.outcome);
    assert.deepEqual(bench.promotions.list(), []);
  }
});

for (
  const [name, inForce, outcome] of [
    ["a better one", "FAIR: the weather.", /^Promoted: .* for claude models only$/],
    [
      "no other",
      "GOOD as well.",
      /^Kept the promoted description: .*cannot be 5 points above the .* of the promoted one/,
    ],
  ] as const
) {
  Deno.test(`a family's own description gives way to ${name}`, async () => {
    await using bench = await JobBench.open();
    const script: Script = (asked, called) =>
      asked.description.startsWith("FAIR") && !/direct/.test(asked.prompt) ? [] : byDescription(
        { ...asked, description: asked.description.replace("FAIR", "GOOD") },
        called,
      );
    const claude = new ScriptedEvaluator(script, "sonnet");
    await bench.saveCandidate("own", inForce);
    await bench.saveCandidate("good");
    await bench.promotions.promote({
      server: "weather",
      toolName: "get_forecast",
      candidateId: "own",
      description: inForce,
      by: "person",
      family: "claude",
    });
    const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(claude) });
    const options = { depth: "thorough", candidateIds: ["good"], rounds: 1 };
    const estimate = await jobs.estimate(request(options));
    const job = await ended(jobs, await jobs.start(request(options)));
    assert.match(job.tools[0]?.outcome ?? "", outcome);
    assert.ok(job.runs <= estimate.runs);
    const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
    const ids = evaluation!.results.map(({ candidateId, verdict }) => [candidateId, !!verdict]);
    assert.deepEqual(ids, [[CANONICAL, false], ["own", false], ["good", true]]);
    const [promotion, ...others] = bench.promotions.list();
    assert.equal(promotion?.family, "claude");
    assert.deepEqual(others, [], "nothing changes for other clients");
  });
}

Deno.test("a job says which of its models cannot be asked, and which has no price", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(5);
  const { evaluators } = two({ [SONNET]: byDescription, [GPT]: byDescription });
  const gpt = evaluators.get(GPT)!;
  const broken: Evaluator = {
    kind: gpt.kind,
    model: gpt.model,
    run: (request) => gpt.run(request),
    check: () =>
      Promise.reject(new GatewayError("CANNOT_EVALUATE", { message: "Cannot evaluate: no key" })),
  };
  const evaluator = (other: Evaluator) => (ref?: string) =>
    Promise.resolve<Evaluator>(ref === GPT ? other : evaluators.get(SONNET)!);
  const unset = bench.gateway("one", { evaluator: evaluator(broken) });
  await assert.rejects(unset.start(request({ models: MODELS })), {
    code: "CANNOT_EVALUATE",
    message: `Cannot evaluate with ${GPT}: no key`,
  });
  const free: Evaluator = { ...broken, isPriced: false, check: () => Promise.resolve() };
  const jobs = bench.gateway("two", { evaluator: evaluator(free) });
  await assert.rejects(jobs.start(request({ models: MODELS, maxCostUsd: 1 })), {
    code: "INVALID_ARGUMENTS",
    message: /the price of the model "gpt-5-mini" is not known/,
  });
});

Deno.test("a model that cannot be asked ends the job, which names it", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(5);
  await bench.saveCandidate("good");
  const { evaluator } = two({
    [SONNET]: byDescription,
    [GPT]: () => ({
      status: "error",
      reason: "The API refused the key",
      isLasting: true,
      isGeneral: true,
      durationMs: 1,
      cost: { inputTokens: 0, outputTokens: 0 },
    }),
  });
  const jobs = bench.gateway("one", { evaluator });
  const job = await ended(jobs, await jobs.start(request({ models: MODELS, generate: false })));
  assert.equal(job.status, "failed");
  assert.match(job.note ?? "", /openai-api:gpt-5-mini: The API refused the key/);
});

Deno.test("an estimate counts the runs of every model, each at its own price", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(5);
  await bench.saveCandidate("good");
  const { evaluators, evaluator } = two({
    [SONNET]: () => ({
      ...called(TARGET),
      cost: { inputTokens: 10, outputTokens: 1, costUsd: 0.02 },
    }),
    [GPT]: () => ({
      ...called(TARGET),
      cost: { inputTokens: 10, outputTokens: 1, costUsd: 0.001 },
    }),
  });
  const jobs = bench.gateway("one", { evaluator });
  const options = { generate: false, models: MODELS };
  const one = await jobs.estimate(request({ ...options, models: [SONNET] }));
  const before = await jobs.estimate(request(options));
  assert.deepEqual([before.runs, before.costUsd], [2 * one.runs, null], "nothing is measured yet");
  await ended(jobs, await jobs.start(request(options)));
  assert.equal([...evaluators.values()].every(({ asked }) => asked.length === one.runs), true);
  const after = await jobs.estimate(request(options));
  assert.equal(after.costUsd?.toFixed(3), (one.runs * 0.021).toFixed(3));
  assert.match(after.basis, /with 2 models/);
  assert.match(
    after.basis,
    /the last 30 runs with claude-cli:sonnet and 30 runs with openai-api:gpt-5-mini/,
  );
});

Deno.test("promotedFor() is what the models' clients get, not another family's record of the same candidate", () => {
  const [all, gpt] = [promotionSample(), promotionSample({ family: "gpt" })];
  const promotions = {
    of: (_: string, __: string, family?: string) => family ? { gpt }[family] : all,
  };
  const target = { server: all.server, name: all.toolName };
  const promoted = (...models: string[]) =>
    promotedFor(promotions, target, models.map((model) => ({ model })));
  assert.equal(promoted("sonnet"), all);
  assert.equal(promoted("gpt-5"), gpt);
  assert.equal(promoted("gpt-5", "sonnet"), all);
});
