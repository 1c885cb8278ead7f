import assert from "node:assert/strict";
import * as z from "zod";
import { chaos } from "../faults.ts";
import { Guarded, Visitor } from "./guarded.ts";

const CLIENTS = 1_000;
const AT_ONCE = 50;
const ENDPOINTS = ["/servers/echo/mcp", "/mcp", "/mcp?expose=all"];

const Echoed = z.looseObject({
  id: z.union([z.string(), z.number()]),
  result: z.looseObject({ structuredContent: z.object({ of: z.string(), call: z.number() }) }),
});

/** One client's calls, all at once, under ids that every other client uses too. */
async function visit(url: string, client: number, token: string): Promise<void> {
  const endpoint = ENDPOINTS[client % ENDPOINTS.length]!;
  const name = endpoint.startsWith("/servers") ? "echo.echo" : "echo_echo";
  const of = `client ${client}`;
  const { headers, url: place } = await Visitor.open(url, endpoint, token);
  await Promise.all([1, "1"].map(async (id, call) => {
    const params = { name, arguments: { of, call } };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    const response = await fetch(place, { method: "POST", headers, body });
    const text = await response.text();
    const message = text.startsWith("{") ? text : /^data: (\{.*)$/m.exec(text)?.[1] ?? "{}";
    const answer = Echoed.parse(JSON.parse(message));
    assert.equal(answer.id, id);
    assert.deepEqual(answer.result.structuredContent, { of, call });
  }));
}

Deno.test("1,000 clients whose request ids collide each get their own answers", async () => {
  // One program, and so one line to it that all of them share.
  await using guarded = await Guarded.open({ echo: chaos() });
  const tokens = await Promise.all([1, 2, 3, 4].map(() => guarded.token()));
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let client = next++; client < CLIENTS; client = next++) {
      await visit(guarded.url, client, tokens[client % tokens.length]!.text);
    }
  }));
  assert.ok(next >= CLIENTS);
});
