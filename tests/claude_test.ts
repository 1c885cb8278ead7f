import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
import { claudeTest, runClaude } from "./fixtures/claude_cli.ts";
import { type ModelReply, startModelStandIn, toolResultsOf } from "./fixtures/model_stand_in.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { type RunningGateway, startGateway, until } from "./gateway.ts";

interface Exchange {
  /** Of the JSON-RPC message, or of HTTP where there is none. */
  method: string;
  /** Of the tool that is called. */
  tool: string | undefined;
  status: number;
}

const Message = z.looseObject({
  method: z.string().optional(),
  params: z.looseObject({ name: z.string().optional() }).optional(),
});

/** Stands between a client and a gateway, passes everything on, and keeps what was asked. */
function listenIn(gateway: RunningGateway) {
  const heard: Exchange[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("host");
      const body = request.method === "POST" ? await request.text() : null;
      const response = await fetch(new URL(pathname + search, gateway.url), {
        method: request.method,
        headers,
        body,
        signal: request.signal,
      });
      const message = Message.parse(JSON.parse(body ?? "{}"));
      const { status } = response;
      heard.push({ method: message.method ?? request.method, tool: message.params?.name, status });
      return new Response(response.body, response);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    heard,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function startChaos() {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const mcpServers = { chaos: fixtureCommand("chaos_server") };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  const gateway = await startGateway([], { cwd: folder });
  await ready(gateway);
  return {
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function ready({ url }: RunningGateway): Promise<true> {
  return until(async () => {
    const { servers } = await (await fetch(`${url}/readyz`)).json();
    return servers.ready === 1 || undefined;
  });
}

const DESCRIPTIONS = {
  get_forecast: "Get weather forecast data",
  get_current: "Get current weather conditions",
  get_alerts: "Get severe weather alerts",
  get_historical: "Historical weather data",
  get_radar: "Radar and satellite imagery",
};
const EXPECTED_TOOLS = Object.keys(DESCRIPTIONS).map((name) => `mcp__weather__weather_${name}`);

for (
  const [query, called] of [
    ["", "weather.get_current"],
    ["?names=flat", "weather_get_current"],
  ] as const
) {
  await claudeTest(
    `the claude CLI speaks 2026-07-28, connects, lists and calls at /servers/weather/mcp${query}`,
    async (claude) => {
      await using gateway = await startGateway();
      await ready(gateway);
      await using endpoint = listenIn(gateway);
      await using model = startModelStandIn((request) => {
        const [result] = toolResultsOf(request);
        if (result !== undefined) return { text: result };
        const toolUse = { name: "mcp__weather__weather_get_current", input: { location: "Oslo" } };
        return { text: "Let me look", toolUse };
      });
      const run = await runClaude({
        claude,
        prompt: "What is the weather in Oslo?",
        modelUrl: model.url,
        mcpServers: {
          weather: { type: "http", url: `${endpoint.url}/servers/weather/mcp${query}` },
          nowhere: { type: "http", url: `${gateway.url}/servers/nowhere/mcp` },
        },
        extraArgs: ["--allowedTools", "mcp__weather"],
      });
      const states = run.init?.mcp_servers.map(({ name, status }) => `${name} ${status}`);
      assert.deepEqual(states?.sort(), ["nowhere failed", "weather connected"], run.stderr);
      assert.deepEqual(run.init?.tools.toSorted(), EXPECTED_TOOLS.toSorted());

      assert.ok(endpoint.heard.every(({ status }) => status === 200));
      const methods = new Set(endpoint.heard.map(({ method }) => method));
      assert.deepEqual([...methods].sort(), [
        "server/discover",
        "subscriptions/listen",
        "tools/call",
        "tools/list",
      ]);
      assert.deepEqual(endpoint.heard.flatMap(({ tool }) => tool ?? []), [called]);

      const offered = new Map(model.requests[0]?.tools.map((tool) => [tool.name, tool]));
      for (const [name, description] of Object.entries(DESCRIPTIONS)) {
        assert.equal(offered.get(`mcp__weather__weather_${name}`)?.description, description);
      }
      assert.equal(model.requests.length, 2);
      const [expected] = toolResultsOf(model.requests[1]!).map((text) => JSON.parse(text));
      assert.equal(expected.location, "Oslo");
      assert.equal(typeof expected.temperatureC, "number");
      assert.equal(run.result?.is_error, false);
      assert.deepEqual(JSON.parse(run.result?.result ?? ""), expected);
      assert.equal(run.code, 0);
    },
  );
}

await claudeTest(
  "the claude CLI reaches a stdio server, is asked by it, and hears of its new tools",
  async (claude) => {
    await using chaos = await startChaos();
    const input = { text: "naïve \u{1F30D}", list: [1, { deep: true }], nothing: null };
    const uses: NonNullable<ModelReply["toolUse"]>[] = [
      { name: "mcp__chaos__chaos_echo", input },
      { name: "mcp__chaos__chaos_ask", input: { kind: "roots" } },
      { name: "mcp__chaos__chaos_change-tools", input: {} },
      // Time for the notification, which comes beside the result, to be acted on.
      { name: "mcp__chaos__chaos_sleep", input: { ms: 500 } },
      { name: "mcp__chaos__chaos_added_1", input: {} },
    ];
    await using model = startModelStandIn((request) => {
      const toolUse = uses[toolResultsOf(request).length];
      return toolUse ? { toolUse } : { text: "Done" };
    });
    const run = await runClaude({
      claude,
      prompt: "Try everything",
      modelUrl: model.url,
      mcpServers: { chaos: { type: "http", url: `${chaos.gateway.url}/servers/chaos/mcp` } },
      extraArgs: ["--allowedTools", "mcp__chaos"],
    });
    assert.deepEqual(run.init?.mcp_servers.map(({ status }) => status), ["connected"], run.stderr);
    assert.equal(run.result?.result, "Done");
    const [echoed = "", roots = "", added, slept, news] = toolResultsOf(model.requests.at(-1)!);
    assert.deepEqual(JSON.parse(echoed), input);
    assert.match(roots, /file:\/\/.*claude_/);
    assert.equal(added, "added_1");
    assert.equal(slept, "Slept 500 ms");
    assert.equal(news, "added_1 was called");
    const knows = model.requests.map(({ tools }) =>
      tools.some(({ name }) => /added_1$/.test(name))
    );
    assert.equal(knows[0], false);
    assert.equal(knows.at(-1), true);
  },
);
