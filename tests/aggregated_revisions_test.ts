import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";
import { Endpoints } from "./combined_endpoints.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";
import { StatelessClient } from "./stateless_client.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const Task = z.looseObject({ taskId: z.string(), status: z.string() }).partial();

/** Asks about a task by hand: the SDK's client knows no tasks of this revision. */
async function ask(url: URL, method: string, name: string, more: object = {}) {
  const key = method === "tools/call" ? "name" : "taskId";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { extensions: { [TASKS]: {} } },
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { [key]: name, ...more, _meta },
    }),
  });
  const text = await response.text();
  const json = text.startsWith("{") ? text : /^data: (\{.*"result".*)$/m.exec(text)?.[1];
  return z.object({ result: Task }).parse(JSON.parse(json ?? text)).result;
}

Deno.test("clients of 2026-07-28 get what the aggregated endpoints have", async (t) => {
  await using endpoints = await Endpoints.open({
    every: { ...npmServer("everything") },
    tasks: fixtureCommand("conformance_stateless", ["--stdio"]),
  });
  const at = (path: string) => new URL(path, endpoints.url);

  await t.step("tools that a server lists to capable clients, from the first list on", async () => {
    // The first list waits 2 s, for which a busy machine may be too slow.
    await using capable = await until(async () => {
      const client = await StatelessClient.http(at("/mcp?expose=all"));
      const { tools } = await client.client.listTools();
      if (tools.some(({ name }) => name === "every_get_roots_list")) return client;
      await client[Symbol.asyncDispose]();
    });
    assert.match(await capable.call("every_get_roots_list"), /file:\/\/\/marker/);
    await using plain = await StatelessClient.http(at("/mcp?expose=all"), { capabilities: {} });
    const listed = (await plain.client.listTools()).tools.map(({ name }) => name);
    assert.ok(!listed.includes("every_get_roots_list"));
  });

  await t.step("links that lead to their server", async () => {
    await using plain = await StatelessClient.http(at("/mcp"), { capabilities: {} });
    const { content } = await plain.client.callTool({
      name: "every_get_resource_links",
      arguments: { count: 1 },
    });
    const link = content.find(({ type }) => type === "resource_link");
    assert.ok(link?.type === "resource_link");
    assert.match(link.uri, /^quartermaster:\/\/every\//);
    const { contents } = await plain.client.readResource({ uri: link.uri });
    assert.deepEqual(contents.map(({ uri }) => uri), [link.uri]);
  });

  await t.step("tasks of the extension, under ids that name their server", async () => {
    const capabilities = { extensions: { [TASKS]: {} } };
    await using client = await StatelessClient.http(at("/mcp"), { capabilities });
    assert.ok(client.client.getServerCapabilities()?.extensions?.[TASKS], "announced");
    const args = { seconds: 60, label: "slow" };
    const task = await ask(at("/mcp"), "tools/call", "tasks_slow_compute", { arguments: args });
    assert.match(task.taskId ?? "", /^tasks:/);
    const { taskId = "" } = task;
    const known = await ask(at("/mcp"), "tasks/get", taskId);
    assert.deepEqual([known.taskId, known.status], [taskId, "working"]);
    await ask(at("/mcp"), "tasks/cancel", taskId);
    await until(async () =>
      (await ask(at("/mcp"), "tasks/get", taskId)).status === "cancelled" || undefined
    );
  });
});

Deno.test("log messages of a stdio server reach a client that set no level, while it is alone", async () => {
  await using endpoints = await Endpoints.open({
    logs: fixtureCommand("conformance_server", ["--stdio"]),
  });
  for (const path of ["/servers/logs/mcp", "/mcp"]) {
    const client = new Client({ name: "test", version: "1" });
    const heard: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      heard.push(params.data);
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(path, endpoints.url)) as never);
    await client.callTool({ name: "logs.test_tool_with_logging" });
    await until(() => heard.length >= 3 || undefined);
    await client.close();
  }
});
