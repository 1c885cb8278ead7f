import assert from "node:assert/strict";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { SessionsRepository } from "../storage/access_repositories.ts";
import { Store } from "../storage/store.ts";
import { isIdle } from "../core/client.ts";
import { Clients } from "./clients.ts";
import { Sessions } from "./session.ts";
import type { View } from "./view.ts";

const HOUR = 60 * 60_000;
const VIEW: View = {
  introduce: () => Promise.resolve({}),
  open: () => ({
    request: () => Promise.resolve({ text: "" }),
    notify: () => {},
    listed: () => ({
      builtins: ["search", "execute"],
      tools: ["git", "git", "jira"].map((server) => ({ server }) as CatalogTool),
    }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
};

async function openClients() {
  let now = Date.now();
  const stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location: ":memory:" }));
  const sessions: Sessions = stack.use(
    new Sessions({
      records: new SessionsRepository(store),
      onWarning: assert.fail,
      onEnd: (session) => clients.noteEnded(session),
    }),
  );
  const clients = new Clients({
    sessions,
    tokens: {
      count: (texts) => Promise.resolve(texts.map(() => 100)),
      prepare: () => Promise.resolve(),
      of: () => 7,
    },
    nameOf: (principal) => `token of ${principal}`,
    now: () => now,
  });
  const connect = (name: string) =>
    sessions.create({
      endpoint: "mcp?default",
      principal: "ann",
      from: "127.0.0.1",
      profile: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name, version: "1" },
      },
    }, VIEW);
  return {
    clients,
    sessions,
    connect,
    wait: (ms: number) => now += ms,
    async [Symbol.asyncDispose]() {
      await Promise.all(sessions.list().map(({ saved }) => saved));
      await stack.disposeAsync();
    },
  };
}

Deno.test("Clients.list() tells since when a client has no connection open", async () => {
  await using open = await openClients();
  const { clients, connect, wait } = open;
  const [closed, listening] = [connect("closed"), connect("listening")];
  const stream = listening.common.attach();
  const idle = () => clients.list().filter((client) => isIdle(client, wait(0))).map((c) => c.name);
  wait(4 * 60_000);
  assert.deepEqual(idle(), []);
  wait(2 * 60_000);
  assert.deepEqual(idle(), ["closed"]);
  assert.equal(
    clients.list().find(({ name }) => name === "closed")?.idleSince,
    closed.lastSeenAt,
  );
  await stream.cancel();
});

Deno.test("Clients.list() describes clients without their session ids, the ended ones for an hour", async () => {
  await using open = await openClients();
  const { clients, connect, wait } = open;
  const session = connect("cursor-vscode");
  connect("claude-code");
  const [first] = clients.list();
  assert.equal(clients.list().length, 2);
  assert.ok(!JSON.stringify(clients.list()).includes(session.id));
  assert.deepEqual([first?.transport, first?.principal], ["http", "token of ann"]);
  const { id } = clients.list().find(({ name }) => name === "cursor-vscode")!;
  assert.equal((await clients.disconnect(id))?.name, "cursor-vscode");
  assert.equal(await clients.disconnect(id), undefined);
  assert.deepEqual(clients.list().map(({ name }) => name), ["claude-code", "cursor-vscode"]);
  assert.ok(clients.list()[1]?.endedAt !== undefined);
  wait(HOUR);
  assert.deepEqual(clients.list().map(({ name }) => name), ["claude-code"]);
});

Deno.test("Clients.list() includes calls that are counted after their session ended", async () => {
  await using open = await openClients();
  const session = open.connect("quartermaster-cli");
  await open.sessions.end(session);
  session.use.calls++;
  session.use.lastCall = { server: "git", tool: "log", at: 1, ok: true };
  const [client] = open.clients.list();
  assert.ok(client?.endedAt !== undefined);
  assert.deepEqual([client.calls, client.lastCall?.tool], [1, "log"]);
});

Deno.test("Clients.list() keeps a bounded number of ended clients", async () => {
  await using open = await openClients();
  for (let n = 0; n < 150; n++) await open.sessions.end(open.connect(`client ${n}`));
  assert.equal(open.clients.list().length, 100);
  assert.equal(open.clients.list()[0]?.name, "client 149");
});

Deno.test("Clients.listings() counts what a model is listed, by server, against the client's limit", async () => {
  await using open = await openClients();
  open.connect("cursor-vscode");
  open.connect("claude-code");
  const listings = await open.clients.listings();
  const of = (name: string) =>
    listings.get(open.clients.list().find((client) => client.name === name)!.id);
  assert.deepEqual(of("cursor-vscode"), {
    tools: 5,
    tokens: 221,
    parts: [
      { tools: 2, tokens: 200 },
      { server: "git", tools: 2, tokens: 14 },
      { server: "jira", tools: 1, tokens: 7 },
    ],
    limit: 40,
  });
  assert.equal(of("claude-code")?.limit, undefined);
});
