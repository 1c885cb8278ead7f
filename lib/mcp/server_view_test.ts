import assert from "node:assert/strict";
import pino from "pino";
import { Catalog } from "../catalog/catalog.ts";
import { FakeServer, until } from "../servers/testing/fake_server.ts";
import { ManagedServer, type ManagedServerOptions } from "../servers/server.ts";
import { EVERYONE } from "../core/access.ts";
import { NameTables } from "../catalog/name_table.ts";
import { ListChanges, type ListeningSession } from "./list_changes.ts";
import { ServerView } from "./server_view.ts";
import { textOf } from "./testing/text_of.ts";

const OPEN = { name: "open", inputSchema: { type: "object" } };
const ASKING = { name: "asking", inputSchema: { type: "object" } };

/** Lists one tool more for a client that it can sample from, and never says so; has tasks. */
class Choosy extends FakeServer {
  readonly #onList: () => void;
  override tools: Record<string, unknown>[] = [OPEN];
  #tasks = 0;

  constructor(onList: () => void) {
    super();
    this.#onList = onList;
  }

  override answer(method: string, params: Record<string, unknown>): object {
    const { capabilities, task } = params as { capabilities?: object; task?: unknown };
    switch (method) {
      case "initialize":
        if (capabilities && "sampling" in capabilities) this.tools = [OPEN, ASKING];
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, tasks: {} },
          serverInfo: { name: "choosy", version: "1" },
        };
      case "tools/list":
        this.#onList();
        return { tools: this.tools };
      case "tasks/list":
        return { count: this.#tasks };
      default:
        if (task) this.#tasks++;
        return {};
    }
  }
}

async function startChoosy(options: Partial<ManagedServerOptions> = {}) {
  const catalog = new Catalog();
  const listed = Promise.withResolvers<void>();
  /** How often tools were listed, for all or for one client. */
  let lists = 0;
  const server = new ManagedServer({
    server: { name: "choosy", spec: { type: "demo" }, source: { kind: "demo" } },
    log: pino({ level: "silent" }),
    openTransport: (_, events) => new Choosy(() => lists++).open(events),
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (name, tools) => {
      catalog.setListed(name, tools);
      listed.resolve();
      return Promise.resolve(tools.length);
    },
    ...options,
  });
  server.start();
  await listed.promise;
  const listening = new Set<ListeningSession>();
  const changes = new ListChanges({ sessions: () => listening });
  const view = new ServerView({
    server,
    catalog,
    names: new NameTables([], 60),
    naming: "original",
    onListChange: () => changes.check(),
  });

  function connect(capabilities: Record<string, unknown>, protocolVersion = "2025-11-25") {
    const pushed: string[] = [];
    const session = view.open({
      profile: { protocolVersion, capabilities },
      principal: EVERYONE,
      push: (text) => void pushed.push(JSON.parse(text).method),
      ask: (text) => text,
    });
    const push = (text: string) => void pushed.push(JSON.parse(text).method);
    listening.add({ lists: () => session.lists ? [session.lists] : [], push });
    const request = async (method: string, params: Record<string, unknown> = {}) =>
      JSON.parse(textOf(
        await session.request({
          id: 1,
          method,
          params,
          text: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
          signal: new AbortController().signal,
          send: () => {},
        }),
      )).result;
    const names = async () => {
      const { tools }: { tools: { name: string }[] } = await request("tools/list");
      return tools.map(({ name }) => name);
    };
    return { pushed, request, names, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
  }

  return {
    catalog,
    connect,
    listCount: () => lists,
    async [Symbol.asyncDispose]() {
      changes[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A client hears of tools of its own once they are there. */
async function untilTold({ pushed }: { pushed: string[] }): Promise<void> {
  await until(() => pushed.length === 1);
}

Deno.test("ServerView shows a client the tools that a server has for clients like it", async () => {
  await using choosy = await startChoosy();
  await using plain = choosy.connect({});
  await using asked = choosy.connect({ sampling: {} });
  await asked.request("tools/call", { name: "open" });
  await untilTold(asked);
  assert.deepEqual(asked.pushed, ["notifications/tools/list_changed"]);
  assert.deepEqual(await asked.names(), ["open", "asking"]);
  await asked.request("tools/call", { name: "asking" });
  assert.deepEqual(await plain.names(), ["open"]);
  await assert.rejects(plain.request("tools/call", { name: "asking" }), /no tool "asking"/);
});

Deno.test("ServerView tells a client of no change where its tools are those of all", async () => {
  await using choosy = await startChoosy();
  await using rooted = choosy.connect({ roots: {} });
  await rooted.request("tools/call", { name: "open" });
  await until(() => choosy.listCount() === 2);
  // Answered after the list was.
  await rooted.request("tasks/list");
  assert.deepEqual(rooted.pushed, []);
});

Deno.test("ServerView keeps a client's list while its connection is away, until the server's list changes", async () => {
  await using choosy = await startChoosy({ maxOwn: 1 });
  await using first = choosy.connect({ sampling: {} });
  await using second = choosy.connect({ sampling: {} });
  await first.request("tools/call", { name: "open" });
  await untilTold(first);
  await second.request("tools/call", { name: "open" });
  await untilTold(second);
  assert.deepEqual(await first.names(), ["open", "asking"]);
  await first.request("tools/call", { name: "asking" });
  await until(() => choosy.listCount() === 4);
  await first.request("tasks/list");
  choosy.catalog.setListed("choosy", [JSON.stringify(ASKING)]);
  assert.deepEqual(await second.names(), ["asking"], "its connection has made room again");
  assert.deepEqual(await first.names(), ["open", "asking"]);
});

Deno.test("ServerView hides a tool that is disabled while a client has a list of its own", async () => {
  await using choosy = await startChoosy();
  await using asked = choosy.connect({ sampling: {} });
  await asked.request("tools/call", { name: "open" });
  await untilTold(asked);
  choosy.catalog.setEnabled("choosy", ["open"]);
  assert.deepEqual(await asked.names(), ["open"]);
  await assert.rejects(asked.request("tools/call", { name: "asking" }), /disabled/);
});

Deno.test("ServerView keeps a client's tasks from other clients", async () => {
  await using choosy = await startChoosy();
  await using mine = choosy.connect({});
  await using other = choosy.connect({});
  await mine.request("tools/call", { name: "open", task: { ttl: 1_000 } });
  assert.deepEqual(await mine.request("tasks/list"), { count: 1 });
  assert.deepEqual(await other.request("tasks/list"), { count: 0 });
});

Deno.test("ServerView has a call wait for a server that is being connected to", async () => {
  const opened = Promise.withResolvers<void>();
  const catalog = new Catalog();
  await using server = new ManagedServer({
    server: { name: "choosy", spec: { type: "demo" }, source: { kind: "demo" } },
    log: pino({ level: "silent" }),
    async openTransport(_, events) {
      await opened.promise;
      return new Choosy(() => {}).open(events);
    },
    onStatus: () => {},
    knownTools: () => Promise.resolve([]),
    onTools: (name, tools) => {
      catalog.setListed(name, tools);
      return Promise.resolve(tools.length);
    },
  });
  server.start();
  const view = new ServerView({
    server,
    catalog,
    names: new NameTables([], 60),
    naming: "original",
  });
  await using session = view.open({
    profile: { protocolVersion: "2025-11-25", capabilities: {} },
    principal: EVERYONE,
    push: () => {},
    ask: (text) => text,
  });
  const request = (id: number, method: string, params: Record<string, unknown>) =>
    session.request({
      id,
      method,
      params,
      text: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
      signal: new AbortController().signal,
      send: () => {},
    });
  const listing = request(1, "tools/list", {});
  const calling = request(2, "tools/call", { name: "open", arguments: {} });
  opened.resolve();
  assert.match(textOf(await listing), /"open"/);
  assert.match(textOf(await calling), /"result"/);
});

Deno.test("ServerView calls a tool that runs only as a task for a client that does not know such tasks", async () => {
  const fake = new FakeServer();
  fake.tools = [{
    name: "work",
    inputSchema: { type: "object" },
    execution: { taskSupport: "required" },
  }];
  fake.handlers.set("tools/call", ({ task }) => ({ task: task && { taskId: "t1" } }));
  fake.handlers.set(
    "tasks/result",
    ({ taskId }) => ({ content: [{ type: "text", text: taskId }] }),
  );
  await using choosy = await startChoosy({ openTransport: (_, events) => fake.open(events) });
  await using client = choosy.connect({}, "2026-07-28");
  const { content } = await client.request("tools/call", { name: "work", arguments: {} });
  assert.deepEqual(content, [{ type: "text", text: "t1" }]);
});

Deno.test("ServerView reads a list again that is no longer good by the server's own word", async () => {
  const fake = new FakeServer();
  let lists = 0;
  fake.handlers.set("server/discover", () => ({
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
  }));
  fake.handlers.set("tools/list", () => ({
    tools: [{ name: `nth-${++lists}`, inputSchema: { type: "object" } }],
    ttlMs: 100,
  }));
  await using choosy = await startChoosy({ openTransport: (_, events) => fake.open(events) });
  await using client = choosy.connect({}, "2026-07-28");
  assert.deepEqual(await client.names(), ["nth-1"]);
  await until(async () => (await client.names())[0] === "nth-2");
});

Deno.test("ServerView refuses a cursor that it never gave", async () => {
  await using choosy = await startChoosy();
  await using client = choosy.connect({});
  await assert.rejects(client.request("tools/list", { cursor: "2" }), /Unknown cursor/);
});
