import assert from "node:assert/strict";
import { TokenCounter } from "../lib/core/token_counter.ts";
import { at, connect, type EndpointClient, Endpoints, must } from "./combined_endpoints.ts";
import { discover } from "./discovery.ts";
import { generateTools } from "./fixtures/generated_tools.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { TWELVE_TOOLS } from "./fixtures/twelve_tools.ts";

const counter = new TokenCounter();
Deno.test.afterAll(() => counter[Symbol.dispose]());

async function tokensOf(value: unknown): Promise<number> {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const [count = 0] = await counter.count([text]);
  assert.ok(count > 0, "nothing was counted");
  return count;
}

/** What a client is told of the tools. */
async function listing(endpoints: Endpoints, view: string): Promise<number> {
  await using client = await connect(endpoints.url, `/mcp?expose=${view}`);
  const { tools } = await client.client.listTools();
  return await tokensOf(tools);
}

/** Calls a tool; gives the answer, and what the call and the answer cost a model. */
async function spend(client: EndpointClient, name: string, input: Record<string, unknown>) {
  const text = await must(client, name, input);
  return { text, tokens: await tokensOf({ name, input }) + await tokensOf(text) };
}

function fewer(tokens: number, baseline: number): number {
  return 1 - tokens / baseline;
}

const CALL = { query: "dependency injection", domain: "architecture" };

Deno.test("the views cost little where a server has twelve tools with long descriptions", async (t) => {
  await using forge = new ScriptedServer(TWELVE_TOOLS);
  await using endpoints = await Endpoints.open({ forge: at(forge) });
  const all = await listing(endpoints, "all");
  for (const { name, description } of TWELVE_TOOLS) {
    const tokens = await tokensOf(description);
    assert.ok(tokens >= 150 && tokens <= 300, `${name}: ${tokens} tokens`);
  }

  await using direct = await connect(endpoints.url, "/mcp?expose=all");
  const used = (await spend(direct, "forge_search_context", CALL)).tokens;
  /** A session in which everything is listed, and one tool used. */
  const fixed = all + used;

  await t.step("discovery: list, discover, execute", async () => {
    const listed = await listing(endpoints, "discovery");
    assert.ok(listed <= 900, `${listed} tokens`);
    await using client = await connect(endpoints.url, "/mcp?expose=discovery");
    const query = ["search", "semantic", "memory", "context"];
    for (const [level, least] of [["summary", 0.47], ["minimal", 0.47]] as const) {
      const found = await spend(client, "tool_discovery", { query, detailLevel: level });
      const { tools: [first] } = await discover(client, { query, detailLevel: level });
      assert.equal(first!.toolName, "search_context");
      const { toolKey } = first!;
      const done = await spend(client, "tool_execute", { toolKey, arguments: CALL });
      const saved = fewer(listed + found.tokens + done.tokens, fixed);
      assert.ok(saved >= least, `${level}: ${Math.round(saved * 100)} % of ${fixed} tokens saved`);
    }
    const full = { query, detailLevel: "full", maxResults: 1 };
    const one = await spend(client, "tool_discovery", full);
    const { toolKey, inputSchema } = JSON.parse(one.text).tools[0];
    assert.deepEqual(inputSchema, TWELVE_TOOLS[0]!.inputSchema);
    const done = await spend(client, "tool_execute", { toolKey, arguments: CALL });
    const saved = fewer(listed + one.tokens + done.tokens, fixed);
    assert.ok(saved >= 0.47, `full: ${Math.round(saved * 100)} % of ${fixed} tokens saved`);
  });

  await t.step("index: list, describe, execute", async () => {
    const listed = await listing(endpoints, "index");
    await using client = await connect(endpoints.url, "/mcp?expose=index");
    const index = await spend(client, "list_available_tools", {});
    assert.equal(JSON.parse(index.text).tools.length, 12);
    const alone = await tokensOf(index.text);
    assert.ok(alone < 500, `the index of twelve tools: ${alone} tokens`);
    for (const { name } of TWELVE_TOOLS) {
      const text = await must(client, "get_tool_description", { tool_name: `forge_${name}` });
      const tokens = await tokensOf(text);
      assert.ok(tokens < 400, `${name}: ${tokens} tokens`);
    }
    const tool_name = "forge_search_context";
    const described = await spend(client, "get_tool_description", { tool_name });
    const done = await spend(client, "tool_execute", { toolKey: tool_name, arguments: CALL });
    const saved = fewer(listed + index.tokens + described.tokens + done.tokens, fixed);
    assert.ok(saved >= 0.47, `${Math.round(saved * 100)} % of ${fixed} tokens saved`);
  });

  await t.step("optimizer: find, call", async () => {
    const listed = await listing(endpoints, "optimizer");
    await using client = await connect(endpoints.url, "/mcp?expose=optimizer");
    const args = { tool_description: "search semantic memory for context", limit: 3 };
    const found = await spend(client, "optim.find_tool", args);
    const { tools, token_metrics } = JSON.parse(found.text);
    assert.equal(tools[0].name, "search_context");
    // The answer is sent as text and as structured content.
    assert.ok(token_metrics.savings_percentage > 40, JSON.stringify(token_metrics));
    const done = await spend(client, "optim.call_tool", {
      backend_id: "forge",
      tool_name: "search_context",
      parameters: CALL,
    });
    const saved = fewer(listed + found.tokens + done.tokens, fixed);
    assert.ok(saved >= 0.47, `${Math.round(saved * 100)} % of ${fixed} tokens saved`);
  });
});

Deno.test("the gateway's own tools stay small in front of many servers", async () => {
  const names = [
    "github",
    "slack",
    "notion",
    "google-workspace",
    "filesystem",
    "git",
    "postgres",
    "playwright",
    "sentry",
    "linear",
    "stripe",
    "kubernetes-production-cluster",
    "thirteenth",
  ];
  const servers = names.map((name, index) => {
    const tools = generateTools(20 + index).map(({ definition }) => JSON.parse(definition));
    return [name, new ScriptedServer(tools)] as const;
  });
  try {
    const entries = servers.map(([name, server]) => [name, at(server)]);
    for (const some of [entries.slice(0, 12), entries]) {
      await using endpoints = await Endpoints.open(Object.fromEntries(some));
      const [discovery, standard] = [
        await listing(endpoints, "discovery"),
        await listing(endpoints, "default"),
      ];
      assert.ok(discovery <= 900, `discovery: ${discovery} tokens`);
      assert.ok(standard <= 1_800, `default: ${standard} tokens`);
      await using client = await connect(endpoints.url, "/mcp");
      assert.equal((await client.client.listTools()).tools.length, 10);
      const tool_name = "github_search_issues";
      const text = await must(client, "get_tool_description", { tool_name });
      const tokens = await tokensOf(text);
      assert.ok(tokens < 400, `${tool_name}: ${tokens} tokens`);
    }
  } finally {
    for (const [, server] of servers) await server[Symbol.asyncDispose]();
  }
});

Deno.test("of two thousand tools, finding and using one costs at most a twentieth of listing all", async () => {
  const tools = generateTools(2_000).map(({ definition }) => JSON.parse(definition));
  await using many = new ScriptedServer(tools);
  await using endpoints = await Endpoints.open({ many: at(many) });
  // What each costs alone: the sum is what is listed, and is counted faster than one long text.
  const counts = await counter.count(tools.map((tool) => JSON.stringify(tool)));
  const all = counts.reduce((sum, count) => sum + count, 0);
  const args = { workspace: "acme" };

  await using discovery = await connect(endpoints.url, "/mcp?expose=discovery");
  const found = await spend(discovery, "tool_discovery", {
    query: "search invoices",
    detailLevel: "full",
  });
  const { toolKey, toolName } = JSON.parse(found.text).tools[0];
  assert.match(toolName, /^search_invoices/);
  const executed = await spend(discovery, "tool_execute", { toolKey, arguments: args });
  const byDiscovery = await listing(endpoints, "discovery") + found.tokens + executed.tokens;
  assert.ok(fewer(byDiscovery, all) >= 0.95, `${byDiscovery} of ${all} tokens`);

  await using index = await connect(endpoints.url, "/mcp?expose=index");
  const page = await spend(index, "list_available_tools", {});
  const tool_name = "many_search_invoices";
  const described = await spend(index, "get_tool_description", { tool_name });
  const byIndex = await listing(endpoints, "index") + page.tokens + described.tokens;
  assert.ok(fewer(byIndex, all) >= 0.95, `${byIndex} of ${all} tokens`);

  await using optimizer = await connect(endpoints.url, "/mcp?expose=optimizer");
  const best = await spend(optimizer, "optim.find_tool", { tool_description: "search invoices" });
  const { token_metrics } = JSON.parse(best.text);
  assert.equal(token_metrics.baseline_tokens, all);
  assert.ok(token_metrics.savings_percentage >= 95, JSON.stringify(token_metrics));
  const byOptimizer = await listing(endpoints, "optimizer") + best.tokens;
  assert.ok(fewer(byOptimizer, all) >= 0.95, `${byOptimizer} of ${all} tokens`);
});
