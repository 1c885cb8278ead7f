import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/client"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as z from "zod";
import { FaultyGateway } from "./faults.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";
import { keepingFetch, StatelessClient } from "./stateless_client.ts";

const REVISION = "2026-07-28";
const KEY = "io.modelcontextprotocol";
const TASKS = `${KEY}/tasks`;

const Result = z.looseObject({
  resultType: z.string().optional(),
  taskId: z.string().default(""),
  status: z.string().optional(),
  statusMessage: z.string().optional(),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).default({}),
  content: z.array(z.looseObject({ text: z.string() })).optional(),
  result: z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) }).optional(),
});
const Answer = z.looseObject({
  id: z.number().optional(),
  result: Result.optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

const Acknowledged = z.looseObject({
  notifications: z.strictObject({ taskIds: z.array(z.string()) }),
});

/** A client with tasks over the SDK's transport: the SDK's client refuses results that are tasks. */
class TaskClient implements AsyncDisposable {
  readonly #transport: StreamableHTTPClientTransport;
  readonly #waiting = new Map<number, (answer: z.infer<typeof Answer>) => void>();
  /** The states of tasks that it was told on `subscriptions/listen`. */
  readonly told: z.infer<typeof Result>[] = [];
  #acknowledged: ((taskIds: string[]) => void) | undefined;
  #requests = 0;

  private constructor(transport: StreamableHTTPClientTransport) {
    this.#transport = transport;
  }

  static async open(url: string, path: string, token?: string): Promise<TaskClient> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(path, url), {
      requestInit: { headers },
      fetch: keepingFetch(),
    });
    const client = new TaskClient(transport);
    transport.onmessage = (message) => {
      if ("method" in message) return client.#hear(message);
      const answer = Answer.parse(message);
      if (answer.id !== undefined) client.#waiting.get(answer.id)?.(answer);
    };
    await transport.start();
    transport.setProtocolVersion(REVISION);
    return client;
  }

  async answer(method: string, params: Record<string, unknown>) {
    const { promise, resolve } = Promise.withResolvers<z.infer<typeof Answer>>();
    this.#waiting.set(this.#requests + 1, resolve);
    await this.#send(method, params);
    return await promise;
  }

  /** Listens for changes of tasks; the ids of those it will hear of. */
  async listen(...taskIds: string[]): Promise<string[]> {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    this.#acknowledged = resolve;
    await this.#send("subscriptions/listen", { notifications: { taskIds } });
    return await promise;
  }

  #hear({ method, params }: { method: string; params?: unknown }): void {
    if (method === "notifications/tasks") this.told.push(Result.parse(params));
    if (method !== "notifications/subscriptions/acknowledged") return;
    const { notifications } = Acknowledged.parse(params);
    this.#acknowledged?.(notifications.taskIds);
  }

  async #send(method: string, params: Record<string, unknown>): Promise<void> {
    const id = ++this.#requests;
    const _meta = {
      [`${KEY}/protocolVersion`]: REVISION,
      [`${KEY}/clientInfo`]: { name: "tasks", version: "1" },
      [`${KEY}/clientCapabilities`]: { elicitation: { form: {} }, extensions: { [TASKS]: {} } },
      progressToken: id,
    };
    await this.#transport.send({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
  }

  /** Waits until it was told that a task has a status, and returns what it was told. */
  hears(taskId: string, wanted: string) {
    return until(() => this.told.find((told) => told.taskId === taskId && told.status === wanted));
  }

  async request(method: string, params: Record<string, unknown>) {
    const answer = await this.answer(method, params);
    assert.ok(answer.result, JSON.stringify(answer));
    return answer.result;
  }

  call(name: string, args: Record<string, unknown>) {
    return this.request("tools/call", { name, arguments: args });
  }

  /** Waits until the task has a status, and returns it. */
  reaches(taskId: string, wanted: string) {
    return until(async () => {
      const task = await this.request("tasks/get", { taskId });
      return task.status === wanted ? task : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
  }
}

const EVERYTHING = "trigger-long-running-operation";

Deno.test("a slow call of an older program continues as a task, at every endpoint", async (t) => {
  const servers = {
    every: { ...npmServer("everything") },
    chaos: fixtureCommand("chaos_server"),
    own: fixtureCommand("conformance_stateless", ["--stdio"]),
  };
  await using gateway = await FaultyGateway.start(servers, { flags: ["--task-after", "300ms"] });
  for (const name of Object.keys(servers)) await gateway.reaches(name, "ready");
  const at = (path: string) => TaskClient.open(gateway.url, path);

  for (
    const [path, name] of [
      ["/servers/every/mcp?names=original", EVERYTHING],
      ["/mcp", "every_trigger_long_running_operation"],
    ] as const
  ) {
    await t.step(`progress and the result, at ${path}`, async () => {
      await using client = await at(path);
      const task = await client.call(name, { duration: 2, steps: 4 });
      assert.deepEqual([task.resultType, task.status], ["task", "working"]);
      await until(async () => {
        const { status, statusMessage } = await client.request("tasks/get", {
          taskId: task.taskId,
        });
        assert.notEqual(status, "failed");
        return status === "completed" || /\d of 4/.test(statusMessage ?? "") || undefined;
      });
      const { result } = await client.reaches(task.taskId, "completed");
      assert.match(result?.content[0]?.text ?? "", /Long running operation completed/);
    });
  }

  await t.step("questions of the server, and cancellation", async () => {
    await using client = await at("/mcp");
    const args = { kind: "elicitation", first_ms: 1_000, then_ms: 600_000 };
    const { taskId } = await client.call("chaos_ask", args);
    const { inputRequests } = await client.reaches(taskId, "input_required");
    const [[id, question] = []] = Object.entries(inputRequests);
    assert.equal(question?.method, "elicitation/create");
    const inputResponses = { [id!]: { action: "accept", content: { answer: "from a person" } } };
    await client.request("tasks/update", { taskId, inputResponses });
    assert.equal((await client.request("tasks/get", { taskId })).status, "working");
    await client.request("tasks/cancel", { taskId });
    assert.equal((await client.request("tasks/get", { taskId })).status, "cancelled");
  });

  await t.step("each change is announced to a client that listens", async () => {
    await using client = await at("/mcp");
    const args = { kind: "elicitation", first_ms: 1_000, then_ms: 1 };
    const { taskId } = await client.call("chaos_ask", args);
    assert.deepEqual(await client.listen(taskId, `${taskId}x`), [taskId]);
    const first = await client.hears(taskId, "working");
    assert.equal(first.resultType, undefined);
    const { inputRequests } = await client.hears(taskId, "input_required");
    const accepted = { action: "accept", content: { answer: "from a person" } };
    const [id = ""] = Object.keys(inputRequests);
    await client.request("tasks/update", { taskId, inputResponses: { [id]: accepted } });
    const { result } = await client.hears(taskId, "completed");
    assert.match(result?.content[0]?.text ?? "", /from a person/);
    assert.deepEqual((await client.request("tasks/get", { taskId })).result, result);
  });

  await t.step("what an older server says of its own task is the state of the call's", async () => {
    await using client = await at("/mcp");
    const { taskId } = await client.call("every_simulate_research_query", { topic: "deno" });
    await client.listen(taskId);
    const { statusMessage } = await until(() =>
      client.told.find(({ statusMessage }) => statusMessage !== undefined)
    );
    assert.match(statusMessage ?? "", /\w/);
    const { result } = await client.hears(taskId, "completed");
    assert.match(result?.content[0]?.text ?? "", /Research Report: deno/);
  });

  await t.step("a server with tasks of its own decides by itself", async () => {
    await using client = await at("/servers/own/mcp?names=original");
    const { taskId } = await client.call("slow_compute", { seconds: 60, label: "own" });
    assert.doesNotMatch(taskId, /quartermaster/);
    await client.request("tasks/cancel", { taskId });
  });

  await t.step("a client without the extension waits for its result", async () => {
    await using client = await StatelessClient.http(new URL("/mcp", gateway.url));
    assert.ok(client.client.getServerCapabilities()?.extensions?.[TASKS], "announced");
    const done = await client.call("every_trigger_long_running_operation", {
      duration: 1,
      steps: 1,
    });
    assert.match(done, /Long running operation completed/);
  });
});

Deno.test("a task is asked about at any gateway on the store, and ends clearly with its own", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const servers = { chaos: fixtureCommand("chaos_server") };
  const start = async () => {
    const options = { flags: ["--task-after", "200ms"], folder, dataDir: folder };
    const gateway = stack.use(await FaultyGateway.start(servers, options));
    await gateway.reaches("chaos", "ready");
    return gateway;
  };
  const [first, second] = [await start(), await start()];
  const path = "/servers/chaos/mcp?names=original";
  const here = stack.use(await TaskClient.open(first.url, path));
  const there = stack.use(await TaskClient.open(second.url, path));

  const { taskId } = await here.call("ask", { kind: "elicitation", first_ms: 500 });
  assert.deepEqual(await there.listen(taskId), [taskId]);
  const { inputRequests } = await there.hears(taskId, "input_required");
  const accepted = { action: "accept", content: { answer: "from a person" } };
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests).map((id) => [id, accepted]),
  );
  await there.request("tasks/update", { taskId, inputResponses });
  const { result } = await there.hears(taskId, "completed");
  assert.match(result?.content[0]?.text ?? "", /from a person/);

  const created = await fetch(new URL("/api/token.create", second.url), {
    method: "POST",
    headers: { "content-type": "application/json", origin: second.url },
    body: JSON.stringify({ name: "other" }),
  });
  const { text: token } = z.looseObject({ text: z.string() }).parse(await created.json());
  const foreign = stack.use(await TaskClient.open(second.url, path, token));
  const refused = await foreign.answer("tasks/get", { taskId });
  assert.match(refused.error?.message ?? "", /Unknown task/);
  assert.deepEqual(await foreign.listen(taskId), []);

  const { taskId: running } = await here.call("sleep", { ms: 600_000 });
  await first.gateway.stop("SIGKILL");
  const { error } = await there.answer("tasks/get", { taskId: running });
  assert.equal(error?.code, -32602);
  assert.match(error?.message ?? "", /the gateway that ran it has stopped/);
});
