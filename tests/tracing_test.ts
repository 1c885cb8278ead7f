import assert from "node:assert/strict";
import { join } from "@std/path";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { startGateway, until } from "./gateway.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const _meta = { traceparent: TRACEPARENT, tracestate: "vendor=1", other: 1.0 };

/** What a server is sent as `_meta` of a call with the one above. */
async function sentMeta(env: Record<string, string>) {
  await using server = new ScriptedServer([{ name: "look", inputSchema: { type: "object" } }]);
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const mcpServers = { scripted: { type: "http", url: server.url } };
  await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
  await using gateway = await startGateway([], { cwd: folder, env });
  await until(async () =>
    (await (await fetch(`${gateway.url}/readyz`)).json()).servers.ready || undefined
  );
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", gateway.url)) as never);
  await client.callTool({ name: "scripted_look", _meta });
  await client.callTool({ name: "scripted_look" });
  await client.close();
  await Deno.remove(folder, { recursive: true });
  return server.calls.map((text) => JSON.parse(text)._meta);
}

Deno.test("traceparent and tracestate in _meta reach the server, and the gateway's span is in between", async () => {
  assert.deepEqual(await sentMeta({}), [_meta, undefined]);
  const env = { OTEL_DENO: "true", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  const [continued, begun] = await sentMeta(env);
  const { traceparent, ...rest } = continued;
  assert.deepEqual(rest, { tracestate: "vendor=1", other: 1 });
  assert.match(traceparent, new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`));
  assert.notEqual(traceparent, TRACEPARENT);
  assert.match(begun.traceparent, /^00-[\da-f]{32}-[\da-f]{16}-01$/);
});

Deno.test("spans of HTTP request, MCP request and server call are exported where OTEL_DENO is set", async () => {
  const names = new Set<string>();
  const collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const text = await request.text();
      if (request.url.endsWith("/v1/traces")) {
        for (const [, name] of text.matchAll(/"name": ?"([^"]+)"/g)) names.add(name!);
      }
      return Response.json({});
    },
  );
  await using gateway = await startGateway([], {
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
      OTEL_BSP_SCHEDULE_DELAY: "200",
    },
  });
  await until(async () =>
    (await (await fetch(`${gateway.url}/readyz`)).json()).servers.ready || undefined
  );
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/servers/weather/mcp", gateway.url)) as never,
  );
  await client.callTool({ name: "weather.get_current", arguments: { location: "Oslo" } });
  await client.close();
  const wanted = ["request", "mcp request", "server call"];
  await until(() => wanted.every((name) => names.has(name)) || undefined);
  await gateway.stop();
  await collector.shutdown();
});
