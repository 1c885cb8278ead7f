import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import type { Evaluator } from "../evaluators/evaluator.ts";
import type { JobRequest } from "./selection.ts";
import { JobBench, WritingModel } from "../testing/job_bench.ts";
import { ModelTimeout, type TextAnswer, type TextRequest } from "../generation/text_model.ts";
import { ended, hasCode } from "../testing/job_waits.ts";
import { called, failed, ScriptedEvaluator } from "../testing/scripted_evaluator.ts";
import { byDescription, GOOD, somePrompts, TARGET } from "../testing/weather.ts";

const request: JobRequest = { server: "weather", by: "person", tools: ["get_forecast"] };

Deno.test("OptimizationJobs refuses to call thorough what prompts decide that a caller knew", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(12, { origin: "caller" });
  await bench.saveCandidate("good");
  const evaluator = new ScriptedEvaluator(byDescription);
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const options = { generate: false, depth: "thorough" } as const;
  const asked = { ...request, options };
  for (const ask of [() => jobs.start(asked), () => jobs.estimate(asked)]) {
    const error = await ask().then(() => undefined, (error) => error);
    assert.ok(error instanceof GatewayError && error.code === "CANNOT_EVALUATE");
    assert.match(
      error.message,
      /thoroughly: all direct/,
    );
    assert.match(error.toBody().recoverySteps.join(), /Save new prompts .*depth quick/);
  }
  assert.deepEqual([await jobs.list(), evaluator.asked.length], [[], 0]);

  // Where another tool of the job can be tested, this one alone fails.
  await bench.saveCandidate("alerts", GOOD, "get_alerts", {
    createdAt: "2020-01-01T00:00:00.000Z",
  });
  const alerts = somePrompts(12, { toolName: "get_alerts" });
  await bench.prompts.save(alerts.map((prompt) => ({ ...prompt, id: `alert-${prompt.id}` })));
  const tools = ["get_forecast", "get_alerts"];
  const job = await ended(jobs, await jobs.start({ ...request, tools, options }));
  assert.deepEqual(job.tools.map(({ failed }) => failed), [true, false]);
  assert.match(
    job.tools[0]?.outcome ?? "",
    /may have been visible .* written\. Generate prompts, save/,
  );
});

Deno.test("OptimizationJobs says beforehand what too few prompts cannot find, and what would tell", async () => {
  await using bench = await JobBench.open();
  await bench.saveCandidate("good", GOOD, "get_forecast", {
    createdAt: "2020-01-01T00:00:00.000Z",
  });
  await bench.savePrompts(2);
  const jobs = bench.gateway("one");
  const options = { generate: false, depth: "thorough" } as const;
  const { basis } = await jobs.estimate({ ...request, options });
  assert.match(basis, /^cannot find any gain with 6 prompts; at most 12 runs/);
  const job = await ended(jobs, await jobs.start({ ...request, options }));
  const [evaluation] = await bench.evaluations.list("weather", "get_forecast");
  const verdict = evaluation?.results.find(({ candidateId }) => candidateId === "good")?.verdict;
  assert.match(verdict?.words ?? "", /not enough evidence: .*About 30 more prompts would tell/);
  assert.equal(job.runs, 12);
});

Deno.test("OptimizationJobs writes prompts that a candidate's author has not seen, as many as it takes", async () => {
  await using bench = await JobBench.open();
  const jobs = bench.gateway("one");
  const options = { depth: "thorough", candidatesPerTool: 1, autoPromote: false } as const;
  await ended(jobs, await jobs.start({ ...request, options }));
  const before = await bench.prompts.list("weather", "get_forecast");
  const late = new Date(Date.now() + 1).toISOString();
  await bench.saveCandidate("late", GOOD, "get_forecast", { createdAt: late });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const named = { ...options, candidateIds: ["late"] };
  const job = await ended(jobs, await jobs.start({ ...request, options: named }));
  const known = new Set(before.map(({ id }) => id));
  const fresh = job.tools[0]?.plan?.prompts.filter(({ heldOut }) => heldOut) ?? [];
  assert.ok(fresh.length >= 36, `${fresh.length} prompts`);
  assert.ok(fresh.every(({ id }) => !known.has(id)));
  assert.match(job.tools[0]?.outcome ?? "", /^Not promoted because .*candidate "late", overall/);
});

Deno.test("OptimizationJobs looks for what is taken from siblings also in the first job of a server", async () => {
  await using bench = await JobBench.open();
  const jobs = bench.gateway("one");
  const options = { candidatesPerTool: 1 };
  const { tools: _, ...server } = request;
  const job = await ended(jobs, await jobs.start({ ...server, options }));
  assert.equal(job.tools.length, 3);
  for (const { toolName, plan } of job.tools) {
    const prompts = await bench.prompts.list("weather", toolName);
    assert.equal(prompts.length, 15);
    assert.equal(plan?.siblingPrompts.length, 8, toolName);
  }
});

Deno.test("OptimizationJobs writes prompts for siblings that have none, in a thorough test of one tool", async () => {
  await using bench = await JobBench.open();
  const jobs = bench.gateway("one");
  const options = { depth: "thorough", candidatesPerTool: 1 } as const;
  const job = await ended(jobs, await jobs.start({ ...request, options }));
  assert.equal(job.tools[0]?.plan?.siblingPrompts.length, 12);
  for (const sibling of ["get_alerts", "list_stations"]) {
    const prompts = await bench.prompts.list("weather", sibling);
    assert.deepEqual(prompts.map(({ category }) => category), Array(6).fill("direct"));
  }
});

Deno.test("OptimizationJobs goes on with other tools where one prompt cannot be asked", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const alerts = somePrompts(5, { toolName: "get_alerts" });
  await bench.prompts.save(alerts.map((prompt) => ({ ...prompt, id: `alert-${prompt.id}` })));
  await bench.saveCandidate("alerts", GOOD, "get_alerts");
  const evaluator = new ScriptedEvaluator((asked, run) =>
    asked.prompt.startsWith("negative 3") && run.target === TARGET
      ? failed("400: the prompt is too odd", "request")
      : byDescription(asked, run)
  );
  const jobs = bench.gateway("one", { evaluator: () => Promise.resolve(evaluator) });
  const tools = ["get_forecast", "get_alerts"];
  const options = { generate: false };
  const job = await ended(jobs, await jobs.start({ ...request, tools, options }));
  assert.equal(job.status, "completed");
  assert.deepEqual(job.tools.map(({ phase, failed }) => [phase, failed]), [
    ["complete", false],
    ["complete", false],
  ]);
});

Deno.test("OptimizationJobs.start() refuses a budget in USD that cannot be kept", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  await bench.saveCandidate("good");
  const free: Evaluator = {
    kind: "messages-api",
    model: "stand-in",
    isPriced: false,
    check: () => Promise.resolve(),
    run: () => Promise.reject(new Error("not asked")),
  };
  const blind = bench.gateway("one", { evaluator: () => Promise.resolve(free) });
  const options = { generate: false, maxCostUsd: 1 };
  await assert.rejects(blind.start({ ...request, options }), hasCode("INVALID_ARGUMENTS"));
  assert.deepEqual(await blind.list(), []);
  // One that was to say it and does not.
  const { cost: _, ...silent } = called();
  const evaluator = new ScriptedEvaluator(() => ({
    ...silent,
    cost: { inputTokens: 1_000_000, outputTokens: 1 },
  }));
  const jobs = bench.gateway("two", { evaluator: () => Promise.resolve(evaluator) });
  const job = await ended(jobs, await jobs.start({ ...request, options }));
  assert.match(job.note ?? "", /runs do not report their cost/);
  assert.ok(job.runs < 6);
});

Deno.test("OptimizationJobs counts what texts cost that could not be used", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts();
  const cost = { inputTokens: 1, outputTokens: 1, costUsd: 3 };
  const complete = () => Promise.resolve({ text: "no JSON", cost });
  const textModel = () => Promise.resolve({ kind: "claude-cli" as const, complete });
  const jobs = bench.gateway("one", { textModel });
  const job = await ended(jobs, await jobs.start(request));
  assert.equal(job.tools[0]?.failed, true);
  // And 15 runs, of what the server's own description gets wrong.
  assert.equal(job.cost.costUsd?.toFixed(2), "6.15");
  assert.equal(job.writingCost?.costUsd, 6);
});

/** A model that answers so many requests in time. */
class HangingWriter extends WritingModel {
  constructor(readonly answers: number) {
    super();
  }

  override async complete(request: TextRequest): Promise<TextAnswer> {
    const answer = await super.complete(request);
    if (this.requests.length <= this.answers) return answer;
    throw new GatewayError("CANNOT_GENERATE", {
      message: "Cannot generate: it hangs",
      cause: new ModelTimeout("it hangs"),
    });
  }
}

for (const answers of [0, 1]) {
  Deno.test(`OptimizationJobs ends with a model that hangs when it writes, after ${answers} answers`, async () => {
    await using bench = await JobBench.open();
    const writer = new HangingWriter(answers);
    const evaluator = new ScriptedEvaluator(byDescription);
    const jobs = bench.gateway("one", {
      evaluator: () => Promise.resolve(evaluator),
      textModel: () => Promise.resolve(writer),
    });
    const job = await ended(jobs, await jobs.start({ server: "weather", by: "person" }));
    assert.deepEqual([job.status, job.note], ["failed", "No run can succeed: it hangs"]);
    // After an answer, only the second request in a row that hangs ends the job.
    const requests = answers === 0 ? 2 : answers + 4;
    assert.deepEqual([writer.requests.length, evaluator.asked.length], [requests, 0]);
  });
}
