import assert from "node:assert/strict";
import type { OptimizationReport } from "../core/optimization.ts";
import { draft } from "../surfaces/testing/open_optimization.ts";
import { optimizationPage, serverCard } from "./optimization_page.ts";
import { optimizationGateway } from "./testing/optimization_gateway.ts";

const PAGE = new URL("http://console.test/optimization");

function tool(name: string, more: Partial<OptimizationReport["tools"][number]> = {}) {
  const counts = { candidates: 0, goldenPrompts: 0, costUsd: 0 };
  return { name, status: "unoptimized" as const, enabled: true, stale: false, ...counts, ...more };
}

function report(tools: OptimizationReport["tools"]): OptimizationReport {
  const optimizedCount = tools.filter(({ status }) => status === "optimized").length;
  const rest = { totalEvals: 0, avgImprovement: null, costUsd: 0 };
  return { serverName: "weather", toolCount: tools.length, optimizedCount, ...rest, tools };
}

Deno.test("serverCard() has a dot for each tool, the optimized ones first", () => {
  const score = { correct: 19, total: 20 };
  const after = { direct: score, indirect: score, negative: score, overall: score };
  const { dots, tools, optimizedCount } = serverCard(report([
    tool("get_radar"),
    tool("get_forecast", { status: "optimized", after, depth: "quick", prompts: 15 }),
    tool("get_alerts", { status: "optimized", stale: true }),
  ]));
  assert.deepEqual(dots, ["optimized", "stale", "open"]);
  assert.equal(optimizedCount, 2);
  assert.equal(tools[0]?.name, "get_forecast");
  assert.equal(tools[0]?.evidence, "quick, 15 prompts");
  assert.deepEqual(tools[0]?.scores.map(({ label, percent }) => [label, percent]), [
    ["Direct", "95 %"],
    ["Indirect", "95 %"],
    ["Negative", "95 %"],
  ]);
});

Deno.test("serverCard() names some of many tools and draws no dots that nobody can count", () => {
  const many = Array.from({ length: 60 }, (_, index) => tool(`tool_${index}`));
  const { dots, tools, more } = serverCard(report(many));
  assert.deepEqual([dots.length, tools.length, more], [0, 8, 52]);
});

Deno.test("optimizationPage() counts all servers, filters by name and tells jobs apart", async () => {
  await using opened = await optimizationGateway();
  await draft(opened);
  await opened.evaluate();
  const page = await optimizationPage(opened.gateway, PAGE);
  assert.deepEqual([page.isOn, page.toolCount, page.optimizedCount], [true, 2, 0]);
  assert.deepEqual(page.servers.rows.map(({ name }) => name), ["weather"]);
  assert.deepEqual([page.active.length, page.ended.length], [0, 1]);
  const filtered = await optimizationPage(opened.gateway, new URL("?q=zzz", PAGE));
  assert.deepEqual([filtered.servers.total, filtered.serverCount], [0, 1]);
});

Deno.test("optimizationPage() does not list a job as done that could test nothing", async () => {
  await using opened = await optimizationGateway();
  await opened.evaluate();
  const { ended: [job] } = await optimizationPage(opened.gateway, PAGE);
  assert.equal(job?.status, "completed");
  assert.equal(job.outcome?.words, "nothing could be tested");
  assert.match(job.outcome.reason, /there are no prompts/);
});

Deno.test("optimizationPage() can be read while optimization is off", async () => {
  await using opened = await optimizationGateway({ isEnabled: false });
  const page = await optimizationPage(opened.gateway, PAGE);
  assert.deepEqual([page.isOn, page.isFixed, page.toolCount], [false, false, 2]);
});
