import assert from "node:assert/strict";
import { CANONICAL, descriptionHash, type EvalRun } from "../../core/optimization.ts";
import {
  draft,
  GOOD,
  type OpenOptimization,
  openOptimization,
} from "../../mcp/testing/open_optimization.ts";
import { resultLines } from "./outcomes.ts";

const FORECAST = { server: "weather", tool: "forecast" };

async function evaluate({ jobs }: OpenOptimization, candidateId: string): Promise<void> {
  const options = { generate: false, autoPromote: false, candidateIds: [candidateId] };
  const { id } = await jobs.start({
    server: "weather",
    tools: ["forecast"],
    options,
    by: "person",
  });
  const { status } = await jobs.wait(id, 30_000, new AbortController().signal);
  assert.equal(status, "completed");
}

Deno.test("ToolResults.list() has runs and confusion of what is counted", async () => {
  await using opened = await openOptimization();
  const { candidateId } = await draft(opened);
  await evaluate(opened, candidateId);
  const [own, good] = await opened.admin.results.list(FORECAST);
  assert.equal(good?.counts.overall.total, 3);
  assert.deepEqual([good?.runs.length, good?.runCount], [3, 3]);
  assert.deepEqual(good?.confusion, { forecast: { forecast: 2 }, "(none)": { "(none)": 1 } });
  assert.deepEqual([own?.counts.overall.total, own?.runs.length], [3, 3]);
});

Deno.test("ToolResults.list() tells of another server's tool of the same name", async () => {
  await using opened = await openOptimization();
  const { candidateId, promptIds: [, , promptId = ""] } = await draft(opened);
  const run: EvalRun = {
    id: "run_1",
    server: "weather",
    toolName: "forecast",
    candidateId,
    promptId,
    promptVersion: 1,
    repeat: 0,
    timestamp: new Date().toISOString(),
    status: "ok",
    result: { toolCalled: false, correct: true, durationMs: 1 },
    calls: [
      { name: "shop_forecast", server: "shop", tool: "forecast", arguments: {} },
      { name: "weather_forecast", server: "weather", tool: "forecast", arguments: {} },
    ],
    evaluator: "caller",
    descriptionHash: descriptionHash(GOOD),
    cost: { inputTokens: 0, outputTokens: 0 },
    attempts: 1,
  };
  await opened.runs.save(run);
  const [good] = await opened.admin.results.list({ ...FORECAST, candidateId });
  assert.deepEqual(good?.runs[0]?.otherTools, ["shop_forecast"]);
  assert.deepEqual(good?.confusion, { "(none)": { "shop.forecast": 1 } });
  // Any tool but this one is right for a prompt that names none.
  assert.doesNotMatch(resultLines(good!).join("\n"), /in place of/);
});

Deno.test("ToolResults.list() and the report have the same numbers of the server's own", async () => {
  await using opened = await openOptimization();
  const { candidateId } = await draft(opened);
  await evaluate(opened, candidateId);
  const [quick] = await opened.evaluations.list("weather", "forecast");
  const whole = { correct: 15, total: 45, prompts: 15 };
  const thorough = {
    ...quick!,
    id: "evaluation_0",
    depth: "thorough" as const,
    endedAt: "2020-01-01T00:00:00.000Z",
    prompts: { direct: 15, indirect: 0, negative: 0 },
    results: quick!.results.map((result) => ({
      ...result,
      metrics: { ...result.metrics, direct: whole, overall: whole },
    })),
  };
  await opened.evaluations.save(thorough);
  const [own] = await opened.admin.results.list(FORECAST);
  assert.equal(own?.candidateId, CANONICAL);
  assert.deepEqual([own?.counts.overall, own?.evidence?.depth], [whole, "thorough"]);
  const [reported] = (await opened.admin.report("weather"))[0]?.tools ?? [];
  assert.deepEqual([reported?.before, reported?.depth], [own?.counts, "thorough"]);
});
