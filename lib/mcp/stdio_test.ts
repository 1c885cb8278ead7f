import assert from "node:assert/strict";
import pino from "pino";
import { readMessage, requestText, resultText } from "../core/rpc.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import { Sessions } from "./session.ts";
import { StdioEndpoint } from "./stdio.ts";
import type { View } from "./view.ts";

/** An endpoint whose every tool asks for roots, and answers with what it is told. */
function openEndpoint() {
  const written: string[] = [];
  const warnings: string[] = [];
  const view: View = {
    introduce: () => Promise.resolve({ capabilities: {} }),
    open: (client) => ({
      request: ({ id, send }) =>
        new Promise((resolve) =>
          send(
            client.ask(
              requestText(1, "roots/list"),
              1,
              (text) => resolve({ text: resultText(id, text) }),
            ),
          )
        ),
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
  const sessions = new Sessions({
    records: {
      save: () => Promise.resolve(),
      find: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(),
    },
    onWarning: assert.fail,
  });
  const log = pino({ level: "warn" }, { write: (line) => void warnings.push(line) });
  const endpoint = new StdioEndpoint({
    host: {
      sessions,
      held: new HeldCalls(),
      envelopes: new EnvelopeReader(),
      log,
      onAnswered: () => {},
    },
    open: () => ({ key: "mcp?", view }),
    write: (text) => void written.push(text),
  });
  return {
    written,
    warnings,
    sessions,
    end: () => endpoint[Symbol.asyncDispose](),
    settled: () => endpoint.settled(),
    take(message: object): void {
      const text = JSON.stringify({ jsonrpc: "2.0", ...message });
      endpoint.take(readMessage(text)!, text);
    },
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]();
      await sessions[Symbol.asyncDispose]();
    },
  };
}

Deno.test("StdioEndpoint ignores an answer that nobody is waiting for, and says so in the log", async () => {
  await using endpoint = openEndpoint();
  const params = { protocolVersion: "2025-11-25", capabilities: { roots: {} } };
  endpoint.take({ id: 0, method: "initialize", params });
  await endpoint.settled();
  endpoint.take({ id: 1, method: "tools/call", params: { name: "ask" } });
  const { id } = JSON.parse(endpoint.written[1]!);
  endpoint.take({ id: 1, result: { roots: ["guessed"] } });
  assert.equal(endpoint.warnings.length, 1);
  endpoint.take({ id, result: { roots: [] } });
  await endpoint.settled();
  endpoint.take({ id, result: { roots: ["again"] } });
  assert.equal(endpoint.warnings.length, 2);
  assert.match(endpoint.warnings[1]!, /No question with the id .* is waiting/);
  assert.equal(endpoint.written.length, 3, "an answer was answered");
  assert.match(endpoint.written[2]!, /"id":1,"result":.*"roots":\[\]/);
});

const key = "io.modelcontextprotocol";

/** A request of a stateless client that goes by a name. */
function statelessRequest(name: string, id: number, method: string, params: object = {}) {
  const _meta = {
    [`${key}/protocolVersion`]: "2026-07-28",
    [`${key}/clientCapabilities`]: {},
    [`${key}/clientInfo`]: { name },
  };
  return { id, method, params: { ...params, _meta } };
}

Deno.test("StdioEndpoint ends all sessions of stateless clients", async () => {
  const endpoint = openEndpoint();
  await using sessions = endpoint.sessions;
  for (const [nth, name] of ["one", "two"].entries()) {
    endpoint.take(statelessRequest(name, nth, "subscriptions/listen", { notifications: {} }));
  }
  await endpoint.settled();
  assert.equal(sessions.size, 2);
  await endpoint.end();
  assert.equal(sessions.size, 0);
});

Deno.test("StdioEndpoint takes back a subscription that is still being opened", async () => {
  await using endpoint = openEndpoint();
  endpoint.take(statelessRequest("one", 1, "subscriptions/listen", { notifications: {} }));
  endpoint.take({ method: "notifications/cancelled", params: { requestId: 1 } });
  await endpoint.settled();
  assert.deepEqual(endpoint.written, [], "nothing is acknowledged");
  const [session] = endpoint.sessions.list();
  assert.equal([...session!.listeners()].length, 0);
});
