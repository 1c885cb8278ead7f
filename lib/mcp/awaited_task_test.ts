import assert from "node:assert/strict";
import type { Client, McpRequest } from "../core/client.ts";
import { errorText, notificationText, resultText } from "../core/rpc.ts";
import type { Call } from "../servers/connection.ts";
import { completeAnswer } from "./awaited_task.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const REQUIRED = errorText(1, -32021, "Only as a task", {
  requiredCapabilities: { extensions: { [TASKS]: {} } },
});

function task(status: string, more: object = {}, type = "complete"): string {
  const state = { taskId: "t", status, lastUpdatedAt: status, pollIntervalMs: 1 };
  return resultText(1, JSON.stringify({ resultType: type, ...state, ...more }));
}

interface Sent {
  method: string;
  params: Record<string, unknown>;
  extensions: unknown;
}

/** A call that a server answers, and what it says when it is asked about the task. */
function run(
  [first = "", ...answers]: string[],
  { timeoutMs = 60_000, maxTimeoutMs, answer = { action: "accept", content: { a: 1 } } }: {
    timeoutMs?: number;
    maxTimeoutMs?: number;
    answer?: object;
  } = {},
) {
  const sent: Sent[] = [];
  const heard: string[] = [];
  const cancel = new AbortController();
  const client: Client = {
    profile: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } },
    principal: "",
    push() {},
    ask(text, id, onAnswer) {
      queueMicrotask(() => onAnswer(resultText(id, JSON.stringify(answer))));
      return text;
    },
  };
  const params = { name: "work", _meta: { progressToken: "p" } };
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params,
    text,
    signal: cancel.signal,
    send: (text) => heard.push(text),
  };
  const result = completeAnswer({ id: 1, text: first }, {
    serverName: "s",
    request,
    client,
    params: JSON.stringify(params),
    limits: { timeoutMs, maxTimeoutMs },
    screenNotification: (_, text) => text.includes("private") ? undefined : text,
    repeat(params: string, { method = "tools/call", client }: Partial<Call> = {}) {
      const { extensions } = client?.capabilities ?? {};
      sent.push({ method, params: JSON.parse(params), extensions });
      const isAbout = method === "tasks/cancel" || method === "tasks/update";
      const next = isAbout
        ? resultText(1, "{}")
        : answers.length > 1
        ? answers.shift()
        : answers[0];
      return Promise.resolve({ id: 1, text: next ?? "" });
    },
  }).then(({ text }) => JSON.parse(text));
  return { result, sent, heard, cancel };
}

const methods = (sent: Sent[]) => sent.map(({ method }) => method);

Deno.test("completeAnswer() makes a call again as a task, waits for it, and screens its progress", async () => {
  const content = [{ type: "text", text: "done" }];
  const { result, sent, heard } = run([
    REQUIRED,
    task("working", {}, "task"),
    task("working", { statusMessage: "A private note" }),
    task("working", { statusMessage: "Half" }),
    task("working", { statusMessage: "Half" }),
    task("completed", { result: { content } }),
  ]);
  assert.deepEqual((await result).result, { content });
  assert.deepEqual(methods(sent), ["tools/call", ...Array(4).fill("tasks/get")]);
  assert.ok(sent.every(({ extensions }) => JSON.stringify(extensions) === `{"${TASKS}":{}}`));
  assert.deepEqual(sent[1]!.params, { taskId: "t" });
  const progress = '{"progressToken":"p","progress":2,"message":"Half"}';
  assert.deepEqual(heard, [notificationText("notifications/progress", progress)]);
});

Deno.test("completeAnswer() asks the client what a task needs to know, once", async () => {
  const inputRequests = {
    q: { method: "elicitation/create", params: { message: "?", requestedSchema: {} } },
  };
  const { result, sent } = run([
    task("working", {}, "task"),
    task("input_required", { inputRequests }),
    task("input_required", { inputRequests }),
    task("failed", { error: { code: -5, message: "no" } }),
  ]);
  assert.deepEqual((await result).error, { code: -5, message: "no" });
  assert.deepEqual(methods(sent), [
    "tasks/get",
    "tasks/update",
    "tasks/get",
    "tasks/get",
  ]);
  const inputResponses = { q: { action: "accept", content: { a: 1 } } };
  assert.deepEqual(sent[1]!.params, { taskId: "t", inputResponses });
});

Deno.test("completeAnswer() cancels a task that its caller no longer waits for, or that takes too long", async () => {
  const endless = [task("working", {}, "task"), task("working")];
  const left = run(endless);
  left.cancel.abort();
  await assert.rejects(left.result, { name: "AbortError" });
  assert.equal(left.sent.at(-1)!.method, "tasks/cancel");
  const late = run(endless, { timeoutMs: 0 });
  await assert.rejects(late.result, /Server "s" did not finish its task within/);
  assert.equal(late.sent.at(-1)!.method, "tasks/cancel");
  const busy = run(endless, { maxTimeoutMs: 0 });
  await assert.rejects(busy.result, /Server "s" did not finish its task within .* in all/);
  assert.equal(busy.sent.at(-1)!.method, "tasks/cancel");
  const over = run([task("working", {}, "task"), task("cancelled")]);
  assert.match((await over.result).error.message, /Server "s" canceled/);
});

Deno.test("completeAnswer() leaves all other answers as they came", async () => {
  for (
    const text of [
      resultText(1, '{"content":[],"taskId":"t"}'),
      errorText(1, -32021, "Other", { requiredCapabilities: { sampling: {} } }),
    ]
  ) {
    const { result, sent } = run([text]);
    assert.deepEqual(await result, JSON.parse(text));
    assert.deepEqual(sent, []);
  }
});
