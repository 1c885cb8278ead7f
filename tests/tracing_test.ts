import assert from "node:assert/strict";
import { join } from "@std/path";
import * as z from "zod";
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

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
}

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const Exported = z.object({
  resourceSpans: z.array(z.object({
    resource: z.object({ attributes: z.array(Attribute) }),
    scopeSpans: z.array(z.object({
      spans: z.array(z.object({
        traceId: z.string(),
        spanId: z.string(),
        parentSpanId: z.string().optional(),
        name: z.string(),
        kind: z.number(),
        attributes: z.array(Attribute),
      })),
    })),
  })),
});
const Measured = z.object({
  resourceMetrics: z.array(z.object({
    scopeMetrics: z.array(z.object({
      metrics: z.array(z.looseObject({ name: z.string() })),
    })),
  })),
});

const valuesOf = (attributes: z.infer<typeof Attribute>[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** A collector of OTLP over HTTP with JSON. */
function startCollector() {
  const spans: ExportedSpan[] = [];
  const services = new Set<unknown>();
  const metrics = new Map<string, string>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const body = await request.json();
      if (request.url.endsWith("/v1/traces")) {
        for (const { resource, scopeSpans } of Exported.parse(body).resourceSpans) {
          services.add(valuesOf(resource.attributes)["service.name"]);
          for (const { attributes, ...span } of scopeSpans.flatMap(({ spans }) => spans)) {
            spans.push({ ...span, attributes: valuesOf(attributes) } as ExportedSpan);
          }
        }
      } else {
        const read = Measured.parse(body).resourceMetrics.flatMap(({ scopeMetrics }) =>
          scopeMetrics.flatMap(({ metrics }) => metrics)
        );
        for (const metric of read) metrics.set(metric.name, JSON.stringify(metric));
      }
      return Response.json({});
    },
  );
  return {
    spans,
    services,
    metrics,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** With the runtime's exporter, and with the gateway's own. */
for (
  const [title, args, env] of [
    ["OTEL_DENO", [], { OTEL_DENO: "true" }],
    ["--otlp", ["--otlp"], {}],
  ] as const
) {
  Deno.test(`${title}: one trace leads from the client through the gateway to the server`, async () => {
    await using collector = startCollector();
    await using server = new ScriptedServer([{ name: "look", inputSchema: { type: "object" } }]);
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const mcpServers = { scripted: { type: "http", url: server.url } };
    await Deno.writeTextFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
    await using gateway = await startGateway([...args], {
      cwd: folder,
      env: {
        ...env,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: "200",
        OTEL_METRIC_EXPORT_INTERVAL: "200",
        OTEL_SERVICE_NAME: "tools-of-acme",
      },
    });
    await until(async () =>
      (await (await fetch(`${gateway.url}/readyz`)).json()).servers.ready || undefined
    );
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", gateway.url)) as never);
    await client.callTool({ name: "scripted_look", _meta });
    await client.close();

    const { served, called } = await until(() => {
      const ours = collector.spans.filter(({ traceId }) => traceId === TRACE);
      const served = ours.find(({ kind }) => kind === 2);
      const called = ours.find(({ kind }) => kind === 3);
      return served && called && { served, called };
    });
    const sent = JSON.parse(server.calls[0]!)._meta.traceparent;
    assert.equal(served.parentSpanId, TRACEPARENT.split("-")[2]);
    assert.equal(called.parentSpanId, served.spanId);
    assert.equal(sent.split("-")[2], called.spanId);
    assert.equal(served.name, "tools/call scripted_look");
    assert.equal(called.name, "tools/call look");
    assert.equal(served.attributes["gen_ai.operation.name"], "execute_tool");
    assert.equal(served.attributes["quartermaster.server"], "scripted");
    assert.equal(called.attributes["gen_ai.tool.name"], "look");
    assert.deepEqual([...collector.services], ["tools-of-acme"]);
    const line = await until(() =>
      gateway.log().split("\n").find((line) => line.includes('"msg":"Call"'))
    );
    assert.equal(JSON.parse(line).trace_id, TRACE);
    if (title === "--otlp") {
      const says = (name: string, text: RegExp) =>
        until(() => text.test(collector.metrics.get(name) ?? "") || undefined);
      await says("quartermaster_tool_calls_total", /scripted.*look.*ok/);
      await says(
        "quartermaster_tool_call_seconds",
        /scripted.*explicitBounds|explicitBounds.*scripted/,
      );
    }
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("--otlp without a collector: calls go on, a warning says why, and a stop does not wait", async () => {
  await using gateway = await startGateway(["--otlp"], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_BSP_SCHEDULE_DELAY: "50" },
  });
  await until(async () =>
    (await (await fetch(`${gateway.url}/readyz`)).json()).servers.ready || undefined
  );
  await until(() => gateway.log().includes("Cannot send traces or metrics") || undefined);
  const { code } = await gateway.stop();
  assert.equal(code, 0);
});
