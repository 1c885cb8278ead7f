import assert from "node:assert/strict";
import { Endpoints } from "./combined_endpoints.ts";
import { type Entries } from "./faults.ts";
import { fixtureCommand, startHttpFixture } from "./fixtures/start_fixture.ts";
import { connectMatrixClient, type Revision } from "./matrix_clients.ts";
import { type Cell, CELL_LIMIT_MS, FEATURES } from "./matrix_features.ts";

const REVISIONS: Revision[] = ["2025-11-25", "2026-07-28"];

interface MatrixServer {
  name: string;
  revision: Revision;
  fixture: "matrix_sessions" | "matrix_stateless";
  /** HTTP with SSE is older than 2026-07-28, which has no such transport. */
  transport: "stdio" | "http" | "sse";
}

const SERVERS: MatrixServer[] = [
  { name: "s25stdio", revision: "2025-11-25", fixture: "matrix_sessions", transport: "stdio" },
  { name: "s25http", revision: "2025-11-25", fixture: "matrix_sessions", transport: "http" },
  { name: "s25sse", revision: "2025-11-25", fixture: "matrix_sessions", transport: "sse" },
  { name: "s26stdio", revision: "2026-07-28", fixture: "matrix_stateless", transport: "stdio" },
  { name: "s26http", revision: "2026-07-28", fixture: "matrix_stateless", transport: "http" },
];

const flat = (server: string) => (name: string) => `${server}_${name}`;
const original = () => (name: string) => name;

interface MatrixEndpoint {
  name: string;
  path(server: string): string;
  named(server: string): (name: string) => string;
  /** A toolset has the tools that were chosen, and no others. */
  listsNewTools(server: MatrixServer): boolean;
}

const ENDPOINTS: MatrixEndpoint[] = [
  {
    name: "server endpoint",
    path: (server) => `/servers/${server}/mcp?names=original`,
    named: original,
    listsNewTools: () => true,
  },
  {
    name: "/mcp",
    path: () => "/mcp?expose=all",
    named: flat,
    listsNewTools: () => true,
  },
  {
    name: "toolset endpoint",
    path: () => "/toolsets/all/mcp",
    named: flat,
    listsNewTools: () => false,
  },
];

interface Combination extends Omit<Cell, "client"> {
  name: string;
  url: string;
}

/** How each feature went: undefined if it arrived. */
type Outcomes = Record<string, unknown>;

async function tryAll({ name: _, url, ...cell }: Combination): Promise<Outcomes> {
  const outcomes: Outcomes = {};
  const failAll = (error: unknown) =>
    Object.fromEntries(Object.keys(FEATURES).map((feature) => [feature, error]));
  const connecting = limited(connectMatrixClient(cell.revisions.client, url));
  const client = await connecting.catch((error: Error) => error);
  if (client instanceof Error) return failAll(client);
  await using _closed = client;
  for (const [feature, run] of Object.entries(FEATURES)) {
    outcomes[feature] = await limited(run({ ...cell, client })).then(
      () => undefined,
      (error) => error,
    );
  }
  return outcomes;
}

async function limited<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`no end after ${CELL_LIMIT_MS} ms`)),
    CELL_LIMIT_MS,
  );
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** The servers, as a config file names them, and the address of each that has one. */
async function startServers() {
  await using starting = new AsyncDisposableStack();
  const entries: Entries = {};
  const urls: Record<string, string> = {};
  for (const { name, fixture, transport } of SERVERS) {
    if (transport === "stdio") {
      entries[name] = { ...fixtureCommand(fixture, ["--stdio", name]) };
      continue;
    }
    const { url } = starting.use(await startHttpFixture(fixture, [`--${transport}`, name]));
    entries[name] = { type: transport, url };
    urls[name] = url;
  }
  const stack = starting.move();
  return { entries, urls, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function combinationsOf(gateway: string, urls: Record<string, string>): Combination[] {
  return REVISIONS.flatMap((client) =>
    SERVERS.flatMap((server) => {
      const revisions = { client, server: server.revision };
      const through = ENDPOINTS.map(({ name, path, named, listsNewTools }) => ({
        name: `${client} client, ${server.name}, ${name}`,
        revisions,
        server: server.name,
        url: `${gateway}${path(server.name)}`,
        named: named(server.name),
        listsNewTools: listsNewTools(server),
      }));
      if (client !== server.revision || server.transport !== "http") return through;
      // That the fixture and the client can do it at all.
      const name = `${client} client, ${server.name}, direct`;
      const direct = {
        name,
        revisions,
        server: server.name,
        url: urls[server.name]!,
        named: original(),
        listsNewTools: true,
      };
      return [direct, ...through];
    })
  ).map((combination, index) => ({ ...combination, id: `x${index}` }));
}

Deno.test("any client, any server: all that the weaker side can say arrives", async (t) => {
  await using servers = await startServers();
  const flags = ["--task-after", "100ms"];
  await using endpoints = await Endpoints.open(servers.entries, undefined, { flags, env: {} });
  await endpoints.build("all", SERVERS.map(({ name }) => `${name}.*`));
  const combinations = combinationsOf(endpoints.url, servers.urls);
  const outcomes = new Map<Combination, Outcomes>();
  // One after another at each server: a log message on a pipe does not say whose call it is about.
  await Promise.all(SERVERS.map(async ({ name }) => {
    for (const combination of combinations.filter(({ server }) => server === name)) {
      outcomes.set(combination, await tryAll(combination));
    }
  }));
  for (const [{ name }, cells] of outcomes) {
    await t.step(name, async (t) => {
      for (const [feature, error] of Object.entries(cells)) {
        await t.step(feature, () => {
          if (error !== undefined) throw error;
        });
      }
    });
  }
  assert.equal(outcomes.size, combinations.length);
});
