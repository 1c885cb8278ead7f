import assert from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import { NameTables } from "../routing/name_table.ts";
import { Builtins } from "../routing/resolve.ts";
import { CombinedSurface } from "../surfaces/combined_surface.ts";
import { ListAnnouncer, type Listener } from "./list_announcer.ts";

const TOOLS = "notifications/tools/list_changed";

interface Client extends Listener {
  told: { method: string; at: number }[];
  listTools(): Promise<unknown>;
}

/** A surface that shows each principal the tools of the servers it may see. */
function surfaceOf(catalog: Catalog, serversOf: (principal: string) => string[]) {
  const shown = new Map<string, { version: number; tools: CatalogTool[] }>();
  return new CombinedSurface({
    instructions: "",
    names: new NameTables([], 60),
    listed: [],
    builtins: new Builtins([]),
    shown: {
      catalog,
      findServer: () => undefined,
      servers: (principal) => serversOf(principal).filter((name) => name.startsWith("up")),
      tools(principal) {
        const { version } = catalog.snapshot;
        let known = shown.get(principal);
        if (known?.version !== version) {
          const tools = serversOf(principal).flatMap((name) => catalog.of(name).tools);
          shown.set(principal, known = { version, tools });
        }
        return known.tools;
      },
    },
  });
}

function announcing() {
  const catalog = new Catalog();
  const list = (server: string, ...names: string[]) =>
    catalog.setListed(
      server,
      names.map((name) => JSON.stringify({ name, inputSchema: { type: "object" } })),
    );
  const servers: Record<string, string[]> = { A: ["git"], B: ["docker"] };
  const surfaces = new Map(
    ["mcp?default", "toolsets/dev?"].map((door) => [
      door,
      surfaceOf(catalog, (principal) => servers[principal] ?? []),
    ]),
  );
  const clients: Client[] = [];
  let checks = 0;
  const announcer = new ListAnnouncer({
    sessions: () => clients,
    findSurface: (door) => surfaces.get(door),
    onCheck: () => checks++,
  });
  list("git", "status");
  list("docker", "ps");
  function open(door: string, principal: string): Client {
    const told: Client["told"] = [];
    const push = (text: string) =>
      told.push({ method: JSON.parse(text).method, at: performance.now() });
    const session = surfaces.get(door)?.open({
      client: { protocolVersion: "2025-11-25", capabilities: {} },
      principal,
      push: () => {},
      ask: (text) => text,
    });
    const { signal } = new AbortController();
    const request = { id: 1, method: "tools/list", params: {}, text: "", signal, send: () => {} };
    const listTools = async () => await session?.request(request);
    const client = { door, principal, told, push, listTools };
    clients.push(client);
    return client;
  }
  return { announcer, catalog, servers, list, open, checks: () => checks };
}

const methods = ({ told }: Client) => told.map(({ method }) => method);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("ListAnnouncer.changed() tells those concerned, and at once", () => {
  const { announcer, open } = announcing();
  using _ = announcer;
  const [one, two] = [open("mcp?default", "A"), open("mcp?default", "A")];
  const other = open("mcp?default", "B");
  const door = open("toolsets/dev?", "A");
  const elsewhere = open("servers/git?flat", "A");
  announcer.changed((door, principal) => door.startsWith("mcp?") && principal === "A");
  assert.deepEqual([one, two, other, door, elsewhere].map(({ told }) => told.length), [
    1,
    1,
    0,
    0,
    0,
  ]);
  announcer.changed((door) => door === "toolsets/dev?");
  assert.deepEqual(methods(door), [TOOLS]);
  announcer.changed(() => true);
  assert.deepEqual(methods(other), [TOOLS]);
  assert.deepEqual(methods(elsewhere), []);
});

Deno.test("ListAnnouncer.check() tells those whose list is another one now", () => {
  const { announcer, open, list, checks } = announcing();
  using _ = announcer;
  const [one, other] = [open("mcp?default", "A"), open("mcp?default", "B")];
  list("git", "status", "log");
  announcer.check();
  assert.deepEqual(methods(one), [TOOLS]);
  assert.deepEqual(methods(other), []);
  assert.equal(checks(), 1);
});

Deno.test("ListAnnouncer.check() is silent where a change of the catalog leaves the list as it was", async () => {
  const { announcer, open, list } = announcing();
  using _ = announcer;
  const [one, other] = [open("mcp?default", "A"), open("toolsets/dev?", "A")];
  list("elsewhere", "x");
  announcer.check();
  list("docker", "ps", "run");
  announcer.check();
  await pause(700);
  announcer.check();
  assert.deepEqual([methods(one), methods(other)], [[], []]);
});

Deno.test("ListAnnouncer.check() tells a client that has listed what was there for a moment only", async () => {
  const { announcer, open, list } = announcing();
  using _ = announcer;
  const one = open("mcp?default", "A");
  announcer.check();
  list("git");
  announcer.check();
  await one.listTools();
  list("git", "status");
  announcer.check();
  for (let tries = 0; tries < 100 && one.told.length === 0; tries++) await pause(50);
  assert.deepEqual(methods(one).slice(0, 1), [TOOLS]);
});

Deno.test("ListAnnouncer.check() tells of resources and prompts where servers came or went", () => {
  const { announcer, open, servers } = announcing();
  using _ = announcer;
  const one = open("mcp?default", "A");
  servers.A = ["git", "up"];
  announcer.check();
  assert.deepEqual(methods(one).slice(1), [
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
  ]);
});

Deno.test("ListAnnouncer tells each client at most twice a second, and always of the last change", async () => {
  const { announcer, open, list } = announcing();
  using _ = announcer;
  const [one, other] = [open("mcp?default", "A"), open("mcp?default", "B")];
  for (let round = 0; round < 60; round++) {
    list("git", "status", `log_${round}`);
    announcer.check();
    announcer.changed((_, principal) => principal === "A");
    await pause(20);
  }
  const lastChange = performance.now();
  const isTold = () => (one.told.at(-1)?.at ?? 0) > lastChange;
  for (let tries = 0; tries < 100 && !isTold(); tries++) await pause(50);
  assert.ok(isTold(), "the last change was never told");
  assert.ok(methods(one).every((method) => method === TOOLS));
  const gaps = one.told.slice(1).map(({ at }, index) => at - one.told[index]!.at);
  assert.ok(gaps.length > 0 && gaps.every((ms) => ms > 490), `gaps of ${gaps.join(", ")} ms`);
  assert.deepEqual(methods(other), []);
});
