import assert from "node:assert/strict";
import type { Client, McpRequest } from "../core/client.ts";
import { completeUrls, putQuestion } from "./input_rounds.ts";

/** Withdraws a question, and says which way it was withdrawn. */
async function withdraw(isRequestOver: boolean): Promise<string[]> {
  const [sent, pushed]: [string[], string[]] = [[], []];
  const [call, limit] = [new AbortController(), new AbortController()];
  const client: Client = {
    profile: { protocolVersion: "2025-11-25", capabilities: {} },
    principal: "",
    endpoint: "mcp?",
    from: undefined,
    sent: { baseline: 0, listed: 0, answered: 0 },
    push: (text) => pushed.push(text),
    ask: (text) => text,
  };
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params: {},
    text: "{}",
    signal: call.signal,
    send: (text) => sent.push(text),
  };
  const question = { key: "q", method: "roots/list", params: undefined };
  const answered = putQuestion(question, { request, client }, limit.signal);
  if (isRequestOver) call.abort();
  limit.abort();
  await assert.rejects(answered);
  const isWithdrawal = (text: string) => text.includes("notifications/cancelled");
  return [
    ...sent.filter(isWithdrawal).map(() => "sent"),
    ...pushed.filter(isWithdrawal).map(() => "pushed"),
  ];
}

Deno.test("putQuestion() withdraws its question with the request, as long as that lasts", async () => {
  assert.deepEqual(await withdraw(false), ["sent"]);
  assert.deepEqual(await withdraw(true), ["pushed"]);
});

/** A call that fails until the user has opened a page, for a client that answers with `action`. */
async function openPage(action: string, elicitation: object = { url: {} }, fails = 1) {
  const error = {
    code: -32042,
    message: "Log in first",
    data: {
      elicitations: [{ mode: "url", elicitationId: "1", url: "https://a.example/", message: "m" }],
    },
  };
  const failed = { id: 1, text: JSON.stringify({ jsonrpc: "2.0", id: 1, error }) };
  const asked: string[] = [];
  let [calls, answer] = [1, (_: string) => {}];
  const client: Client = {
    profile: { protocolVersion: "2026-07-28", capabilities: { elicitation } },
    principal: "",
    push() {},
    ask(text, _, onAnswer) {
      answer = onAnswer;
      return text;
    },
  };
  const done = await completeUrls(failed, {
    serverName: "s",
    client,
    params: '{"name":"t"}',
    request: {
      id: 1,
      method: "tools/call",
      params: {},
      text: "{}",
      signal: new AbortController().signal,
      send(text) {
        asked.push(JSON.parse(text).params.url);
        answer(JSON.stringify({ jsonrpc: "2.0", id: "0", result: { action } }));
      },
    },
    repeat(params) {
      assert.equal(params, '{"name":"t"}');
      return Promise.resolve(calls++ < fails ? failed : { id: 2, text: '{"id":2,"result":{}}' });
    },
  });
  return { asked, calls, ...JSON.parse(done.text) };
}

Deno.test("completeUrls() repeats a call once the user has opened the required pages", async () => {
  const accepted = await openPage("accept");
  assert.deepEqual([accepted.asked, accepted.calls], [["https://a.example/"], 2]);
  assert.deepEqual(accepted.result, {});
  const declined = await openPage("decline");
  assert.deepEqual([declined.calls, declined.error.code], [1, -32042]);
  const unable = await openPage("accept", { form: {} });
  assert.deepEqual([unable.asked, unable.calls, unable.error.code], [[], 1, -32021]);
  const endless = await openPage("accept", { url: {} }, Infinity);
  assert.deepEqual([endless.asked.length, endless.error.code], [10, -32042]);
});
