import assert from "node:assert/strict";
import { z } from "zod";
import { EVERYONE } from "../core/principal.ts";
import { failure } from "../storage/testing/failures.ts";
import { builtin, callBuiltin } from "./builtin_tool.ts";
import { sample } from "./client_sampling.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** A client that answers with this, or never; `sent` is what reached it. */
function client(capabilities: Record<string, unknown>, answer?: unknown, signal?: AbortSignal) {
  const sent: Record<string, unknown>[] = [];
  let onAnswer = (_: string) => {};
  const port: ClientPort = {
    client: { protocolVersion: "2025-11-25", capabilities },
    principal: EVERYONE,
    push: () => {},
    ask: (text, _, callback) => {
      onAnswer = callback;
      return JSON.stringify({ ...JSON.parse(text), id: 77 });
    },
  };
  const scope: RequestScope = {
    id: 1,
    method: "tools/call",
    params: {},
    text: "",
    signal: signal ?? new AbortController().signal,
    send(text) {
      const message = JSON.parse(text);
      sent.push(message);
      if (message.id === 77 && answer !== undefined) {
        onAnswer(JSON.stringify({ jsonrpc: "2.0", id: 0, ...Object(answer) }));
      }
    },
  };
  return { port, scope, sent };
}

const PARAMS = { messages: [], maxTokens: 5 };

Deno.test("callBuiltin() lets a tool sample only where the client offers it", async () => {
  const tool = builtin({
    name: "write",
    title: "Write",
    description: "Writes",
    input: z.strictObject({}),
    async run(_, { sample }) {
      return { text: sample ? JSON.stringify(await sample(PARAMS)) : "cannot", data: {} };
    },
  });
  const textFor = async (capabilities: Record<string, unknown>) => {
    const { port, scope } = client(capabilities, { result: { model: "m" } });
    const done = z.object({ content: z.tuple([z.object({ text: z.string() })]) })
      .parse(await callBuiltin(tool, scope, port));
    return done.content[0].text;
  };
  assert.equal(await textFor({}), "cannot");
  assert.equal(await textFor({ elicitation: {} }), "cannot");
  assert.equal(await textFor({ sampling: {} }), '{"model":"m"}');
});

Deno.test("sample() sends the request under the session's id and gives its result", async () => {
  const result = { role: "assistant", content: { type: "text", text: "hi" }, model: "m" };
  const { port, scope, sent } = client({ sampling: {} }, { result });
  assert.deepEqual(await sample(scope, port, PARAMS), result);
  assert.deepEqual(sent, [
    { jsonrpc: "2.0", id: 77, method: "sampling/createMessage", params: PARAMS },
  ]);
});

Deno.test("sample() throws CANNOT_GENERATE with the client's words where it refuses", async () => {
  const answers: [unknown, RegExp][] = [
    [{ error: { code: -1, message: "User rejected" } }, /did not answer: User rejected$/],
    [{ error: { code: -1 } }, /it gave no reason$/],
    [{ result: null }, /it gave no reason$/],
  ];
  for (const [answer, words] of answers) {
    const { port, scope } = client({ sampling: {} }, answer);
    const error = await failure(sample(scope, port, PARAMS), "CANNOT_GENERATE");
    assert.match(error.message, words);
    assert.match(error.toBody().recoverySteps.join(), /propose_candidate/);
  }
});

Deno.test("sample() gives up after its limit, and tells the client so", async () => {
  const { port, scope, sent } = client({ sampling: {} });
  const error = await failure(sample(scope, port, PARAMS, 1), "CANNOT_GENERATE");
  assert.match(error.message, /did not answer within/);
  assert.equal(sent[1]?.method, "notifications/cancelled");
  assert.equal(z.object({ requestId: z.number() }).parse(sent[1]?.params).requestId, 77);
});

Deno.test("sample() ends when the call is cancelled, before or while the client thinks", async () => {
  const before = client({ sampling: {} }, undefined, AbortSignal.abort("gone"));
  await assert.rejects(sample(before.scope, before.port, PARAMS), (reason) => reason === "gone");
  assert.deepEqual(before.sent, []);
  const controller = new AbortController();
  const during = client({ sampling: {} }, undefined, controller.signal);
  const asked = sample(during.scope, during.port, PARAMS);
  controller.abort("gone");
  await assert.rejects(asked, (reason) => reason === "gone");
  assert.deepEqual(during.sent.map(({ method }) => method), [
    "sampling/createMessage",
    "notifications/cancelled",
  ]);
  assert.equal(z.object({ requestId: z.number() }).parse(during.sent[1]?.params).requestId, 77);
});
