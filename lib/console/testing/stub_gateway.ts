import type { Catalog, ServerTools } from "../../catalog/catalog.ts";
import type { BrokenTool, CatalogTool } from "../../catalog/catalog_tool.ts";
import { ToolMetadataBook } from "../../catalog/tool_metadata.ts";
import type { ToolTokens } from "../../catalog/tool_tokens.ts";
import type { Gateway } from "../../gateway.ts";
import { forEachOption, OPTIONS } from "../../config/option_table.ts";
import type { ConfigProblem } from "../../config/files.ts";
import type { PromotedTool } from "../../core/optimization.ts";
import type { ServerStatus } from "../../core/server.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { NameTables } from "../../catalog/name_table.ts";
import type { EmbeddingProgress } from "../../catalog/search/embedding/semantic_index.ts";
import type { ActivityDay, ActivityEntry } from "../../storage/activity_repository.ts";
import type { KeptTools } from "../../storage/canonical_tools_repository.ts";
import type { ToolOverride } from "../../storage/catalog_repositories.ts";
import type { Approvals } from "../../trust/call_control/approvals.ts";
import type { Consents } from "../../trust/consents.ts";
import type { ClientListing, ConnectedClient } from "../../mcp/clients.ts";
import { StartingServers } from "../../mcp/starting_servers.ts";
import type { FoundTools } from "../../catalog/search/module.ts";
import { ToolDirectory } from "../../mcp/tool_directory.ts";
import { RemovedServers } from "../../operations/removed_servers.ts";
import { CallStats } from "../../telemetry/call_stats.ts";

interface StubServer extends Partial<ServerStatus> {
  name: string;
  tools?: (Partial<ToolDefinition> & { name: string; isOff?: boolean })[];
  history?: KeptTools;
}

export interface StubInput {
  servers?: StubServer[];
  problems?: ConfigProblem[];
  options?: Partial<Gateway["options"]["options"]>;
  storeTrouble?: string;
  days?: ActivityDay[];
  /** Why the results may be incomplete. */
  degraded?: string;
  /** Nothing has been counted yet. */
  isCounting?: boolean;
  progress?: EmbeddingProgress;
  /** Calls of the last day. */
  calls?: (Pick<ActivityEntry, "at" | "server" | "ms" | "ok"> & Partial<ActivityEntry>)[];
  clients?: ConnectedClient[];
  /** What clients are listed, by their ids. */
  listings?: [string, ClientListing][];
  isOptimizing?: boolean;
  /** Descriptions in the place of the servers' own. */
  promotions?: PromotedTool[];
  /** What servers list that is no valid tool. */
  invalid?: BrokenTool[];
  /** Tools that wait for somebody to decide. */
  waiting?: { server: string; tool: string; state: "held" | "quarantined" }[];
}

/** A gateway that only answers what pages ask, for tests of what they make of it. */
export function stubGateway(input: StubInput = {}): Gateway {
  const servers = (input.servers ?? []).map((server) => {
    const tools = (server.tools ?? []).map(({ isOff: _isOff, ...tool }): ToolDefinition => ({
      inputSchema: { type: "object" },
      ...tool,
    }));
    const off = new Set(server.tools?.filter(({ isOff }) => isOff).map(({ name }) => name));
    const status: ServerStatus = {
      type: "stdio",
      source: { kind: "file", path: "/home/me/.mcp.json" },
      state: "ready",
      reason: "Connected",
      since: 1_000,
      toolCount: tools.length,
      ...withoutTools(server),
    };
    return { status, tools, off, history: server.history ?? { tools: [], invalid: [] } };
  });
  const defaults = forEachOption((name) => OPTIONS[name].fallback);
  const listed = new Map(servers.map(({ status: { name: server }, tools, off }) => {
    const known = tools.map((definition): CatalogTool => ({
      server,
      name: definition.name,
      definition,
      text: JSON.stringify(definition),
      fingerprint: definition.name,
      enabled: !off.has(definition.name),
    }));
    return [server, { tools: known, broken: [] }];
  }));
  const stats = new CallStats();
  for (const call of input.calls ?? []) stats.add({ tool: "", session: "s", ...call });
  const options = {
    options: { ...defaults, ...input.options } as Gateway["options"]["options"],
    origins: forEachOption((name) => name in (input.options ?? {}) ? "flag" : "default"),
  };
  return {
    ...knowledge(listed, input),
    callStats: () => ({ stats, loaded: Promise.resolve(), complete: Promise.resolve() }),
    isOptimizing: () => input.isOptimizing ?? input.options?.enableOptimization ?? false,
    optimization: () => Promise.reject(new Error("The stub optimizes nothing")),
    evaluator: () => Promise.reject(new Error("The stub evaluates nothing")),
    restore: {},
    removedServers: new RemovedServers(),
    approvals: () => Promise.resolve({ list: () => [] } as unknown as Approvals),
    consents: () => Promise.resolve({ count: () => Promise.resolve(0) } as unknown as Consents),
    access: {
      isRequired: false,
      grants: () => ({ may: () => true }),
    } as unknown as Gateway["access"],
    review: {
      count: () => ({
        held: input.waiting?.filter(({ state }) => state === "held").length ?? 0,
        notices: 0,
        quarantined: input.waiting?.filter(({ state }) => state === "quarantined").length ?? 0,
        flagged: 0,
        total: input.waiting?.length ?? 0,
      }),
      waiting: (only?: string) =>
        (input.waiting ?? []).filter(({ server }) => only === undefined || server === only),
    } as unknown as Gateway["review"],
    toolCalls: { mustConfirm: () => false } as unknown as Gateway["toolCalls"],
    promotions: {
      list: () => input.promotions ?? [],
      of: (server: string, tool: string) =>
        input.promotions?.find((each) => each.server === server && each.toolName === tool),
      staleness: () => undefined,
    } as unknown as Gateway["promotions"],
    clients: {
      list: () => input.clients ?? [],
      listings: () => Promise.resolve(new Map(input.listings)),
    } as unknown as Gateway["clients"],
    endpoints: {
      host: { sessions: { list: () => [] } },
      countBuiltins: () => Promise.resolve(10),
    } as unknown as Gateway["endpoints"],
    store: {
      location: { kind: "memory", label: "memory" },
      read: () => Promise.reject(new Error("The stub stores nothing")),
    } as unknown as Gateway["store"],
    logs: { level: "info" } as unknown as Gateway["logs"],
    toolsets: {
      toolsets: { list: () => [], find: () => undefined, equippedBy: () => undefined },
    } as unknown as Gateway["toolsets"],
    findingsOf: () => undefined,
    waitingUpdates: () => 0,
    packages: (() =>
      Promise.resolve({
        list: () => Promise.resolve([]),
        updates: () => Promise.resolve([]),
      })) as unknown as Gateway["packages"],
    servers: {
      list: () => servers.map(({ status }) => status),
      allTools: () => [],
      tools: (name: string) => servers.find(({ status }) => status.name === name)?.tools ?? [],
      log: () => [],
      logged: () => [],
      states: () => [],
      info: () => undefined,
      features: () => Promise.resolve(undefined),
      invalid: () => input.invalid ?? [],
      history: (name: string, tool?: string) => {
        const kept = servers.find(({ status }) => status.name === name)?.history;
        const isWanted = (entry: { name: string }) => tool === undefined || entry.name === tool;
        return Promise.resolve({
          tools: kept?.tools.filter(isWanted) ?? [],
          invalid: kept?.invalid.filter(isWanted) ?? [],
        });
      },
    } as Gateway["servers"],
    problems: input.problems ?? [],
    options,
    settings: { ...options, startup: {} } as unknown as Gateway["settings"],
    address: "http://127.0.0.1:3333",
    startedAt: 0,
    version: "1.2.3",
    platform: { name: "local", canSpawn: true, canWrite: true },
    readiness: () => ({
      ready: true,
      degraded: [],
      store: input.storeTrouble === undefined
        ? { state: "ok" }
        : { state: "degraded", reason: input.storeTrouble },
      servers: { total: servers.length, ready: servers.length, starting: 0 },
      version: "1.2.3",
      uptimeSeconds: 1,
    }),
  } satisfies Partial<Gateway> as Partial<Gateway> as Gateway;
}

/** What is known of the tools; a token is four characters, and every word has to be found. */
function knowledge(listed: Map<string, ServerTools>, input: StubInput) {
  const snapshot = { version: 1, servers: listed };
  const names = new NameTables([], 60);
  const metadata = new ToolMetadataBook();
  const overrides = new Map<string, ToolOverride>();
  const tokens = {
    prepare: () => Promise.resolve(),
    of: ({ text }: CatalogTool) => input.isCounting ? 0 : Math.ceil(text.length / 4),
  } as unknown as ToolTokens;
  const search = ({ text, limit }: { text: string; limit: number }, admits: Admits): FoundTools => {
    const words = text.toLowerCase().split(/\s+/);
    const found = [...names.of(snapshot).tools()].filter(admits)
      .filter((tool) => words.every((word) => tool.text.toLowerCase().split(/\W+/).includes(word)))
      .slice(0, limit)
      .map((tool, index) => ({
        tool,
        relevance: 1 / (index + 1),
        explanation: `${words.join(", ")} in its text`,
      }));
    return { found, ...(input.degraded === undefined ? {} : { degraded: input.degraded }) };
  };
  return {
    toolDirectory: new ToolDirectory({
      catalog: { snapshot, of: (server: string) => listed.get(server) } as unknown as Catalog,
      names,
      metadata,
      tokens,
      keys: () => Promise.reject(new Error("The stub has no keys")),
      search: (query, admits) => Promise.resolve(search(query, admits)),
      servers: () => listed.keys(),
      serverState: () => "ready",
      starting: new StartingServers({
        catalog: { of: (server: string) => listed.get(server) } as unknown as Catalog,
        pool: { list: () => [], find: () => undefined },
        admits: () => true,
      }),
      admits: () => true,
      usedWith: ({ server }) => listed.get(server)?.tools ?? [],
      baseline: () => Promise.resolve(0),
      warmUp: () => {},
    }),
    tokens,
    toolMetadata: {
      overrides: () => Promise.resolve([...overrides.values()]),
    } as unknown as Gateway["toolMetadata"],
    describeTool(override: ToolOverride) {
      overrides.set(`${override.server}.${override.tool}`, override);
      metadata.setOverrides([...overrides.values()]);
      return Promise.resolve();
    },
    searchProgress: () => Promise.resolve(input.progress),
    searchTrouble: () => input.degraded,
    activityDays: () => Promise.resolve(input.days ?? []),
    collisions: () => names.of(snapshot).collisions(),
    promptCollisions: () => [],
  };
}

type Admits = (tool: CatalogTool) => boolean;

function withoutTools(
  { tools: _tools, history: _history, ...status }: StubServer,
): Partial<ServerStatus> & { name: string } {
  return status;
}

export function problem(change: Partial<ConfigProblem> = {}): ConfigProblem {
  return {
    severity: "warning",
    file: "/home/me/.mcp.json",
    line: 3,
    column: 7,
    message: "something is off",
    fix: "set it right",
    ...change,
  };
}
