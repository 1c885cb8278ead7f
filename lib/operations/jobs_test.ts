import assert from "node:assert/strict";
import { JobOptions } from "../core/optimization.ts";
import { EVERYONE } from "../core/access.ts";
import { draft, openOptimization } from "../mcp/testing/open_optimization.ts";
import { OPERATIONS } from "./all.ts";
import { flagFieldsOf, flagName, readWritten, stepCommand } from "./cli.ts";
import { answerOldPath } from "./old_paths.ts";
import { JOB_OPERATIONS } from "./jobs.ts";
import { runOperation } from "./operation.ts";
import { callBy } from "./testing/services.ts";

const { start, show, retry } = JOB_OPERATIONS;
const { signal } = new AbortController();

Deno.test("job.start promotes nothing for one who may only spend model time, at every entrance", async () => {
  await using opened = await openOptimization();
  const { jobs, promotions, services, state } = opened;
  await draft(opened);
  state.isWriting = true;
  const wanted = { server: "weather", tools: ["forecast"], candidatesPerTool: 1 };
  for (const via of ["api", "cli", "console", "mcp"] as const) {
    const { job, warnings } = await runOperation(
      start,
      services,
      wanted,
      callBy("token:spender", { via }),
    );
    assert.equal(job?.options.autoPromote, false, via);
    assert.match(warnings?.[0] ?? "", /Nothing will be promoted: promotion requires .* "manage"/);
    await jobs.wait(job!.id, 30_000, signal);
  }
  const request = new Request("http://localhost/api/optimization/jobs", {
    method: "POST",
    body: JSON.stringify({
      server: "weather",
      tools: ["forecast"],
      options: { autoPromote: true, candidatesPerTool: 1 },
    }),
  });
  const call = callBy("token:spender");
  const api = { request, services, operations: OPERATIONS, call, maxBytes: 10_000 };
  const response = await answerOldPath(api);
  assert.equal(response?.status, 201);
  const { job } = await response!.json();
  assert.equal(job.options.autoPromote, false);
  await jobs.wait(job.id, 30_000, signal);
  assert.equal(promotions.of("weather", "forecast"), undefined);
  const own = await runOperation(start, services, wanted, callBy(EVERYONE));
  assert.equal(own.job!.options.autoPromote, true);
  await jobs.wait(own.job!.id, 30_000, signal);
  assert.ok(promotions.of("weather", "forecast"));
});

Deno.test("job.start takes a server, or tools by any of their names", async () => {
  await using opened = await openOptimization({ equipped: { shop: ["refund"] } });
  const { admin } = opened;
  const target = (...tools: string[]) => admin.locateTarget({ tools });
  assert.deepEqual(admin.locateTarget({ all: true }), { all: true });
  assert.deepEqual(target("weather"), { server: "weather" });
  assert.deepEqual(target("weather.forecast", "weather_alerts", "forecast"), {
    server: "weather",
    tools: ["forecast", "alerts"],
  });
  assert.throws(() => target("shop.refund", "weather"), /not both \("weather" is a server\)/);
  assert.throws(() => target("weather.alerts", "refund"), /one server only.*weather and shop/);
  assert.throws(() => target("nonsense"), { code: "TOOL_NOT_FOUND" });
});

Deno.test("job.start lets a person ask for less than the gateway does, in percent or as a fraction", async () => {
  await using opened = await openOptimization();
  const { services, jobs } = opened;
  await draft(opened);
  for (const [threshold, fraction] of [[50, 0.5], [0.5, 0.5], [100, 1], [undefined, 0.85]]) {
    const input = { tools: ["weather.forecast"], threshold };
    const { job } = await runOperation(start, services, input, callBy(EVERYONE));
    const { minOverall, minNegative } = job!.options.thresholds;
    assert.deepEqual([minOverall, minNegative], [fraction, 0.8]);
    await jobs.wait(job!.id, 30_000, signal);
  }
});

Deno.test("job.show suggests a promotion only if the job left a candidate to promote", async () => {
  await using opened = await openOptimization();
  const { services, jobs, state } = opened;
  const { candidateId } = await draft(opened);
  state.isWriting = true;
  const run = async (autoPromote: boolean, more: { depth?: "quick" } = {}) => {
    const input = { tools: ["weather.forecast"], candidatesPerTool: 1, autoPromote, ...more };
    const started = await runOperation(start, services, input, callBy(EVERYONE));
    await jobs.wait(started.job!.id, 30_000, signal);
    const asked = { jobId: started.job!.id };
    const shown = await runOperation(show, services, asked, callBy(EVERYONE));
    const steps = show.next?.(shown, asked) ?? [];
    return { tool: shown.job.tools[0], steps: steps.map(({ operation }) => operation) };
  };
  const proposed = await run(true, { depth: "quick" });
  assert.equal(proposed.tool?.proposedCandidateId, candidateId);
  assert.deepEqual(proposed.steps, ["optimization.results", "optimization.evaluate"]);
  const left = await run(false);
  assert.equal(left.tool?.promotableCandidateId, candidateId);
  assert.deepEqual(left.steps, ["optimization.results", "optimization.promote"]);
  const promoted = await run(true);
  assert.equal(promoted.tool?.promotedCandidateId, candidateId);
  assert.deepEqual(promoted.steps, ["optimization.results"]);
});

Deno.test("job.retry starts again what was not done, within the caller's rights", async () => {
  await using opened = await openOptimization();
  const { services, jobs, state } = opened;
  await draft(opened);
  state.isHanging = true;
  const input = { tools: ["weather.forecast"], depth: "quick" as const };
  const { job } = await runOperation(start, services, input, callBy(EVERYONE));
  const jobId = job!.id;
  await jobs.cancel(jobId);
  state.isHanging = false;
  const again = await runOperation(
    retry,
    services,
    { jobId },
    callBy("token:spender"),
  );
  assert.deepEqual(again.jobs.map(({ options }) => options.autoPromote), [false]);
  assert.equal(retry.text?.(again, { jobId }), "Restarted for weather");
  await jobs.wait(again.jobs[0]!.id, 30_000, signal);
  const none = await runOperation(
    retry,
    services,
    { jobId: again.jobs[0]!.id },
    callBy(EVERYONE),
  );
  assert.equal(retry.text?.(none, { jobId }), "All tools of this job are done");
});

Deno.test("job.start's flags have the names and defaults of its options", () => {
  assert.deepEqual(flagFieldsOf(start).map(flagName), [
    "all",
    "candidates",
    "rounds",
    "prompts",
    "threshold",
    "dry-run",
    "depth",
    "repeats",
    "with-toolset",
    "models",
    "view",
    "surface",
    "strict",
    "max-runs",
    "max-cost",
    "no-promote",
    "parameters",
  ]);
  const flags = new Map([
    ["depth", ["thorough"]],
    ["candidates", ["2"]],
    ["max-cost", ["1.50"]],
    ["models", ["claude-cli:sonnet,openai-api:llama3:8b"]],
    ["no-promote", ["true"]],
  ]);
  const input = readWritten(start, { positionals: ["git"], flags });
  assert.deepEqual(input, {
    tools: ["git"],
    depth: "thorough",
    candidatesPerTool: 2,
    maxCostUsd: 1.5,
    models: ["claude-cli:sonnet", "openai-api:llama3:8b"],
    autoPromote: false,
  });
  const defaults = JobOptions.parse({});
  const parsed = start.input.parse({});
  assert.equal(parsed.threshold, 100 * defaults.thresholds.minOverall);
  assert.equal(parsed.candidatesPerTool, defaults.candidatesPerTool);
  assert.equal(
    stepCommand({ label: "", operation: "job.start", input: { ...input } }, OPERATIONS),
    "quartermaster optimize run git --candidates 2 --depth thorough " +
      "--models claude-cli:sonnet,openai-api:llama3:8b --max-cost 1.5 --no-promote",
  );
});
