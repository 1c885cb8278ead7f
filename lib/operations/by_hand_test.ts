import assert from "node:assert/strict";
import {
  confirmCandidate,
  draft,
  openOptimization,
  report,
} from "../mcp/testing/open_optimization.ts";

const FORECAST = { server: "weather", tool: "forecast" };

Deno.test("evaluate_candidate and optimize_tools estimate without starting anything", async () => {
  await using opened = await openOptimization();
  const { candidateId } = await draft(opened);
  const quick = { ...FORECAST, candidateId, depth: "quick", dryRun: true };
  for (
    const done of [
      await opened.call("evaluate_candidate", quick),
      await opened.call("optimize_tools", { server: "weather", tools: ["forecast"], dryRun: true }),
    ]
  ) {
    assert.match(done.text, /^Estimate: 1 tool, about .*\.\nNothing was started\.$/);
    assert.equal(done.data.job, undefined);
  }
  assert.deepEqual(await opened.jobs.list(), []);
});

Deno.test("runs that a caller reports are a baseline, marked as reported", async () => {
  await using opened = await openOptimization();
  const { promptIds } = await draft(opened);
  for (const id of promptIds) await report(opened, "canonical", id, true);
  const [standing] = (await opened.admin.standings.list()).filter(({ name }) =>
    name === "forecast"
  );
  assert.deepEqual([standing?.status, standing?.reported], ["baseline", true]);
  const [{ tools } = { tools: [] }] = await opened.admin.report("weather");
  assert.deepEqual(tools.map(({ name, status, reported }) => [name, status, reported]), [
    ["forecast", "baseline", true],
    ["alerts", "unoptimized", undefined],
  ]);
  const { reported } = await opened.admin.detail(FORECAST);
  assert.deepEqual(reported?.metrics.overall, { correct: 2, total: 3 });
});

Deno.test("a winner that waits is named in the report until somebody decides", async () => {
  await using opened = await openOptimization();
  const { candidateId } = await draft(opened);
  const waiting = async () =>
    (await opened.admin.report("weather"))[0]?.tools.map((tool) => tool.waitingCandidate);
  assert.deepEqual(await waiting(), [undefined, undefined]);
  await confirmCandidate(opened, candidateId);
  assert.deepEqual(await waiting(), [candidateId, undefined]);
  const { text } = await opened.call("get_optimization_report", { server: "weather" });
  assert.match(text, /`forecast` \| baseline, a candidate waits for a decision \|/);
  await opened.admin.promote({ ...FORECAST, candidateId }, "caller");
  assert.deepEqual(await waiting(), [undefined, undefined]);
});
