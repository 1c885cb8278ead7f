import assert from "node:assert/strict";
import { testClient } from "../trust/call_control/testing/pending_call.ts";
import { originOf } from "./client.ts";

function named(clientInfo: Record<string, unknown> | undefined, from?: string): string {
  const client = testClient({ endpoint: "gateway?" });
  return originOf({ ...client, profile: { ...client.profile, clientInfo }, from });
}

Deno.test("originOf() has the endpoint, what the client calls itself, and its address", () => {
  assert.equal(
    named({ name: "claude-code", version: "2" }, "127.0.0.1"),
    'MCP at /gateway, client "claude-code 2", from 127.0.0.1',
  );
  assert.equal(named({ name: "x" }, "stdio"), 'MCP at /gateway, client "x", from stdio');
  assert.equal(named(undefined), "MCP at /gateway");
  assert.equal(originOf(testClient()), 'MCP, client "test"');
});

Deno.test("originOf() lets no client write an address of its own", () => {
  const place = named({ name: 'nice", from 127.0.0.1', version: "\n" }, "192.0.2.7");
  assert.equal(place, String.raw`MCP at /gateway, client "nice\", from 127.0.0.1", from 192.0.2.7`);
  assert.ok(named({ name: "x".repeat(1_000) }, "192.0.2.7").length < 150);
});
