import assert from "node:assert/strict";
import { ScopeMissing } from "../auth/oauth_scopes.ts";
import { Mailbox } from "../storage/mailbox.ts";
import { Store } from "../storage/store.ts";
import { HeldCalls } from "./held_calls.ts";
import type { Round, StatelessCall } from "./stateless_call.ts";

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

Deno.test("HeldCalls passes an OAuth step-up back to the gateway that the client uses", async () => {
  await using store = await Store.open({ location: ":memory:" });
  await using stack = new AsyncDisposableStack();
  const open = () => {
    const others = () => Promise.resolve([]);
    const lease = { id: crypto.randomUUID(), isAlive: () => Promise.resolve(true), others };
    const mailbox = stack.use(new Mailbox(store, lease));
    mailbox.keepReading(2);
    return stack.use(new HeldCalls({ gatewayId: "g", mailbox }));
  };
  const [here, there] = [open(), open()];
  const caller = { endpoint: "/mcp", principal: "oauth:ann" };
  const missing = new ScopeMissing("The token has no scope", ["mcp:read", "mcp:call"]);
  const call = {
    session: caller,
    fingerprint: "f",
    resume: (round: Round) => round.end("{}", 200, missing),
    cancel() {},
  } as unknown as StatelessCall;
  const state = here.hold(call);
  const ended = Promise.withResolvers<unknown>();
  const round: Round = {
    id: 7,
    progressToken: undefined,
    send() {},
    end: (...outcome) => ended.resolve(outcome),
  };
  const back = { round, answers: new Map(), refused: String };
  there.resume({ ...caller, state, fingerprint: "f" }, back);
  assert.deepEqual(await ended.promise, ["{}", 200, missing]);
});
