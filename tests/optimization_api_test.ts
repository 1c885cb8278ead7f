import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

/** No model can be asked: what is tested here needs none. */
const FLAGS = ["--evaluator", "claude-cli", "--claude-path", "no-such-claude"];
const BASE = "api/optimization";
const FORECAST = `${BASE}/tools/weather/get_forecast`;
const BETTER = "Weather forecast for the coming days in a city; not for past or current weather.";

/** Asks the API; the whole answer, with its text where it is no JSON. */
async function ask(gateway: RunningGateway, method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.url}/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const type = response.headers.get("content-type") ?? "";
  const text = await response.text();
  const value = type.startsWith("application/json") ? JSON.parse(text) : { text };
  return { status: response.status, type, ...value };
}

async function start(dataDir: string, flags: string[] = []): Promise<RunningGateway> {
  const gateway = await startGateway([...FLAGS, ...flags], { dataDir });
  await until(async () =>
    (await ask(gateway, "GET", "api/servers/weather")).server?.state === "ready" || undefined
  );
  return gateway;
}

/** What clients are shown of a tool at its server's endpoint. */
async function shown({ url }: RunningGateway, name: string) {
  const client = new Client({ name: "test", version: "1" });
  const endpoint = new URL("/servers/weather/mcp?names=original", url);
  await client.connect(new StreamableHTTPClientTransport(endpoint) as never);
  try {
    const { tools } = await client.listTools();
    return tools.find((tool) => tool.name === name)!;
  } finally {
    await client.close();
  }
}

Deno.test("the optimization API keeps texts, promotes and reverts without any model", async (t) => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await using gateway = await start(dataDir);
    const api = (method: string, path: string, body?: unknown) => ask(gateway, method, path, body);
    const original = await shown(gateway, "get_forecast");
    let candidateId = "";

    await t.step("GET says how everything stands, and why nothing can be evaluated", async () => {
      const { status, enabled, evaluator, reports: [report] } = await api("GET", BASE);
      assert.deepEqual([status, enabled], [200, false]);
      assert.match(evaluator.problem, /^Cannot evaluate: /);
      assert.equal(report.serverName, "weather");
      assert.deepEqual([report.toolCount, report.optimizedCount], [5, 0]);
      assert.equal(report.avgImprovement, null);
      assert.equal(report.costUsd, 0, "nothing was run, so that nothing is unknown");
    });

    await t.step("a candidate is kept once, and measured in characters", async () => {
      const proposal = { description: BETTER, example: "Will it rain tomorrow?" };
      const { status, candidate } = await api("POST", `${FORECAST}/candidates`, proposal);
      assert.equal(status, 201);
      assert.deepEqual([candidate.charCount, candidate.origin], [BETTER.length, "person"]);
      candidateId = candidate.id;
      const twice = await api("POST", `${FORECAST}/candidates`, { description: BETTER });
      assert.deepEqual([twice.status, twice.error.errorType], [409, "CONFLICT"]);
      assert.ok(twice.error.message.includes(candidateId), twice.error.message);
      const long = await api("POST", `${FORECAST}/candidates`, { description: "x".repeat(295) });
      assert.deepEqual([long.status, long.error.errorType], [400, "INVALID_ARGUMENTS"]);
      assert.match(long.error.message, /Candidate exceeds 280 character limit \(got 295\)/);
      const { tool } = await api("GET", FORECAST);
      assert.equal(tool.candidates.length, 1);
      assert.equal(tool.canonicalDescription, original.description);
    });

    await t.step("prompts are saved, edited as versions, and retired", async () => {
      const prompts = [
        { category: "direct", prompt: "Get the forecast for Oslo tomorrow" },
        { category: "indirect", prompt: "Should I pack an umbrella for Oslo next week?" },
      ];
      const saved = await api("POST", `${FORECAST}/prompts`, { prompts });
      assert.deepEqual([saved.status, saved.saved], [201, 2]);
      assert.match(saved.warnings.join("\n"), /No negative prompts defined/);
      const [direct, indirect] = saved.prompts;
      const edit = { prompt: "Get the forecast for Bergen tomorrow" };
      const { prompt } = await api("PUT", `${FORECAST}/prompts/${direct.id}`, edit);
      assert.deepEqual([prompt.version, prompt.prompt], [2, edit.prompt]);
      const retired = await api("DELETE", `${FORECAST}/prompts/${indirect.id}`, {});
      assert.equal(retired.retired, indirect.id);
      const { tool } = await api("GET", FORECAST);
      assert.deepEqual(
        tool.prompts.map(({ id, version }: Record<string, unknown>) => [id, version]),
        [[direct.id, 2]],
      );
    });

    await t.step(
      "a promotion without evidence needs a reason; it changes the text alone",
      async () => {
        const refused = await api("POST", `${FORECAST}/promote`, { candidateId });
        assert.deepEqual([refused.status, refused.error.errorType], [409, "PROMOTION_REFUSED"]);
        assert.deepEqual(await shown(gateway, "get_forecast"), original);
        const reason = "Our people ask for it like this";
        const { status, promotion } = await api("POST", `${FORECAST}/promote`, {
          candidateId,
          reason,
        });
        assert.deepEqual([status, promotion.reason, promotion.by], [200, reason, "person"]);
        assert.deepEqual(await shown(gateway, "get_forecast"), {
          ...original,
          description: BETTER,
        });
      },
    );

    await t.step("revert restores the text, and goes back to an earlier promotion", async () => {
      assert.equal((await api("POST", `${FORECAST}/keep`, {})).promotion.candidateId, candidateId);
      assert.equal((await api("POST", `${FORECAST}/revert`, { reason: "A try" })).promotion, null);
      assert.deepEqual(await shown(gateway, "get_forecast"), original);
      const { history } = (await api("GET", FORECAST)).tool;
      const actions = history.map(({ action }: { action: string }) => action);
      assert.deepEqual(actions, ["revert", "promote"]);
      const again = await api("POST", `${FORECAST}/revert`, { to: history[1].id });
      assert.equal(again.promotion.candidateId, candidateId);
      assert.equal((await shown(gateway, "get_forecast")).description, BETTER);
    });

    await t.step("the report is JSON, Markdown or CSV", async () => {
      const { reports: [report] } = await api("GET", `${BASE}/report?server=weather`);
      assert.deepEqual([report.optimizedCount, report.toolCount], [1, 5]);
      const markdown = await api("GET", `${BASE}/report?format=markdown`);
      assert.match(markdown.type, /^text\/markdown/);
      assert.match(markdown.text, /get_forecast/);
      const csv = await api("GET", `${BASE}/report?format=csv`);
      assert.match(csv.type, /^text\/csv/);
      assert.match(csv.text, /weather,get_forecast/);
    });

    await t.step("what spends model time is refused while it is off", async () => {
      for (
        const [path, body] of [
          [`${FORECAST}/candidates/generate`, { count: 2 }],
          [`${FORECAST}/prompts/generate`, {}],
          [`${BASE}/jobs`, { server: "weather" }],
        ] as const
      ) {
        const { status, error } = await api("POST", path, body);
        assert.deepEqual([status, error.errorType], [403, "OPTIMIZATION_DISABLED"], path);
      }
      assert.deepEqual((await api("GET", `${BASE}/jobs`)).jobs, []);
    });

    await t.step("what is not there is not found, and what does not fit is refused", async () => {
      const wrong: [number, string, string, string, unknown?][] = [
        [404, "TOOL_NOT_FOUND", "GET", `${BASE}/tools/weather/get_forcast`],
        [404, "SERVER_NOT_FOUND", "GET", `${BASE}/tools/wether/get_forecast`],
        [404, "SERVER_NOT_FOUND", "GET", `${BASE}/report?server=wether`],
        [404, "NOT_FOUND", "GET", `${BASE}/jobs/job_none`],
        [404, "NOT_FOUND", "POST", `${BASE}/jobs/job_none/pause`, {}],
        [404, "NOT_FOUND", "POST", `${BASE}/jobs/job_none/dance`, {}],
        [404, "NOT_FOUND", "PUT", `${FORECAST}/prompts/none`, { category: "direct" }],
        [404, "NOT_FOUND", "DELETE", `${FORECAST}/prompts/none`, {}],
        [404, "NOT_FOUND", "POST", `${FORECAST}/promote`, { candidateId: "none" }],
        [404, "NOT_FOUND", "POST", `${FORECAST}/revert`, { to: "none" }],
        [404, "NOT_FOUND", "POST", `${BASE}/tools/weather/get_radar/revert`, {}],
        [404, "NOT_FOUND", "POST", `${BASE}/tools/weather/get_radar/keep`, {}],
        [404, "NOT_FOUND", "GET", `${FORECAST}/results?candidateId=none`],
        [400, "INVALID_ARGUMENTS", "GET", `${BASE}/report?format=xml`],
        [400, "INVALID_ARGUMENTS", "GET", `${BASE}/jobs?limit=0`],
        [400, "INVALID_ARGUMENTS", "PUT", `${BASE}/enabled`, { enabled: "yes" }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/candidates`, { descripton: "x" }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/candidates/generate`, { count: 11 }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/prompts`, { prompts: [] }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/prompts`, {
          prompts: [{ category: "direct", prompt: "Too short" }],
        }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/prompts`, {
          prompts: [{
            category: "direct",
            prompt: "Get the forecast for Rome on Monday",
            expectedBehavior: { expectedTool: "get_alerts" },
          }],
        }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/prompts`, {
          prompts: [{
            category: "negative",
            prompt: "Book a table for two at eight",
            expectedBehavior: { expectedTool: "book_table" },
          }],
        }],
        [400, "INVALID_ARGUMENTS", "POST", `${FORECAST}/promote`, { candidateId, reason: " " }],
        [400, "INVALID_ARGUMENTS", "POST", `${BASE}/estimate`, { options: { depth: "deep" } }],
        [400, "INVALID_ARGUMENTS", "POST", `${BASE}/jobs`, { server: "weather", by: "caller" }],
      ];
      for (const [status, code, method, path, body] of wrong) {
        const { error, ...answer } = await api(method, path, body);
        assert.equal(answer.status, status, `${method} ${path}: ${error?.message}`);
        assert.equal(error.errorType, code, `${method} ${path}`);
      }
      assert.equal((await api("GET", FORECAST)).tool.promotion.candidateId, candidateId);
    });

    await t.step("switched on, it says why there is no model", async () => {
      assert.equal((await api("PUT", `${BASE}/enabled`, { enabled: true })).enabled, true);
      const { status, error } = await api("POST", `${FORECAST}/candidates/generate`, {});
      assert.deepEqual([status, error.errorType], [503, "CANNOT_GENERATE"]);
      const { estimate } = await api("POST", `${BASE}/estimate`, { server: "weather" });
      assert.equal(estimate.tools, 5);
      assert.ok(estimate.runs > 0 && estimate.seconds > 0);
    });

    await gateway.stop();
    await t.step("switch and promotion outlive a restart, also by a kill", async () => {
      for (const signal of ["SIGKILL", "SIGTERM"] as const) {
        await using again = await start(dataDir);
        assert.equal((await ask(again, "GET", BASE)).enabled, true);
        assert.equal((await shown(again, "get_forecast")).description, BETTER);
        await again.stop(signal);
      }
      await using last = await start(dataDir);
      assert.equal((await ask(last, "PUT", `${BASE}/enabled`, { enabled: false })).enabled, false);
      assert.equal((await shown(last, "get_forecast")).description, BETTER);
      const { promotion } = await ask(last, "POST", `${FORECAST}/revert`, {});
      assert.equal(promotion, null);
      assert.deepEqual(await shown(last, "get_forecast"), original);
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("a switch that was set at the start is not turned off while it runs", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await using gateway = await start(dataDir, ["--enable-optimization"]);
    assert.equal((await ask(gateway, "GET", BASE)).enabled, true);
    const { status, error } = await ask(gateway, "PUT", `${BASE}/enabled`, { enabled: false });
    assert.deepEqual([status, error.errorType], [409, "CONFLICT"]);
    assert.equal((await ask(gateway, "GET", BASE)).enabled, true);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
