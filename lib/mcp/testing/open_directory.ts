import assert from "node:assert/strict";
import { Catalog } from "../../catalog/catalog.ts";
import type { CatalogTool } from "../../catalog/catalog_tool.ts";
import { ToolMetadataBook } from "../../catalog/tool_metadata.ts";
import { ToolTokens } from "../../catalog/tool_tokens.ts";
import { EVERYONE } from "../../core/access.ts";
import type { ServerState, ServerStatus } from "../../core/server.ts";
import { NameTables } from "../../catalog/name_table.ts";
import { ToolKeys } from "../../catalog/tool_keys.ts";
import { CatalogSearch, ToolSearch } from "../../catalog/search/tool_search.ts";
import { TableEmbedder } from "../../catalog/search/embedding/table_embedder.ts";
import { explanationText } from "../../catalog/search/ranking.ts";
import { Store } from "../../storage/store.ts";
import { ToolMetadataRepository } from "../../storage/catalog_repositories.ts";
import { RESERVED_NAMES } from "../builtin_names.ts";
import type { BuiltinTool } from "../builtin_tool.ts";
import { StartingServers } from "../starting_servers.ts";
import { ToolDirectory } from "../tool_directory.ts";

export type Listed = Record<string, unknown> & { name: string };

export interface OpenDirectoryInput {
  servers: Record<string, readonly Listed[]>;
  /** What nobody but `owner` may see, as `server.tool`. */
  hidden?: readonly string[];
  /** Servers that have no tools now, with their state. */
  away?: Record<string, ServerState>;
  /** As `server.tool`. */
  usedWith?: Record<string, readonly string[]>;
}

/** A directory over a real catalog, index and store; a token is four characters. */
export async function openDirectory(input: OpenDirectoryInput) {
  const { hidden = [], away = {} } = input;
  const store = await Store.open({ location: ":memory:" });
  const catalog = new Catalog();
  const names = new NameTables(RESERVED_NAMES, 60);
  const metadata = new ToolMetadataBook({}, {
    servers: () => Array.from(catalog.snapshot.servers.values(), ({ tools }) => tools),
    openVectors: () => TableEmbedder.open(),
    onChange: () => {},
  });
  const search = new CatalogSearch({
    catalog,
    search: new ToolSearch(),
    about: (tool) => ({ category: metadata.of(tool).category }),
  });
  const tokens = new ToolTokens(
    new ToolMetadataRepository(store),
    catalog,
    (texts) => Promise.resolve(texts.map(({ length }) => Math.ceil(length / 4))),
  );
  const byName = (name: string) => names.of(catalog.snapshot).byNamespaced(name);
  const directory: ToolDirectory = new ToolDirectory({
    catalog,
    names,
    metadata,
    tokens,
    keys: () => Promise.resolve(new ToolKeys(new Uint8Array(32).fill(7))),
    async search({ text, context, limit }, admits) {
      const { hits } = await search.find({
        query: text,
        context,
        limit,
        explain: true,
        admits: (key) => admits(byName(key)!),
      });
      return {
        found: hits.map(({ key, relevance, explanation }) => ({
          tool: byName(key)!,
          relevance,
          explanation: explanationText(explanation!, text),
        })),
      };
    },
    servers: (principal) => [
      ...catalog.snapshot.servers.keys(),
      ...Object.keys(away).filter((name) => principal === "owner" || !hidden.includes(`${name}.*`)),
    ],
    serverState: (name) => away[name] ?? "ready",
    starting: new StartingServers({
      catalog,
      pool: {
        list: () => Object.entries(away).map(([name, state]) => statusOf(name, state)),
        find: () => undefined,
      },
      admits: (principal, name) => principal === "owner" || !hidden.includes(`${name}.*`),
    }),
    admits: (principal, { server, name }) =>
      principal === "owner" ||
      !(hidden.includes(`${server}.${name}`) || hidden.includes(`${server}.*`)),
    usedWith: ({ server, name }) =>
      (input.usedWith?.[`${server}.${name}`] ?? []).flatMap((other) => byName(other) ?? []),
    baseline: (principal) => tokens.total(directory.visible(principal)),
    warmUp: () => {},
  });
  function list(server: string, tools: readonly Listed[]): void {
    catalog.setListed(
      server,
      tools.map((tool) => JSON.stringify({ inputSchema: { type: "object" }, ...tool })),
    );
  }
  for (const [server, tools] of Object.entries(input.servers)) list(server, tools);
  return {
    directory,
    catalog,
    metadata,
    tokens,
    list,
    tool(name: string): CatalogTool {
      return byName(name)!;
    },
    async [Symbol.asyncDispose]() {
      await search[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function statusOf(name: string, state: ServerState): ServerStatus {
  return {
    ...{ name, state, type: "http", source: { kind: "store" } },
    ...{ reason: "Starting", since: 0, toolCount: 0 },
  };
}

/** Calls a tool of the gateway's own that answers itself; gives its data. */
export async function run(
  tools: readonly BuiltinTool[],
  name: string,
  args: Record<string, unknown> = {},
  principal: string = EVERYONE,
): Promise<Record<string, unknown>> {
  const done = await runAny(tools, name, args, principal);
  assert.ok("data" in done, "it is a call of another tool");
  // A list of names is shorter than its data.
  if (done.text.startsWith("{")) {
    assert.deepEqual(JSON.parse(done.text), JSON.parse(JSON.stringify(done.data)));
  }
  return done.data;
}

export async function runAny(
  tools: readonly BuiltinTool[],
  name: string,
  args: Record<string, unknown> = {},
  principal: string = EVERYONE,
) {
  const tool = tools.find((tool) => tool.name === name)!;
  return await tool.run(tool.input.parse(args), {
    signal: new AbortController().signal,
    from: () => "a test",
    principal,
  });
}
