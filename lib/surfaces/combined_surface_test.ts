import type { RequestScope } from "./surface.ts";
import assert from "node:assert/strict";
import { z } from "zod";
import { Catalog } from "../catalog/catalog.ts";
import { NameTables } from "../routing/name_table.ts";
import { Builtins } from "../routing/resolve.ts";
import { FakeServer } from "../downstream/testing/fake_server.ts";
import { startManaged } from "../downstream/testing/start_managed.ts";
import { builtin } from "./builtin_tool.ts";
import { CombinedSurface, type ServersShown } from "./combined_surface.ts";
import { KeptTexts } from "./kept_texts.ts";

/** A client at a door that shows every tool there is. */
function openDoor(
  more: Partial<ServersShown> = {},
  capabilities: Record<string, unknown> = {},
  texts?: KeptTexts,
) {
  const catalog = new Catalog();
  const list = (...names: string[]) =>
    catalog.setListed(
      "git",
      names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
    );
  list("status");
  const surface = new CombinedSurface({
    instructions: "",
    names: new NameTables([], 60),
    listed: [],
    builtins: new Builtins([]),
    shown: {
      catalog,
      findServer: () => undefined,
      servers: () => [],
      tools: () => catalog.of("git").tools,
      ...more,
    },
    ...(texts ? { texts } : {}),
  });
  const pushed: string[] = [];
  const open = () =>
    surface.open({
      client: { protocolVersion: "2025-11-25", capabilities },
      principal: "Ada",
      push: (text) => void pushed.push(JSON.parse(text).method),
      ask: (text) => text,
    });
  const session = open();
  const request = (method: string, params: Record<string, unknown> = {}) =>
    session.request({
      id: 1,
      method,
      params,
      text: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: new AbortController().signal,
      send: () => {},
    });
  const listTools = () => request("tools/list");
  const call = (name: string) => request("tools/call", { name, arguments: {} });
  return { surface, session, pushed, list, request, listTools, call, open };
}

Deno.test("CombinedSurface.listText() describes its own tools anew only for another edition or other tools", () => {
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
  const surface = new CombinedSurface({
    instructions: "",
    names: new NameTables([], 60),
    listed: tools,
    edition: () => edition,
    builtins: new Builtins(tools),
    shown: { catalog, findServer: () => undefined, servers: () => [], tools: () => nothing },
  });
  assert.match(surface.listText("Ada"), /Ada 1"/);
  assert.match(surface.listText("Ada"), /Ada 1"/);
  assert.match(surface.listText("Bob"), /Bob 2"/);
  list("status");
  assert.match(surface.listText("Ada"), /Ada 3"/);
  edition = "second";
  assert.match(surface.listText("Ada"), /Ada 4"/);
  surface.changes("Ada");
  assert.match(surface.listText("Ada"), /Ada 4"/);
});

Deno.test("CombinedSurface.listText() keeps the lists of so many callers, and makes others anew", () => {
  let described = 0;
  const nothing: [] = [];
  const tools = [builtin({
    name: "find",
    title: "Find",
    description: () => `${++described}`,
    input: z.strictObject({}),
    run: () => Promise.reject(new Error("not called")),
  })];
  const surface = new CombinedSurface({
    instructions: "",
    names: new NameTables([], 60),
    listed: tools,
    builtins: new Builtins(tools),
    shown: {
      catalog: new Catalog(),
      findServer: () => undefined,
      servers: () => [],
      tools: () => nothing,
    },
  });
  surface.listText("Ada");
  for (let nth = 1; nth < 200; nth++) surface.listText(`caller ${nth}`);
  surface.listText("Ada");
  assert.equal(described, 200);
  surface.listText("one more");
  surface.listText("Ada");
  assert.equal(described, 202);
});

Deno.test("CombinedSurface forgets what a caller was told when its last client goes", async () => {
  const { surface, session, list, open } = openDoor();
  const other = open();
  await other[Symbol.asyncDispose]();
  list("status", "log");
  assert.equal(surface.changes("Ada").tools, true, "one is still there");
  await session[Symbol.asyncDispose]();
  open();
  assert.deepEqual(surface.changes("Ada"), { tools: false, others: false }, "it lists first");
});

Deno.test("CombinedSurface lists and calls nothing that does not exist for the caller", async () => {
  const { surface, list, listTools, call } = openDoor({
    admits: (principal, tool) => principal !== "Ada" || tool.name !== "push",
  });
  list("status", "push");
  assert.doesNotMatch(await listTools(), /git_push/);
  assert.match(surface.listText("Bob"), /git_push/);
  await assert.rejects(call("git_push"), { code: "TOOL_NOT_FOUND" });
});

Deno.test("CombinedSurface has a call's time at its server on the client's own request, for the record", async () => {
  const fake = new FakeServer();
  await using server = await startManaged(fake);
  const { session } = openDoor({ findServer: () => server, servers: () => ["git"] });
  await using _ = session;
  const params = { name: "git_status", arguments: {} };
  const scope: RequestScope = {
    id: 1,
    method: "tools/call",
    params,
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal: new AbortController().signal,
    send: () => {},
  };
  await session.request(scope);
  assert.ok(scope.atServer && scope.atServer.ms >= 0);
});

Deno.test("CombinedSurface lists for a client that can be asked, and takes its log level, without a connection for it alone", async () => {
  const fake = new FakeServer();
  const capabilities = { tools: {}, prompts: {}, logging: {} };
  fake.handlers.set("initialize", () => ({
    protocolVersion: "2025-11-25",
    capabilities,
    serverInfo: { name: "fake" },
  }));
  fake.handlers.set("prompts/list", () => ({ prompts: [{ name: "greet" }] }));
  await using server = await startManaged(fake);
  const { list, request, call, session, pushed } = openDoor({
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

Deno.test("CombinedSurface reads nothing that is hidden since its server has another list", async () => {
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
  const texts = new KeptTexts({
    instructions: (_, text) => Promise.resolve(text),
    list(_server, kind, result) {
      const listed: Record<string, unknown[]> = JSON.parse(result);
      const shown = listed[kind]?.filter((entry) => !isHostile(JSON.stringify(entry)));
      return Promise.resolve(isHostile(result) ? JSON.stringify({ [kind]: shown }) : result);
    },
  });
  const { request, session } = openDoor(
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

Deno.test("CombinedSurface.changes() is about what clients were last told", () => {
  const { surface, list } = openDoor();
  assert.deepEqual(surface.changes("Ada"), { tools: false, others: false });
  list("status", "log");
  assert.deepEqual(surface.changes("Ada"), { tools: true, others: false });
  surface.told("Ada");
  assert.deepEqual(surface.changes("Ada"), { tools: false, others: false });
  list("status");
  list("status", "log");
  assert.equal(surface.changes("Ada").tools, false, "nobody has seen it in between");
});

Deno.test("CombinedSurface.changes() knows of a list that a client saw and nobody told of", async () => {
  const { surface, list, listTools, open } = openDoor();
  list("status", "log");
  assert.match(await listTools(), /git_log/);
  open();
  assert.equal(surface.changes("Ada").tools, true, "whoever else comes");
  list("status");
  assert.equal(surface.changes("Ada").tools, true);
  surface.told("Ada");
  await listTools();
  assert.equal(surface.changes("Ada").tools, false);
});
