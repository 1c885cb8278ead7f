import assert from "node:assert/strict";
import * as z from "zod";
import type { Access } from "../auth/access.ts";
import type { Toolsets } from "../catalog/toolsets/toolsets.ts";
import { Catalog } from "../catalog/catalog.ts";
import { NameTables } from "../catalog/name_table.ts";
import type { ToolTokens } from "../catalog/tool_tokens.ts";
import { GatewayError } from "../core/errors.ts";
import { EVERYONE } from "../core/access.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { ServerPool } from "../servers/pool.ts";
import { FakeServer, silentLog, until } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { Store } from "../storage/store.ts";
import type { AnsweredCall } from "../telemetry/call_recorder.ts";
import type { Logs } from "../telemetry/logs.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { builtin } from "./builtin_tool.ts";
import { McpModule } from "./module.ts";
import { StartingServers } from "./starting_servers.ts";
import type { TokenAccount } from "./token_account.ts";
import type { ToolDirectory } from "./tool_directory.ts";

const PUSH = JSON.stringify({ name: "push", inputSchema: { type: "object" } });

/** The endpoints of two servers, without tokens or toolsets. */
async function openModule() {
  const stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const catalog = new Catalog();
  const servers = new Map<string, ManagedServer>();
  for (const name of ["git", "docs"]) {
    servers.set(name, stack.use(await startManaged(new FakeServer(), { name })));
    catalog.setListed(name, [PUSH]);
  }
  const pool = {
    find: (name: string) => servers.get(name),
    resolve(name: string) {
      const server = servers.get(name);
      if (!server) throw new GatewayError("SERVER_NOT_FOUND");
      return server;
    },
    list: () => [...servers.values()].map(({ status }) => status),
  } as unknown as ServerPool;
  let caller = EVERYONE;
  const ended = new Set<string>();
  const access = {
    identify: () => caller,
    isValid: (principal: string) => !ended.has(principal),
    admits: () => true,
    admitsServer: () => true,
    admitsToolset: () => true,
    demand: () => {},
    grants: () => access,
  } as unknown as Access;
  const calls: AnsweredCall[] = [];
  const loaded: string[] = [];
  const count = builtin({
    name: "count_calls",
    title: "Count calls",
    description: "How many calls are recorded.",
    input: z.strictObject({}),
    run: () => Promise.resolve({ text: `${calls.length} recorded`, data: {} }),
  });
  const module = stack.use(
    new McpModule({
      store,
      pool,
      catalog,
      names: new NameTables([], 60),
      tokens: {} as never as ToolTokens,
      toolsets: {
        onChange: () => () => {},
        find: () => undefined,
        recheck() {},
      } as never as Toolsets,
      equippedBy: () => undefined,
      availability: () => "available",
      starting: new StartingServers({ pool, catalog, admits: () => true }),
      toolDirectory: {
        warmUp() {},
        visible: () => [],
        edition: 1,
        forOffer() {
          return this;
        },
      } as never as ToolDirectory,
      account: { total: { baseline: 0, listed: 0, answered: 0 } } as never as TokenAccount,
      loadTools() {
        loaded.push("tools");
        return Promise.resolve({
          servers: [count],
          toolsets: [],
          optimization() {
            loaded.push("optimization");
            return Promise.resolve({ always: [], gated: [] });
          },
          mayUse: () => true,
          demandUse: () => {},
        });
      },
      isOptimizing: () => false,
      access,
      onPromptCollisions: () => {},
      onOfferedTools: () => Promise.resolve(),
      onListCheck: () => {},
      onSessions: () => {},
      onToolCall: (call) => calls.push(call),
      logs: { module: () => silentLog() } as unknown as Logs,
      metrics: new Metrics(),
      maxBody: 10_000,
      signal: new AbortController().signal,
      onWarning: () => {},
    }),
  );
  async function post(
    path: string,
    message: object,
    session?: string,
    more: Record<string, string> = {},
  ) {
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
        ...more,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
    const response = await module.find(request)!();
    return { text: await response.text(), id: response.headers.get("mcp-session-id") ?? "" };
  }
  const params = { protocolVersion: "2025-11-25", capabilities: {} };
  const connect = (path: string) => post(path, { method: "initialize", params });
  return {
    module,
    catalog,
    calls,
    loaded,
    post,
    connect,
    ended,
    actAs: (principal: string) => void (caller = principal),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test("McpModule loads the combined views, and the gateway's tools, with the first client that needs them", async () => {
  await using opened = await openModule();
  const { connect, loaded, module } = opened;
  await connect("/servers/git/mcp");
  assert.deepEqual(loaded, []);
  await connect("/mcp?expose=all");
  await connect("/mcp");
  assert.deepEqual(loaded, ["tools"]);
  await connect("/gateway/mcp");
  await connect("/gateway/mcp");
  assert.deepEqual(loaded, ["tools", "optimization"]);
  assert.equal(module.find(new Request("http://localhost/servers")), undefined);
  await assert.rejects(module.opener("/nowhere"), { code: "NOT_FOUND" });
});

Deno.test("McpModule records calls before the gateway's own tools read the record", async () => {
  await using opened = await openModule();
  const { connect, post } = opened;
  const server = await connect("/servers/git/mcp");
  const own = await connect("/gateway/mcp");
  const called = { method: "tools/call", params: { name: "git.push" } };
  const counted = { method: "tools/call", params: { name: "count_calls" } };
  await post("/servers/git/mcp", called, server.id);
  assert.match((await post("/gateway/mcp", counted, own.id)).text, /1 recorded/);
});

Deno.test("McpModule records a tool call with what its server took, at each kind of endpoint", async () => {
  await using opened = await openModule();
  const { connect, post, calls, module } = opened;
  for (const [path, name] of [["/servers/git/mcp", "git.push"], ["/mcp?expose=all", "git_push"]]) {
    const { id } = await connect(path!);
    const { text } = await post(path!, { method: "tools/call", params: { name } }, id);
    assert.match(text, /"result"/);
    await post(path!, { method: "tools/list", params: {} }, id);
  }
  module.settle();
  assert.deepEqual(calls.map(({ call: { server, tool } }) => `${server}.${tool}`), [
    "git.push",
    "git.push",
  ]);
  assert.ok(calls.every(({ call }) => call.serverMs !== undefined));
  assert.deepEqual(calls.map(({ session }) => session.endpoint), [
    "servers/git?namespaced",
    "mcp?all",
  ]);
  assert.equal(module.answered, 4);
});

Deno.test("McpModule announces a server's new list to its own clients alone, and ends their sessions with it", async () => {
  await using opened = await openModule();
  const { connect, catalog, module } = opened;
  const heard: string[] = [];
  const ids = new Map<string, string>();
  for (const path of ["/servers/git/mcp", "/servers/docs/mcp", "/mcp?expose=all"]) {
    const { id } = await connect(path);
    ids.set(path, id);
    const session = module.sessions.list().find((session) => session.id === id)!;
    const push = session.push.bind(session);
    session.push = (text) => {
      heard.push(`${session.endpoint} ${JSON.parse(text).method}`);
      push(text);
    };
  }
  // Published, and the same: all tools are enabled by name now.
  catalog.setEnabled("docs", ["push"]);
  catalog.setListed("git", [PUSH, PUSH.replace("push", "pull")]);
  await until(() => heard.length >= 2);
  assert.deepEqual(heard.sort(), [
    "mcp?all notifications/tools/list_changed",
    "servers/git?namespaced notifications/tools/list_changed",
  ]);
  module.removed("git");
  assert.deepEqual(module.sessions.list().map(({ id }) => id), [
    ids.get("/servers/docs/mcp"),
    ids.get("/mcp?expose=all"),
  ]);
});

Deno.test("McpModule ends a stateless client's session with its own token", async () => {
  await using opened = await openModule();
  const { post, module, ended, actAs } = opened;
  const key = "io.modelcontextprotocol";
  const version = "2026-07-28";
  const _meta = { [`${key}/protocolVersion`]: version, [`${key}/clientCapabilities`]: {} };
  for (const principal of ["oauth:ann#1", "oauth:ann#2"]) {
    actAs(principal);
    const list = { method: "tools/list", params: { _meta } };
    const headers = { "mcp-protocol-version": version, "mcp-method": list.method };
    const { text } = await post("/servers/git/mcp", list, undefined, headers);
    assert.match(text, /"result"/);
  }
  ended.add("oauth:ann#2");
  module.rightsChanged(new Set(["oauth:ann"]));
  assert.deepEqual(module.sessions.list().map(({ principal }) => principal), ["oauth:ann#1"]);
});
