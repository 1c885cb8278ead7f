import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";
import { at, Endpoints, tool } from "./combined_endpoints.ts";
import { npmServer } from "./fixtures/npm_servers.ts";
import { ScriptedServer } from "./fixtures/scripted_server.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { until } from "./gateway.ts";
import { StatelessClient } from "./stateless_client.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const Task = z.looseObject({ taskId: z.string(), status: z.string() }).partial();

/** Sends a request by hand: the SDK's client knows no tasks of this revision. */
async function post(
  url: URL,
  method: string,
  params: Record<string, unknown>,
  { capabilities = { extensions: { [TASKS]: {} } }, token }: {
    capabilities?: object;
    token?: string | undefined;
  } = {},
): Promise<Response> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const name = params.name ?? params.taskId;
  return await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
}

/** The result of a request about a task, or of a call that may become one. */
async function ask(url: URL, method: string, name: string, more: object = {}) {
  const key = method === "tools/call" ? "name" : "taskId";
  const response = await post(url, method, { [key]: name, ...more });
  const text = await response.text();
  const json = text.startsWith("{") ? text : /^data: (\{.*"result".*)$/m.exec(text)?.[1];
  return z.object({ result: Task }).parse(JSON.parse(json ?? text)).result;
}

Deno.test("clients of 2026-07-28 get what the aggregated endpoints have", async (t) => {
  await using endpoints = await Endpoints.open({
    every: { ...npmServer("everything") },
    tasks: fixtureCommand("conformance_stateless", ["--stdio"]),
  });
  const to = (path: string) => new URL(path, endpoints.url);

  await t.step("tools that a server lists to capable clients, from the first list on", async () => {
    // The first list waits 2 s, for which a busy machine may be too slow.
    await using capable = await until(async () => {
      const client = await StatelessClient.http(to("/mcp?expose=all"));
      const { tools } = await client.client.listTools();
      if (tools.some(({ name }) => name === "every_get_roots_list")) return client;
      await client[Symbol.asyncDispose]();
    });
    assert.match(await capable.call("every_get_roots_list"), /file:\/\/\/marker/);
    await using plain = await StatelessClient.http(to("/mcp?expose=all"), { capabilities: {} });
    const listed = (await plain.client.listTools()).tools.map(({ name }) => name);
    assert.ok(!listed.includes("every_get_roots_list"));
  });

  await t.step("links that lead to their server", async () => {
    await using plain = await StatelessClient.http(to("/mcp"), { capabilities: {} });
    const { content } = await plain.client.callTool({
      name: "every_get_resource_links",
      arguments: { count: 1 },
    });
    const link = content.find(({ type }) => type === "resource_link");
    assert.ok(link?.type === "resource_link");
    assert.match(link.uri, /^quartermaster:\/\/every\//);
    const { contents } = await plain.client.readResource({ uri: link.uri });
    assert.deepEqual(contents.map(({ uri }) => uri), [link.uri]);
  });

  await t.step("tasks of the extension, under ids that name their server", async () => {
    const args = { seconds: 60, label: "slow" };
    const task = await ask(to("/mcp"), "tools/call", "tasks_slow_compute", { arguments: args });
    assert.match(task.taskId ?? "", /^tasks:/);
    const { taskId = "" } = task;
    const known = await ask(to("/mcp"), "tasks/get", taskId);
    assert.deepEqual([known.taskId, known.status], [taskId, "working"]);
    await ask(to("/mcp"), "tasks/cancel", taskId);
    await until(async () =>
      (await ask(to("/mcp"), "tasks/get", taskId)).status === "cancelled" || undefined
    );
  });
});

/** The tasks' states that a client hears of, as `ID STATUS RESULT`. */
async function listenForTasks(client: StatelessClient, taskIds: string[]): Promise<string[]> {
  const heard: string[] = [];
  client.client.fallbackNotificationHandler = ({ method, params }) => {
    const { taskId, status, result } = Told.parse(params);
    heard.push([method, taskId, status, result?.content[0].text].join(" ").trim());
    return Promise.resolve();
  };
  await client.client.listen({ taskIds } as object);
  return heard;
}

const Told = z.strictObject({
  taskId: z.string(),
  status: z.string(),
  result: z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]) }).optional(),
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  ttlMs: z.number(),
  pollIntervalMs: z.number(),
  _meta: z.looseObject({}),
});

Deno.test("changes of tasks reach clients of 2026-07-28 that listen for them", async (t) => {
  await using server = await startHttpFixture("matrix_stateless", ["--http", "pushing"]);
  await using endpoints = await Endpoints.open({
    pushing: { type: "http", url: server.url },
    silent: fixtureCommand("matrix_stateless", ["--stdio", "silent"]),
  });
  await endpoints.build("all", ["pushing.*", "silent.*"]);
  const capabilities = { extensions: { [TASKS]: {} } };
  for (
    const [path, prefix] of [
      ["/servers/pushing/mcp?names=original", ""],
      ["/mcp", "pushing_"],
      ["/toolsets/all/mcp", "pushing_"],
    ] as const
  ) {
    const url = new URL(path, endpoints.url);
    const start = async (args: object, name = `${prefix}work`) =>
      (await ask(url, "tools/call", name, { arguments: args })).taskId ?? "";

    await t.step(`of a server that announces them, at ${path}`, async () => {
      await using client = await StatelessClient.http(url, { capabilities });
      const [endless, quick, other] = [
        await start({ endless: true }),
        await start({}),
        await start({ endless: true }),
      ];
      const heard = await listenForTasks(client, [endless, quick, "nobody:1"]);
      await until(() => heard.includes(`notifications/tasks ${endless} working`) || undefined);
      await until(() =>
        heard.includes(`notifications/tasks ${quick} completed pushing: worked`) || undefined
      );
      await ask(url, "tasks/cancel", other);
      await ask(url, "tasks/cancel", endless);
      await until(() => heard.includes(`notifications/tasks ${endless} cancelled`) || undefined);
      assert.ok(!heard.some((line) => line.includes(other)), "it did not ask for it");
    });
  }

  await t.step("only for own tasks, whose server announces changes", async () => {
    const url = new URL("/mcp", endpoints.url);
    const { taskId = "" } = await ask(url, "tools/call", "silent_work", { arguments: {} });
    const known = await ask(url, "tools/call", "pushing_work", { arguments: { endless: true } });
    const acknowledged = async (token?: string) => {
      const response = await post(url, "subscriptions/listen", {
        notifications: { taskIds: [taskId, known.taskId, "pushing:none"] },
      }, { token });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("\n\n")) text += (await reader.read()).value ?? "";
      await reader.cancel();
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "").params.notifications;
    };
    assert.deepEqual(await acknowledged(), { taskIds: [known.taskId] });
    const { value } = await endpoints.api("POST", "/api/token.create", { name: "other" });
    assert.deepEqual(await acknowledged(String(value.text)), { taskIds: [] });
    await ask(url, "tasks/cancel", known.taskId ?? "");
  });

  await t.step("never for a client without the extension", async () => {
    const url = new URL("/mcp", endpoints.url);
    const params = { notifications: { taskIds: ["pushing:1"] } };
    const response = await post(url, "subscriptions/listen", params, { capabilities: {} });
    assert.equal(response.status, 400);
    const { error } = await response.json();
    assert.deepEqual([error.code, error.data.requiredCapabilities], [-32021, capabilities]);
    assert.equal((await post(url, "tasks/follow", { taskId: "pushing:1" })).status, 404);
  });
});

Deno.test("extensions of servers are announced merged at /mcp, and a client's reach servers", async (t) => {
  await using one = new ScriptedServer([tool("look")]);
  await using two = new ScriptedServer([tool("look")]);
  one.capabilities = { extensions: { "com.example/one": { a: 1 }, "com.example/both": { x: 1 } } };
  two.capabilities = { extensions: { "com.example/two": {}, "com.example/both": { y: 2 } } };
  await using endpoints = await Endpoints.open({
    one: at(one),
    two: at(two),
    older: fixtureCommand("matrix_sessions", ["--stdio", "older"]),
    newer: fixtureCommand("matrix_stateless", ["--stdio", "newer"]),
  });
  const url = new URL("/mcp", endpoints.url);
  const capabilities = { extensions: { "com.example/client": { deep: [1] } } };
  const session = new Client({ name: "test", version: "1" }, { capabilities });
  await session.connect(new StreamableHTTPClientTransport(url) as never);
  await using stateless = await StatelessClient.http(url, { capabilities });

  for (const client of [session, stateless.client]) {
    const revision = client === session ? "2025-11-25" : "2026-07-28";
    await t.step(`servers' to a client of ${revision}`, () => {
      const { extensions = {} } = client.getServerCapabilities() ?? {};
      assert.deepEqual([extensions["com.example/one"], extensions["com.example/two"]], [
        { a: 1 },
        {},
      ]);
      assert.deepEqual(extensions["com.example/both"], { x: 1, y: 2 });
    });
  }
  for (const server of ["older", "newer"]) {
    const called = { name: `${server}_client` };
    const expected = `${server}: ${JSON.stringify(capabilities)}`;
    await t.step(`of a client of 2025-11-25 that offers nothing else, to ${server}`, async () => {
      assert.deepEqual((await session.callTool(called)).content, [{
        type: "text",
        text: expected,
      }]);
    });
    await t.step(`of a client of 2026-07-28 that offers nothing else, to ${server}`, async () => {
      assert.equal(await stateless.call(called.name), expected);
    });
  }
  await session.close();
});

/** A client that never sets a log level, with what it hears. */
async function connectListener(url: URL, token?: string) {
  const client = new Client({ name: "test", version: "1" });
  const heard: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(params.data);
  });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  await client.connect(transport as never);
  return { client, heard, [Symbol.asyncDispose]: () => client.close() };
}

Deno.test("log messages of stdio and SSE servers reach a client that set no level, while only its calls are known there", async (t) => {
  await using http = await startHttpFixture("chaos_http");
  const sse = { type: "sse", url: http.url.replace("/mcp", "/s/old/sse") };
  await using endpoints = await Endpoints.open({ stdio: fixtureCommand("chaos_server"), sse });
  const { value } = await endpoints.api("POST", "/api/token.create", { name: "other" });
  const { text: token } = z.looseObject({ text: z.string() }).parse(value);
  for (const server of ["stdio", "sse"]) {
    const log = (message: string) => ({ name: `${server}.log`, arguments: { message } });
    const place = (path: string) => new URL(path, endpoints.url);
    for (const path of [`/servers/${server}/mcp`, "/mcp"]) {
      await t.step(`${server} at ${path}`, async () => {
        await using own = await connectListener(place(path));
        await own.client.callTool(log("alone"));
        await until(() => own.heard.includes("alone") || undefined);
        await using other = await connectListener(place(`${path}?features=all`), token);
        await other.client.listTools();
        await other.client.listPrompts();
        await other.client.listResources();
        await own.client.callTool(log("the other has only listed"));
        await until(() => own.heard.includes("the other has only listed") || undefined);
        assert.deepEqual(other.heard, []);
      });
    }
    await t.step(`${server}, used by two`, async () => {
      await using own = await connectListener(place(`/servers/${server}/mcp`));
      await using other = await connectListener(place("/mcp"), token);
      await other.client.callTool(log("of the other"));
      await own.client.callTool(log("of its own"));
      assert.deepEqual([own.heard, other.heard], [[], []]);
      const { value } = await endpoints.api("GET", `/api/server.logs?name=${server}`);
      assert.match(JSON.stringify(value), /of the other.*of its own/);
    });
  }
});
