import assert from "node:assert/strict";
import type { Client, McpRequest } from "../core/client.ts";
import { putQuestion } from "./input_rounds.ts";

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
