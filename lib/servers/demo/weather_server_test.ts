import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { weatherServer } from "./weather_server.ts";

async function connect(): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await weatherServer().connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  return client;
}

Deno.test("weatherServer() serves an SDK client its five tools", async () => {
  const client = await connect();
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), [
    "get_forecast",
    "get_current",
    "get_alerts",
    "get_historical",
    "get_radar",
  ]);
  assert.deepEqual(tools[0]?.inputSchema.required, ["location"]);
  await client.ping();
  await client.close();
});

Deno.test("weatherServer() gives every tool's same answer to the same question", async () => {
  const client = await connect();
  const calls = [
    { name: "get_forecast", arguments: { location: "Lisbon", days: 2 } },
    { name: "get_current", arguments: { location: "Lisbon" } },
    { name: "get_alerts", arguments: { location: "Lisbon" } },
    {
      name: "get_historical",
      arguments: { location: "Lisbon", from: "2025-12-30", to: "2026-01-02" },
    },
    { name: "get_radar", arguments: { location: "Lisbon" } },
  ];
  for (const call of calls) {
    const first = await client.callTool(call);
    assert.ok(!first.isError, JSON.stringify(first));
    assert.deepEqual(await client.callTool(call), first);
  }
  const history = await client.callTool(calls[3]!);
  assert.equal((history.structuredContent as { days: unknown[] }).days.length, 4);
  await client.close();
});

Deno.test("weatherServer() says which argument is wrong", async () => {
  const client = await connect();
  const result = await client.callTool({
    name: "get_forecast",
    arguments: { location: "", days: 99 },
  });
  assert.equal(result.isError, true);
  assert.match(JSON.stringify(result.content), /location.*|days/);
  const unknown = await client.callTool({ name: "get_tides" });
  assert.match(JSON.stringify(unknown), /get_tides not found/);
  await client.close();
});
