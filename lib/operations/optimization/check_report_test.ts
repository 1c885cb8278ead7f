import assert from "node:assert/strict";
import { JobBench } from "../../optimizer/testing/job_bench.ts";
import { ended } from "../../optimizer/testing/job_waits.ts";
import { failed, ScriptedEvaluator } from "../../optimizer/testing/scripted_evaluator.ts";
import { byDescription, GOOD } from "../../optimizer/testing/weather.ts";
import { checkedTool, checkReport, checkText } from "./check_report.ts";

const OPTIONS = { depth: "quick", check: true, generate: false, autoPromote: false } as const;
const request = { server: "weather", tools: ["get_forecast"], by: "person" } as const;

/** Runs a check to its end, and reads its report as the operation does. */
async function check(
  bench: JobBench,
  options: {
    evaluator?: ScriptedEvaluator;
    maxRuns?: number;
    others?: Record<string, ScriptedEvaluator>;
  } = {},
) {
  const { evaluator = new ScriptedEvaluator(byDescription), maxRuns, others } = options;
  const jobs = bench.gateway(crypto.randomUUID(), {
    evaluator: (ref = "") => Promise.resolve(others?.[ref] ?? evaluator),
    defaultModels: others && Object.keys(others),
  });
  const job = await ended(
    jobs,
    await jobs.start({ ...request, tools: [...request.tools], options: { ...OPTIONS, maxRuns } }),
  );
  const checked = await Promise.all(job.tools.map(async (tool) => {
    const { server, toolName, evaluationId } = tool;
    return checkedTool(tool, {
      evaluation: await bench.evaluations.find(server, toolName, evaluationId),
      runs: await bench.runs.list(server, toolName, { evaluationId }),
      prompts: await bench.prompts.list(server, toolName),
    });
  }));
  return { job, report: checkReport(checked.flat()), evaluator };
}

Deno.test("a check puts only the description in force to every saved prompt", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(5, { heldOut: true });
  await bench.saveCandidate("good");
  const before = await check(bench);
  assert.equal(before.evaluator.asked.length, 15);
  assert.deepEqual([before.report.exitCode, before.report.tools[0]?.status], [1, "failed"]);
  assert.equal(before.report.tools[0]?.wrong.length, 10);
  assert.match(before.job.tools[0]?.outcome ?? "", /^Below the threshold: overall 5\/15 /);
  assert.match(
    checkText(before.report),
    /BELOW THRESHOLD {2}weather\.get_forecast\n {2}overall 5\/15 .*85 % required \(8 too few\)/,
  );
  await bench.promotions.promote({
    ...{ server: "weather", toolName: "get_forecast", candidateId: "good", by: "person" },
    description: GOOD,
  });
  const after = await check(bench);
  assert.equal(after.evaluator.asked.length, 15);
  assert.ok(after.evaluator.asked.every(({ description }) => description === GOOD));
  assert.deepEqual([after.report.exitCode, after.report.passed], [0, 1]);
  assert.equal(after.report.tools[0]?.candidateId, "good");
  assert.deepEqual(bench.promotions.of("weather", "get_forecast")?.candidateId, "good");
});

Deno.test("a check without prompts, with failing runs or cut short could not run", async () => {
  await using bench = await JobBench.open();
  const none = await check(bench);
  assert.deepEqual([none.report.exitCode, none.report.tools[0]?.status], [2, "skipped"]);
  await bench.savePrompts();
  const broken = await check(bench, { evaluator: new ScriptedEvaluator(() => failed("down")) });
  assert.deepEqual([broken.report.exitCode, broken.report.tools[0]?.status], [2, "error"]);
  assert.match(broken.report.tools[0]?.problem ?? "", /down/);
  const cut = await check(bench, { maxRuns: 4 });
  assert.deepEqual([cut.report.exitCode, cut.report.tools[0]?.status], [2, "error"]);
  assert.match(cut.report.tools[0]?.problem ?? "", /only 4 of 15 runs were made/);
});

Deno.test("a check with several models has an entry for each, and fails if one is below", async () => {
  await using bench = await JobBench.open();
  await bench.savePrompts(5);
  const { report } = await check(bench, {
    others: {
      "claude-cli:sonnet": new ScriptedEvaluator(() => ["weather_get_forecast"], "sonnet"),
      "openai-api:gpt-5": new ScriptedEvaluator(
        ({ prompt }) => /cook/i.test(prompt) ? [] : ["weather_get_forecast"],
        "gpt-5",
        "openai-api",
      ),
    },
  });
  assert.deepEqual(report.tools.map(({ model, status }) => [model, status]), [
    ["claude-cli:sonnet", "failed"],
    ["openai-api:gpt-5", "passed"],
  ]);
  assert.equal(report.exitCode, 1);
  assert.deepEqual(report.tools.map(({ wrong }) => wrong.length), [5, 0]);
  assert.match(checkText(report), /BELOW THRESHOLD {2}weather.get_forecast with claude-cli:sonnet/);
});
