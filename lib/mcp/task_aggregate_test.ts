import assert from "node:assert/strict";
import type { McpRequest } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { callAsTask, withOwnTasks, withRoutedTasks } from "./task_aggregate.ts";

const text = (message: object) => JSON.stringify({ jsonrpc: "2.0", ...message });
const related = (taskId: string) => ({ "io.modelcontextprotocol/related-task": { taskId } });

Deno.test("withRoutedTasks() changes the ids of tasks, and nothing else that is called taskId", () => {
  const messages: [method: string, message: (id: string) => object][] = [
    ["tools/call", (id) => ({ id: 1, result: { task: { taskId: id, ttl: 1 } } })],
    ["tools/call", (id) => ({ id: 1, result: { resultType: "task", taskId: id } })],
    ["tools/call", (id) => ({ id: 1, result: { content: [{ taskId: "7" }], _meta: related(id) } })],
    ["tasks/get", (id) => ({ id: 1, result: { taskId: id, result: { taskId: "7" } } })],
    ["tasks/list", (id) => ({ id: 1, result: { tasks: [{ taskId: id }, { taskId: id }] } })],
    ["", (id) => ({ method: "notifications/tasks/status", params: { taskId: id } })],
    ["", (id) => ({ method: "notifications/tasks", params: { taskId: id } })],
    ["", (id) => ({ id: 1, method: "elicitation/create", params: { _meta: related(id) } })],
  ];
  for (const [method, message] of messages) {
    assert.equal(withRoutedTasks("git", text(message("7")), method), text(message("git:7")));
  }
  for (
    const data of [
      text({ id: 1, result: { taskId: "7", structuredContent: { taskId: "7" } } }),
      text({ id: 1, method: "tasks/get", params: { taskId: "the client's own" } }),
      text({ id: 1, error: { code: 1, message: '"taskId"' } }),
    ]
  ) assert.equal(withRoutedTasks("git", data, "tools/call"), data);
});

Deno.test("withOwnTasks() gives a server its own ids back", () => {
  const answer = (id: string) => text({ id: 1, result: { action: "accept", _meta: related(id) } });
  assert.equal(withOwnTasks("git", answer("git:7:a")), answer("7:a"));
  assert.equal(withOwnTasks("git", answer("other:7")), answer("other:7"));
});

Deno.test("callAsTask() notes what the server says about its task, and passes everything else on", async () => {
  const noted: string[] = [];
  const sent: string[] = [];
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params: { name: "slow" },
    text: "",
    signal: new AbortController().signal,
    send: (text) => sent.push(text),
    deferral: { isDeferred: true, forbid: assert.fail, note: (message) => noted.push(message) },
  };
  const status = (taskId: string, statusMessage?: string) =>
    text({ method: "notifications/tasks/status", params: { taskId, statusMessage } });
  const progress = text({ method: "notifications/progress", params: { progress: 1 } });
  await callAsTask(request, '{"name":"slow"}', ({ method, send }) => {
    if (method === "tools/call") {
      return Promise.resolve(text({ id: 1, result: { task: { taskId: "7" } } }));
    }
    for (const out of [status("7", "a"), status("s:7", "b"), status("17", "c"), status("7")]) {
      send(out);
    }
    send(progress);
    return Promise.resolve("{}");
  });
  assert.deepEqual([noted, sent], [["a", "b"], [progress]]);
});

Deno.test("callAsTask() waits for the result of a task, and cancels one that takes too long", async () => {
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params: { name: "slow" },
    text: "",
    signal: new AbortController().signal,
    send: () => {},
  };
  const created = text({ id: 1, result: { task: { taskId: "7" } } });
  const asked: [string, unknown][] = [];
  let result = () => Promise.resolve("the result");
  const call = ({ method }: McpRequest, params: string) => {
    asked.push([method, JSON.parse(params)]);
    if (method === "tools/call") return Promise.resolve(created);
    return method === "tasks/result" ? result() : Promise.resolve("{}");
  };
  assert.equal(await callAsTask(request, '{"name":"slow"}', call), "the result");
  assert.deepEqual(asked, [
    ["tools/call", { name: "slow", task: {} }],
    ["tasks/result", { taskId: "7" }],
  ]);
  result = () => Promise.reject(new GatewayError("TIMEOUT"));
  await assert.rejects(callAsTask(request, '{"name":"slow"}', call));
  assert.deepEqual(asked.at(-1), ["tasks/cancel", { taskId: "7" }]);
});
