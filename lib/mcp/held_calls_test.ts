import assert from "node:assert/strict";
import { Mailbox } from "../storage/mailbox.ts";
import { Store } from "../storage/store.ts";
import { HeldCalls } from "./held_calls.ts";

Deno.test("HeldCalls answers a retry passed to another gateway even if building the refusal fails", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using mailbox = new Mailbox(store, {
    id: "here",
    isAlive: () => Promise.resolve(false),
    others: () => Promise.resolve([]),
  });
  using held = new HeldCalls({ gatewayId: "g", mailbox });
  const state = `quartermaster.g.${crypto.randomUUID()}.secret`;
  const ended = Promise.withResolvers<string>();
  const round = { id: 7, progressToken: undefined, send() {}, end: ended.resolve };
  const refused = () => {
    throw new Error("private");
  };
  const retry = { state, endpoint: "/mcp", principal: "ann", fingerprint: "f" };
  held.resume(retry, { round, answers: new Map(), refused });
  const { id, error } = JSON.parse(await ended.promise);
  assert.deepEqual([id, error.code], [7, -32603]);
  assert.ok(!error.message.includes("private"));
});
