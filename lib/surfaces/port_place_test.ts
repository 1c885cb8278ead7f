import assert from "node:assert/strict";
import { testPort } from "./call_control/testing/gated_call.ts";
import { placeOf } from "./port_place.ts";

function named(clientInfo: Record<string, unknown> | undefined, from?: string): string {
  const port = testPort({ door: "gateway?" });
  return placeOf({ ...port, client: { ...port.client, clientInfo }, from });
}

Deno.test("placeOf() has the door, what the client calls itself, and its address", () => {
  assert.equal(
    named({ name: "claude-code", version: "2" }, "127.0.0.1"),
    'MCP at /gateway, client "claude-code 2", from 127.0.0.1',
  );
  assert.equal(named({ name: "x" }, "stdio"), 'MCP at /gateway, client "x", from stdio');
  assert.equal(named(undefined), "MCP at /gateway");
  assert.equal(placeOf(testPort()), 'MCP, client "test"');
});

Deno.test("placeOf() lets no client write an address of its own", () => {
  const place = named({ name: 'nice", from 127.0.0.1', version: "\n" }, "192.0.2.7");
  assert.equal(place, String.raw`MCP at /gateway, client "nice\", from 127.0.0.1", from 192.0.2.7`);
  assert.ok(named({ name: "x".repeat(1_000) }, "192.0.2.7").length < 150);
});
