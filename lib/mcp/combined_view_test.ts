import assert from "node:assert/strict";
import * as z from "zod";
import type { McpRequest } from "../core/client.ts";
import { Catalog } from "../catalog/catalog.ts";
import { NameTables } from "../catalog/name_table.ts";
import { Builtins } from "../catalog/resolve.ts";
import { FakeServer } from "../servers/testing/fake_server.ts";
import { startManaged } from "../servers/testing/start_managed.ts";
import { builtin } from "./builtin_tool.ts";
import { CombinedView } from "./combined_view.ts";
import type { VisibleServers } from "./view.ts";
import { ContentScreen } from "./content_screen.ts";
import { textOf } from "./testing/text_of.ts";

/** A client at an endpoint that shows every tool there is. */
function openView(
  more: Partial<VisibleServers> = {},
  capabilities: Record<string, unknown> = {},
  texts?: ContentScreen,
) {
  const catalog = new Catalog();
  const list = (...names: string[]) =>
    catalog.setListed(
      "git",
      names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
    );
  list("status");
  const view = new CombinedView({
    instructions: "",
    names: new NameTables([], 60),
    listed: [],
    builtins: new Builtins([]),
    servers: {
      catalog,
      findServer: () => undefined,
      servers: () => [],
      tools: () => catalog.of("git").tools,
      ...more,
    },
    ...(texts ? { screen: texts } : {}),
  });
  const pushed: string[] = [];
  const open = () =>
    view.open({
      profile: { protocolVersion: "2025-11-25", capabilities },
      principal: "Ada",
      push: (text) => void pushed.push(JSON.parse(text).method),
      ask: (text) => text,
    });
  const session = open();
  const request = async (method: string, params: Record<string, unknown> = {}) =>
    textOf(
      await session.request({
        id: 1,
        method,
        params,
        text: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        signal: new AbortController().signal,
        send: () => {},
      }),
    );
  const listTools = () => request("tools/list");
  const call = (name: string) => request("tools/call", { name, arguments: {} });
  return { view, session, pushed, list, request, listTools, call, open };
}

Deno.test("CombinedView marks the record of a call that one of its own tools forwards", async () => {
  const catalog = new Catalog();
  catalog.setListed("git", [JSON.stringify({ name: "status", inputSchema: { type: "object" } })]);
  const [forward] = catalog.of("git").tools;
  const execute = builtin({
    name: "execute",
    title: "Execute",
    forwards: true,
    description: "",
    input: z.strictObject({}),
    run: () => Promise.resolve({ forward: forward!, argumentsIn: "arguments" }),
  });
  const view = new CombinedView({
    instructions: "",
    names: new NameTables([], 60),
    listed: [execute],
    builtins: new Builtins([execute]),
    servers: { catalog, findServer: () => undefined, servers: () => [], tools: () => [forward!] },
  });
  await using session = view.open({
    profile: { protocolVersion: "2025-11-25", capabilities: {} },
    principal: "Ada",
    push: () => {},
    ask: (text) => text,
  });
  const isForwarded = async (name: string) => {
    const params = { name, arguments: {} };
    const { call } = await session.request({
      id: 1,
      method: "tools/call",
      params,
      text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      signal: new AbortController().signal,
      send: () => {},
    });
    return [call?.tool, call?.isForwarded];
  };
  assert.deepEqual(await isForwarded("execute"), ["status", true]);
  assert.deepEqual(await isForwarded("git_status"), ["status", undefined]);
});

Deno.test("CombinedView.listText() describes its own tools anew only for another edition or other tools", () => {
  const catalog = new Catalog();
  const list = (name: string) =>
    catalog.setListed("git", [JSON.stringify({ name, inputSchema: { type: "object" } })]);
  let [described, edition] = [0, "first"];
  const tools = [builtin({
    name: "find",
    title: "Find",
    description: (principal) => `${principal} ${++described}`,
    input: z.strictObject({}),
    run: () => Promise.reject(new Error("not called")),
  })];
  const nothing: [] = [];
  const view = new CombinedView({
    instructions: "",
    names: new NameTables([], 60),
    listed: tools,
    edition: () => edition,
    builtins: new Builtins(tools),
    servers: { catalog, findServer: () => undefined, servers: () => [], tools: () => nothing },
  });
  assert.match(view.toolList("Ada").text, /Ada 1"/);
  assert.match(view.toolList("Ada").text, /Ada 1"/);
  assert.match(view.toolList("Bob").text, /Bob 2"/);
  list("status");
  assert.match(view.toolList("Ada").text, /Ada 3"/);
  edition = "second";
  assert.match(view.toolList("Ada").text, /Ada 4"/);
  assert.match(view.toolList("Ada").text, /Ada 4"/);
});

Deno.test("CombinedView.listText() keeps the lists of so many callers, and makes others anew", () => {
  let described = 0;
  const nothing: [] = [];
  const tools = [builtin({
    name: "find",
    title: "Find",
    description: () => `${++described}`,
    input: z.strictObject({}),
    run: () => Promise.reject(new Error("not called")),
  })];
  const view = new CombinedView({
    instructions: "",
    names: new NameTables([], 60),
    listed: tools,
    builtins: new Builtins(tools),
    servers: {
      catalog: new Catalog(),
      findServer: () => undefined,
      servers: () => [],
      tools: () => nothing,
    },
  });
  view.toolList("Ada").text;
  for (let nth = 1; nth < 200; nth++) view.toolList(`caller ${nth}`).text;
  view.toolList("Ada").text;
  assert.equal(described, 200);
  view.toolList("one more").text;
  view.toolList("Ada").text;
  assert.equal(described, 202);
});

Deno.test("CombinedView lists and calls nothing that does not exist for the caller", async () => {
  const { view, list, listTools, call } = openView({
    admits: (principal, tool) => principal !== "Ada" || tool.name !== "push",
  });
  list("status", "push");
  assert.doesNotMatch(await listTools(), /git_push/);
  assert.match(view.toolList("Bob").text, /git_push/);
  await assert.rejects(call("git_push"), { code: "TOOL_NOT_FOUND" });
});

Deno.test("CombinedView returns a call's time at its server with the answer", async () => {
  const fake = new FakeServer();
  await using server = await startManaged(fake);
  const { session } = openView({ findServer: () => server, servers: () => ["git"] });
  await using _ = session;
  const params = { name: "git_status", arguments: {} };
  const request: McpRequest = {
    id: 1,
    method: "tools/call",
    params,
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal: new AbortController().signal,
    send: () => {},
  };
  const { call } = await session.request(request);
  assert.deepEqual([call?.server, call?.tool], ["git", "status"]);
  assert.ok(call?.sentAt !== undefined && call.serverMs !== undefined && call.serverMs >= 0);
});

Deno.test("CombinedView lists for a client that can be asked, and takes its log level, without a connection for it alone", async () => {
  const fake = new FakeServer();
  const capabilities = { tools: {}, prompts: {}, logging: {} };
  fake.handlers.set("initialize", () => ({
    protocolVersion: "2025-11-25",
    capabilities,
    serverInfo: { name: "fake" },
  }));
  fake.handlers.set("prompts/list", () => ({ prompts: [{ name: "greet" }] }));
  await using server = await startManaged(fake);
  const { list, request, call, session, pushed } = openView({
    findServer: () => server,
    servers: () => ["git"],
  }, { roots: {}, sampling: {}, elicitation: {} });
  list("status");
  assert.match(await request("prompts/list"), /git_greet/);
  await request("logging/setLevel", { level: "error" });
  assert.equal(fake.links.length, 1);
  fake.links[0]!.tell("notifications/prompts/list_changed");
  assert.deepEqual(pushed, ["notifications/prompts/list_changed"]);
  await call("git_status");
  assert.equal(fake.links.length, 2);
  assert.ok(fake.links[1]!.heard.includes("logging/setLevel"));
  await request("prompts/list");
  assert.ok(fake.links[1]!.heard.includes("prompts/list"), "as there is one now");
  await session[Symbol.asyncDispose]();
});

Deno.test("CombinedView reads nothing that is hidden since its server has another list", async () => {
  const fake = new FakeServer();
  fake.handlers.set("initialize", () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "fake" },
  }));
  let resources = [{ uri: "note://one", name: "one" }, { uri: "note://two", name: "two" }];
  fake.handlers.set("resources/list", () => ({ resources }));
  await using server = await startManaged(fake);
  const isHostile = (text: string) => text.includes("hostile");
  const texts = new ContentScreen({
    instructions: (_, text) => Promise.resolve(text),
    list(_server, kind, result) {
      const listed: Record<string, unknown[]> = JSON.parse(result);
      const shown = listed[kind]?.filter((entry) => !isHostile(JSON.stringify(entry)));
      return Promise.resolve(isHostile(result) ? JSON.stringify({ [kind]: shown }) : result);
    },
  });
  const { request, session } = openView(
    { findServer: () => server, servers: () => ["git"] },
    {},
    texts,
  );
  const read = (uri: string) => request("resources/read", { uri });
  assert.match(await read("note://two"), /"result"/);
  const before = resources;
  resources = [{ uri: "note://one", name: "one" }, { uri: "note://two", name: "hostile" }];
  fake.links[0]!.tell("notifications/resources/list_changed");
  assert.match(await read("note://two"), /There is no resource/);
  // One that only this client was listed is known as well.
  resources = [...before, { uri: "note://three", name: "hostile" }];
  assert.doesNotMatch(await request("resources/list"), /three/);
  assert.match(await read("note://three"), /There is no resource/);
  await session[Symbol.asyncDispose]();
});

Deno.test("CombinedView compares with what each client was last listed", async () => {
  const { session, list, listTools, open } = openView();
  await using _ = session;
  const changes = () => session.lists?.takeChanges();
  assert.deepEqual(changes(), []);
  list("status", "log");
  assert.deepEqual(changes(), ["tools"]);
  assert.deepEqual(changes(), [], "announced once");
  list("status");
  assert.deepEqual(changes(), [], "what the client has");
  list("status", "log");
  assert.deepEqual(changes(), ["tools"]);
  await using other = open();
  await listTools();
  list("status");
  assert.deepEqual(changes(), ["tools"]);
  assert.deepEqual(other.lists?.takeChanges(), ["tools"], "a client that was there before");
});
