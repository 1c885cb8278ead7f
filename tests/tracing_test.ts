import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startGateway, until } from "./gateway.ts";

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
