import assert from "node:assert/strict";
import * as z from "zod";
import { EVERYONE } from "../core/access.ts";
import { NameTables } from "../catalog/name_table.ts";
import { Builtins } from "../catalog/resolve.ts";
import { builtin, callBuiltin } from "./builtin_tool.ts";
import { elicitConsent, sample } from "./client_questions.ts";
import { textOf } from "./testing/text_of.ts";
import { CombinedView } from "./combined_view.ts";
import { failure } from "../storage/testing/failures.ts";
import type { Client, McpRequest } from "../core/client.ts";

/** Calls a tool that asks for consent, as a client with these capabilities. */
async function callAs(
  capabilities: Record<string, unknown>,
  answer: unknown,
  signal = new AbortController().signal,
): Promise<string> {
  const tools = [builtin({
    name: "dare",
    title: "Dare",
    description: "Asks",
    input: z.strictObject({}),
    async run(_, { confirm }) {
      const said = confirm ? `asked: ${await confirm("Really?")}` : "cannot ask";
      return { text: said, data: {} };
    },
  })];
  const view = new CombinedView({
    instructions: "",
    names: new NameTables([], 60),
    listed: tools,
    builtins: new Builtins(tools),
  });
  const asked: ((text: string) => void)[] = [];
  const session = view.open({
    profile: { protocolVersion: "2025-11-25", capabilities },
    principal: EVERYONE,
    push: () => {},
    ask: (text, _, onAnswer) => (asked.push(onAnswer), text),
  });
  const answered = await session.request({
    id: 1,
    method: "tools/call",
    params: { name: "dare" },
    text: "",
    signal,
    send: () => asked[0]?.(JSON.stringify({ jsonrpc: "2.0", id: 0, ...Object(answer) })),
  });
  return JSON.parse(textOf(answered)).result.content[0].text;
}

const YES = { result: { action: "accept", content: { agree: true } } };

Deno.test("callBuiltin() asks only clients that can show a form", async () => {
  assert.equal(await callAs({}, YES), "cannot ask");
  assert.equal(await callAs({ elicitation: { url: {} } }, YES), "cannot ask");
  for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) {
    assert.equal(await callAs({ elicitation }, YES), "asked: true");
  }
});

Deno.test("callBuiltin() asks nobody for a call that was cancelled", async () => {
  assert.equal(await callAs({ elicitation: {} }, YES, AbortSignal.abort()), "asked: false");
});

Deno.test("callBuiltin() takes anything but a clear yes for a no", async () => {
  const answers = [
    { result: { action: "accept" } },
    { result: { action: "accept", content: {} } },
    { result: { action: "accept", content: { agree: "true" } } },
    { result: { action: "decline", content: { agree: true } } },
    { result: { action: "cancel" } },
    { result: null },
    { error: { code: -32601, message: "Method not found" } },
  ];
  for (const answer of answers) {
    assert.equal(await callAs({ elicitation: {} }, answer), "asked: false");
  }
});

/** A client that answers with this, or never; `sent` is what reached it. */
function openClient(capabilities: Record<string, unknown>, answer?: unknown, signal?: AbortSignal) {
  const sent: Record<string, unknown>[] = [];
  let onAnswer = (_: string) => {};
  const client: Client = {
    profile: { protocolVersion: "2025-11-25", capabilities },
    principal: EVERYONE,
    push: (text) => void sent.push(JSON.parse(text)),
    ask: (text, _, callback) => {
      onAnswer = callback;
      return JSON.stringify({ ...JSON.parse(text), id: 77 });
    },
  };
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params: {},
    text: "",
    signal: signal ?? new AbortController().signal,
    send(text) {
      // As endpoints do.
      if (request.signal.aborted) return;
      const message = JSON.parse(text);
      sent.push(message);
      if (message.id === 77 && answer !== undefined) {
        onAnswer(JSON.stringify({ jsonrpc: "2.0", id: 0, ...Object(answer) }));
      }
    },
  };
  return { client, request, sent };
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
    const { client, request } = openClient(capabilities, { result: { model: "m" } });
    const done = z.object({ content: z.tuple([z.object({ text: z.string() })]) })
      .parse(await callBuiltin(tool, request, client));
    return done.content[0].text;
  };
  assert.equal(await textFor({}), "cannot");
  assert.equal(await textFor({ elicitation: {} }), "cannot");
  assert.equal(await textFor({ sampling: {} }), '{"model":"m"}');
});

Deno.test("sample() sends the request under the session's id and gives its result", async () => {
  const result = { role: "assistant", content: { type: "text", text: "hi" }, model: "m" };
  const { client, request, sent } = openClient({ sampling: {} }, { result });
  assert.deepEqual(await sample(request, client, PARAMS), result);
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
    const { client, request } = openClient({ sampling: {} }, answer);
    const error = await failure(sample(request, client, PARAMS), "CANNOT_GENERATE");
    assert.match(error.message, words);
    assert.match(error.toBody().recoverySteps.join(), /propose_candidate/);
  }
});

Deno.test("sample() gives up after its limit, and tells the client so", async () => {
  const { client, request, sent } = openClient({ sampling: {} });
  const error = await failure(sample(request, client, PARAMS, 1), "CANNOT_GENERATE");
  assert.match(error.message, /did not answer within/);
  assert.equal(sent[1]?.method, "notifications/cancelled");
  assert.equal(z.object({ requestId: z.number() }).parse(sent[1]?.params).requestId, 77);
});

Deno.test("sample() ends when the call is cancelled, before or while the client thinks", async () => {
  const before = openClient({ sampling: {} }, undefined, AbortSignal.abort("gone"));
  await assert.rejects(
    sample(before.request, before.client, PARAMS),
    (reason) => reason === "gone",
  );
  assert.deepEqual(before.sent, []);
  const controller = new AbortController();
  const during = openClient({ sampling: {} }, undefined, controller.signal);
  const asked = sample(during.request, during.client, PARAMS);
  controller.abort("gone");
  await assert.rejects(asked, (reason) => reason === "gone");
  assert.deepEqual(during.sent.map(({ method }) => method), [
    "sampling/createMessage",
    "notifications/cancelled",
  ]);
  assert.equal(z.object({ requestId: z.number() }).parse(during.sent[1]?.params).requestId, 77);
});

Deno.test("elicitConsent() distinguishes no answer from a refusal, and withdraws its question", async () => {
  const { client, request, sent } = openClient({ elicitation: {} });
  assert.equal(await elicitConsent(request, client, "Really?", 1), "expired");
  assert.deepEqual(sent.map(({ method }) => method), [
    "elicitation/create",
    "notifications/cancelled",
  ]);
  assert.equal(z.object({ requestId: z.number() }).parse(sent[1]?.params).requestId, 77);
  const refusing = openClient({ elicitation: {} }, { result: { action: "decline" } });
  assert.equal(await elicitConsent(refusing.request, refusing.client, "Really?"), "denied");
});
