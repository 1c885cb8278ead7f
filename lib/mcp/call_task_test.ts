import assert from "node:assert/strict";
import pino from "pino";
import { TimeoutQueue } from "../core/async.ts";
import { memberText, requestText } from "../core/rpc.ts";
import { FakeServer, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { CallTask } from "./call_task.ts";
import { handleMcp } from "./endpoint.ts";
import type { EndpointHost } from "./endpoint_host.ts";
import { EnvelopeReader } from "./envelope.ts";
import { HeldCalls } from "./held_calls.ts";
import { Relay } from "./relay.ts";
import { Sessions } from "./session.ts";
import type { View } from "./view.ts";

const KEY = "io.modelcontextprotocol";
const CAPABILITIES = { elicitation: { form: {} }, extensions: { [`${KEY}/tasks`]: {} } };

interface Options {
  taskAfterMs?: number;
  taskMs?: number;
  capabilities?: Record<string, unknown>;
}

/** An older server whose calls are answered by hand, behind an endpoint where slow calls become tasks. */
async function openSlow({ taskAfterMs = 1, taskMs, capabilities = CAPABILITIES }: Options = {}) {
  await using stack = new AsyncDisposableStack();
  const fake = new FakeServer();
  const server = stack.use(await startManaged(fake));
  const called: { token: unknown; answer: PromiseWithResolvers<unknown> }[] = [];
  fake.handlers.set("tools/call", ({ _meta }) => {
    const { progressToken: token } = (_meta ?? {}) as Record<string, unknown>;
    const answer = Promise.withResolvers<unknown>();
    called.push({ token, answer });
    return answer.promise;
  });
  const view: View = {
    introduce: () => Promise.resolve({ capabilities: { tools: {} }, serverInfo: {} }),
    open(client) {
      const relay = new Relay(server, client);
      return {
        request: async (request) => ({
          text: await relay.call(request, memberText(request.text, "params")),
        }),
        notify() {},
        [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
      };
    },
  };
  const records = {
    save: () => Promise.resolve(),
    find: () => Promise.resolve(undefined),
    delete: () => Promise.resolve(),
  };
  const sessions = stack.use(new Sessions({ records, onWarning: assert.fail }));
  const host: EndpointHost = {
    sessions,
    held: stack.use(new HeldCalls({ gatewayId: "g", taskAfterMs, taskMs })),
    envelopes: new EnvelopeReader(),
    maxBody: 100_000,
    log: pino({ enabled: false }),
    patience: stack.use(new TimeoutQueue(50)),
    onAnswered() {},
    switchProject: (principal) => principal,
  };
  async function send(method: string, params: Record<string, unknown>, principal = "token:ann") {
    const _meta = {
      [`${KEY}/protocolVersion`]: "2026-07-28",
      [`${KEY}/clientInfo`]: { name: "c", version: "1" },
      [`${KEY}/clientCapabilities`]: capabilities,
      progressToken: "p",
    };
    const named = params.name ?? params.taskId;
    const headers = new Headers({
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof named === "string" ? { "mcp-name": named } : {}),
    });
    const body = requestText(1, method, JSON.stringify({ ...params, _meta }));
    const request = new Request("http://localhost/mcp", { method: "POST", headers, body });
    const response = await handleMcp(host, { endpoint: { key: "mcp?", view }, request, principal });
    const text = await response.text();
    return JSON.parse(text.match(/(?<=^data: ).*$/gm)?.at(-1) ?? text);
  }
  const parts = stack.move();
  return {
    fake,
    called,
    send,
    sessions,
    held: host.held,
    get: async (taskId: string) => (await send("tasks/get", { taskId })).result,
    link: () => fake.links.at(-1)!,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const DONE = { content: [{ type: "text", text: "done" }] };

Deno.test("a slow call of a client with tasks continues as a task, and is made once", async () => {
  await using slow = await openSlow();
  const { result: discovered } = await slow.send("server/discover", {});
  assert.deepEqual(discovered.capabilities.extensions, { [`${KEY}/tasks`]: {} });
  const { result: task } = await slow.send("tools/call", { name: "work" });
  assert.deepEqual([task.resultType, task.status], ["task", "working"]);
  assert.ok(Number.isInteger(task.ttlMs) && task.ttlMs > 0 && task.pollIntervalMs > 0);
  const progress = { progressToken: slow.called[0]!.token, progress: 1, total: 2, message: "Half" };
  slow.link().tell("notifications/progress", progress);
  await until(async () => (await slow.get(task.taskId)).statusMessage === "Half");
  const working = await slow.get(task.taskId);
  assert.deepEqual([working.resultType, working.status], ["complete", "working"]);
  assert.ok(!("result" in working));
  slow.called[0]!.answer.resolve(DONE);
  await until(async () => (await slow.get(task.taskId)).status === "completed");
  // A result can be fetched again.
  const { result, taskId } = await slow.get(task.taskId);
  assert.deepEqual([result.content, taskId], [DONE.content, task.taskId]);
  const { result: late } = await slow.send("tasks/cancel", { taskId });
  assert.deepEqual(late, { resultType: "complete" });
  assert.equal((await slow.get(taskId)).status, "completed");
  assert.equal(slow.called.length, 1);
});

Deno.test("a task is only its owner's, and no request state", async () => {
  await using slow = await openSlow();
  const { result: { taskId } } = await slow.send("tools/call", { name: "work" });
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const { error } = await slow.send(method, { taskId }, "token:bob");
    assert.deepEqual([error.code, /Unknown task/.test(error.message)], [-32602, true]);
  }
  const retried = await slow.send("tools/call", { name: "work", requestState: taskId });
  assert.match(retried.error.message, /Unknown request state/);
  const guessed = await slow.send("tasks/get", { taskId: `${taskId}x` });
  assert.match(guessed.error.message, /Unknown task: it has expired/);
  const earlier = taskId.replace(/(?<=^quartermaster\.g\.)[^.]+/, crypto.randomUUID());
  const stopped = await slow.send("tasks/get", { taskId: earlier });
  assert.match(stopped.error.message, /the gateway that ran it has stopped/);
  assert.equal((await slow.get(taskId)).status, "working");
  assert.equal(slow.called.length, 1);
});

Deno.test("a question during a task is answered with tasks/update, one by one", async () => {
  await using slow = await openSlow();
  const { result: { taskId } } = await slow.send("tools/call", { name: "work" });
  for (const id of ["q1", "q2"]) slow.link().ask(id, "elicitation/create");
  const asked = () => slow.get(taskId).then(({ inputRequests = {} }) => Object.keys(inputRequests));
  await until(async () => (await asked()).length === 2);
  const { status, inputRequests } = await slow.get(taskId);
  assert.equal(status, "input_required");
  const [first = "", second = ""] = Object.keys(inputRequests);
  assert.deepEqual(inputRequests[first], { method: "elicitation/create" });
  const answer = (id: string) => ({ [id]: { action: "accept", content: { answer: id } } });
  const update = { taskId, inputResponses: { ...answer(first), unknown: {} } };
  assert.deepEqual((await slow.send("tasks/update", update)).result, { resultType: "complete" });
  assert.deepEqual(await asked(), [second]);
  await slow.send("tasks/update", { taskId, inputResponses: answer(second) });
  assert.equal((await slow.get(taskId)).status, "working");
  const heard = (id: string) => slow.link().heard.some((text) => text.includes(`"id":"${id}"`));
  await until(() => heard("q1") && heard("q2"));
});

Deno.test("tasks/cancel cancels the server's call; a call that fails completes with the error", async () => {
  await using slow = await openSlow();
  const { result: task } = await slow.send("tools/call", { name: "work" });
  await slow.send("tasks/cancel", { taskId: task.taskId });
  const canceled = await slow.get(task.taskId);
  assert.deepEqual([canceled.status, canceled.statusMessage], [
    "cancelled",
    "Canceled by the client",
  ]);
  await until(() => slow.link().heard.some((text) => text.includes("notifications/cancelled")));
  const { result: { taskId } } = await slow.send("tools/call", { name: "work" });
  slow.called[1]!.answer.reject(new Error("broken"));
  await until(async () => (await slow.get(taskId)).status === "completed");
  assert.equal((await slow.get(taskId)).result.isError, true);
});

Deno.test("CallTask reports a protocol error as a failed task", () => {
  const error = { code: -32603, message: "broken", data: { why: 1 } };
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, error });
  const task = new CallTask("id", 1_000);
  const failed = JSON.parse(task.details({ questions: [], answer, canceled: undefined }));
  assert.deepEqual([failed.status, failed.error, failed.result], ["failed", error, undefined]);
});

Deno.test("a task that nobody asks about ends with its call", async () => {
  await using slow = await openSlow({ taskMs: 20 });
  const { result: { taskId } } = await slow.send("tools/call", { name: "work" });
  await until(() => slow.link().heard.some((text) => text.includes("notifications/cancelled")));
  assert.match((await slow.send("tasks/get", { taskId })).error.message, /it has expired/);
  assert.equal(slow.sessions.list()[0]!.inFlight.size, 0);
});

Deno.test("a task lives as long as its client listens for its answer", async () => {
  await using slow = await openSlow({ taskMs: 20 });
  const start = async () => (await slow.send("tools/call", { name: "work" })).result.taskId;
  const canceled = () =>
    slow.link().heard.filter((text) => text.includes("notifications/cancelled")).length;
  const taskId = await start();
  const source = slow.held.taskSource({ taskId, endpoint: "mcp?", principal: "token:ann" });
  const stop = new AbortController();
  const states: Promise<string | undefined>[] = [];
  const following = source.follow(() => void states.push(source.state()), stop.signal);
  await until(() => states.length === 1);
  const foreign = slow.held.taskSource({ taskId, endpoint: "mcp?", principal: "token:bob" });
  await assert.rejects(foreign.follow(assert.fail, stop.signal), /Unknown task/);
  for (let others = 1; others <= 2; others++) {
    await start();
    await until(() => canceled() === others);
  }
  assert.match(await source.state() ?? "", /"status":"working"/);
  slow.called[0]!.answer.resolve(DONE);
  await until(() => states.length === 2);
  assert.match(await states[1] ?? "", /"status":"completed"/);
  for (let others = 3; others <= 4; others++) {
    await start();
    await until(() => canceled() === others);
  }
  await assert.rejects(source.state(), /Unknown task/);
  stop.abort();
  await following;
});

Deno.test("clients without tasks, and gateways with tasks off, wait for the answer", async () => {
  for (const off of [{ taskAfterMs: 0 }, { capabilities: { elicitation: { form: {} } } }]) {
    await using slow = await openSlow(off);
    const isOff = "taskAfterMs" in off;
    const { result: { capabilities } } = await slow.send("server/discover", {});
    assert.equal(capabilities.extensions === undefined, isOff);
    const called = slow.send("tools/call", { name: "work" });
    await until(() => slow.called.length === 1);
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
    slow.called[0]!.answer.resolve(DONE);
    assert.deepEqual((await called).result, { resultType: "complete", ...DONE });
  }
});
