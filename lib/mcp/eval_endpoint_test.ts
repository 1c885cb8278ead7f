import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { TimeoutQueue } from "../core/async.ts";
import { Logs } from "../telemetry/logs.ts";
import { EvalEndpoints } from "./eval_endpoint.ts";

const TOOLS = [
  {
    name: "files_delete",
    server: "files",
    tool: "delete",
    text: '{"name":"files_delete","description":"Tried","inputSchema":{"type":"object"}}',
  },
];

async function openEndpoints() {
  const stack = new AsyncDisposableStack();
  const logs = stack.use(
    await Logs.open({ level: "fatal", development: false, keepFiles: 1 }),
  );
  const patience = stack.use(new TimeoutQueue(50));
  const endpoints = stack.use(
    new EvalEndpoints({ log: logs.module("http"), patience, lingerMs: 0 }),
  );
  return { endpoints, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function connect(url: string, token: string): { client: Client; connected: Promise<void> } {
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  return { client, connected: client.connect(transport as Parameters<Client["connect"]>[0]) };
}

Deno.test("EvalEndpoints.open() shows exactly its tools and answers calls without running anything", async () => {
  await using opened = await openEndpoints();
  await using endpoint = opened.endpoints.open(TOOLS);
  const { client, connected } = connect(endpoint.url, endpoint.token);
  await connected;
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name, description }) => [name, description]), [
    ["files_delete", "Tried"],
  ]);
  const result = await client.callTool({ name: "files_delete", arguments: {} });
  assert.match(JSON.stringify(result.content), /was not run/);
  await assert.rejects(client.callTool({ name: "other", arguments: {} }), /no tool "other"/);
  await client.close();
});

Deno.test("EvalEndpoints refuses another run's token, foreign hosts, and runs that are over", async () => {
  await using opened = await openEndpoints();
  await using other = opened.endpoints.open(TOOLS);
  let [url, token] = ["", ""];
  {
    await using endpoint = opened.endpoints.open(TOOLS);
    [url, token] = [endpoint.url, endpoint.token];
    await assert.rejects(connect(url, other.token).connected);
    await assert.rejects(connect(url, "").connected);
    const foreign = await fetch(url, { method: "POST", headers: { origin: "https://a.example" } });
    assert.equal(foreign.status, 403);
    await foreign.body?.cancel();
  }
  const gone = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(gone.status, 404);
  await gone.body?.cancel();
});
