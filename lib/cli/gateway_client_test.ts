import assert from "node:assert/strict";
import { GatewayClient } from "./gateway_client.ts";

Deno.test("GatewayClient.waiting() has the tools that are kept back, and which of them are served", async () => {
  const item = { server: "a", fingerprint: "f", findings: [] };
  const items = [
    { ...item, tool: "bad", kind: "finding", state: "quarantined" },
    { ...item, tool: "changed", kind: "changed", state: "held" },
    { ...item, tool: "added", kind: "added", state: "held" },
    { ...item, tool: "seen", kind: "changed", state: "notice" },
    { ...item, tool: "(instructions)", kind: "finding", state: "quarantined" },
  ];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ items, more: 0, decisions: [], policies: [] }),
  );
  try {
    const client = new GatewayClient(`http://127.0.0.1:${server.addr.port}`);
    assert.deepEqual(await client.waiting(), [
      { server: "a", name: "bad", state: "quarantined", isServed: false },
      { server: "a", name: "changed", state: "held", isServed: true },
      { server: "a", name: "added", state: "held", isServed: false },
    ]);
  } finally {
    await server.shutdown();
  }
});
