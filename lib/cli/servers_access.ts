import type { ServerHistory } from "../catalog/tool_history.ts";
import { parseLocation } from "../storage/location.ts";
import { Store } from "../storage/store.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSource, ServerSpec } from "../core/server.ts";
import type { ToolDefinition } from "../core/tool.ts";
import type { CommandInput } from "./command.ts";
import { findGateways, type FoundGateway } from "./find_gateways.ts";
import type { GatewayClient } from "./gateway_client.ts";
import type { ToolsetsAccess } from "./toolsets_access.ts";

/** One server in a list. */
export interface ServerRow {
  name: string;
  type: string;
  state: string;
  reason: string;
  toolCount: number;
  source?: ServerSource | undefined;
}

export interface ServerTools {
  server: string;
  /** Null: all of them, new ones too. */
  enabled: string[] | null;
  all: string[];
}

/** One tool in the list of all. */
export interface ListedTool {
  server: string;
  /** The server's own name for it. */
  name: string;
  enabled: boolean;
  definition: ToolDefinition;
}

/** Every tool of every server, and what their names depend on. */
export interface ToolList {
  tools: ListedTool[];
  /** The most characters that the gateway's names have. */
  maxNameLength: number;
}

/** A tool that no client gets as its server lists it, until the owner has decided. */
export interface WaitingTool {
  server: string;
  /** The server's own name for it. */
  name: string;
  state: "quarantined" | "held";
  /** Clients go on with the version before it. */
  isServed: boolean;
}

export interface ToolCall {
  server: string;
  /** The server's own name for it. */
  tool: string;
  args: Record<string, unknown>;
  signal: AbortSignal;
  onProgress(progress: ToolProgress): void;
}

export interface ToolProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** What a tool answered, as it came. */
export interface ToolResult {
  content: Record<string, unknown>[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/** A server's entry, secrets masked. */
export interface DescribedServer {
  spec: ServerSpec;
  /** Of the entry, where it can be changed here. */
  version?: string | undefined;
}

export interface AddOptions {
  /** Connect first, and store nothing where that fails; so it is unless told. */
  check?: boolean;
}

/** The servers, whether a gateway runs or not. */
export interface ServersAccess extends AsyncDisposable {
  readonly isRunning: boolean;
  /** Of the gateway, where one runs. */
  readonly address?: string;
  list(): Promise<ServerRow[]>;
  describe(name: string): Promise<DescribedServer>;
  add(name: string, spec: ServerSpec, options?: AddOptions): Promise<ServerRow>;
  /**
   * Replaces an entry after connecting, unless it is reached as before. What is masked keeps its
   * value, what is left out stays, and what is undefined is taken away. Throws CONFLICT where the
   * entry is no longer the version that the change was made from.
   */
  update(name: string, spec: ServerSpec, version?: string): Promise<ServerRow>;
  remove(name: string): Promise<void>;
  tools(name: string): Promise<ServerTools>;
  setTools(name: string, enabled: string[] | null): Promise<ServerTools>;
  history(name: string): Promise<ServerHistory>;
  /** Every tool of every server, those that are off too. */
  allTools(): Promise<ToolList>;
  /** What the owner has to decide on; empty for a caller who may not decide. */
  waiting(): Promise<WaitingTool[]>;
  callTool(call: ToolCall): Promise<ToolResult>;
  toolsets(): Promise<ToolsetsAccess>;
}

/** Through the gateway that runs on this data store, else on the store itself. */
export async function openServers(input: CommandInput): Promise<ServersAccess> {
  const gateway = await findGateway(input);
  if (gateway) return gateway;
  // Loaded when needed: it brings half a gateway with it.
  const { OfflineServers } = await import("./offline_servers.ts");
  return await OfflineServers.open(input);
}

/** All gateways that run on this data store, the oldest first; for what only running ones can do. */
export async function resolveGateways(input: CommandInput): Promise<FoundGateway[]> {
  const gateways = await listGateways(input);
  if (gateways.length > 0) return gateways;
  const { label } = parseLocation(input.options.kv);
  throw new GatewayError("SERVER_NOT_RUNNING", {
    message: `No gateway is running on ${label}`,
    recoverySteps: ["Start one with `deno task start`", "Or name its folder with --data-dir"],
  });
}

export async function openStore({ options }: CommandInput): Promise<Store> {
  if (parseLocation(options.kv).kind === "memory") {
    throw new GatewayError("CONFIG_INVALID", {
      message: "A data store in memory cannot be reached from outside its gateway",
      recoverySteps: ["Use the gateway's console, or give it a data folder"],
    });
  }
  return await Store.open({ location: options.kv });
}

async function findGateway(input: CommandInput): Promise<GatewayClient | undefined> {
  return (await listGateways(input))[0]?.client;
}

async function listGateways(input: CommandInput): Promise<FoundGateway[]> {
  await using store = await openStore(input);
  return await findGateways(store);
}
