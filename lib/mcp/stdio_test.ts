import assert from "node:assert/strict";
import pino from "pino";
import { readMessage, requestText, resultText } from "../core/rpc.ts";
import { Sessions } from "./session.ts";
import { StdioEndpoint } from "./stdio.ts";
import type { View } from "./view.ts";

/** A door whose every tool asks for roots, and answers with what it is told. */
function openDoor() {
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
  const door = new StdioEndpoint({
    host: { sessions, log, onAnswered: () => {} },
    open: () => ({ key: "mcp?", view }),
    write: (text) => void written.push(text),
  });
  return {
    written,
    warnings,
    settled: () => door.settled(),
    take(message: object): void {
      const text = JSON.stringify({ jsonrpc: "2.0", ...message });
      door.take(readMessage(text)!, text);
    },
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      await sessions[Symbol.asyncDispose]();
    },
  };
}

Deno.test("StdioDoor ignores an answer that nobody is waiting for, and says so in the log", async () => {
  await using door = openDoor();
  const params = { protocolVersion: "2025-11-25", capabilities: { roots: {} } };
  door.take({ id: 0, method: "initialize", params });
  await door.settled();
  door.take({ id: 1, method: "tools/call", params: { name: "ask" } });
  const { id } = JSON.parse(door.written[1]!);
  door.take({ id: 1, result: { roots: ["guessed"] } });
  assert.equal(door.warnings.length, 1);
  door.take({ id, result: { roots: [] } });
  await door.settled();
  door.take({ id, result: { roots: ["again"] } });
  assert.equal(door.warnings.length, 2);
  assert.match(door.warnings[1]!, /No question with the id .* is waiting/);
  assert.equal(door.written.length, 3, "an answer was answered");
  assert.match(door.written[2]!, /"id":1,"result":.*"roots":\[\]/);
});
