import { parseLocation } from "../storage/kv_client.ts";
import { Store } from "../storage/store.ts";
import { GatewayError } from "../core/errors.ts";
import { SERVER_OPERATIONS, type Status } from "../operations/servers.ts";
import type { AllTools } from "../operations/tool_search.ts";
import type { CommandInput } from "./command.ts";
import { findGateways, type FoundGateway } from "./find_gateways.ts";
import type { GatewayClient } from "./gateway_client.ts";
import type { OperationTarget } from "./operation_target.ts";

/** One tool in the list of all. */
export type ListedTool = AllTools["tools"][number];

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

/** The servers, whether a gateway runs or not. */
export interface ServersAccess extends OperationTarget {
  /** Of the gateway, where one runs. */
  readonly address?: string;
  /** Every tool of every server, those that are off too. */
  allTools(): Promise<AllTools>;
  /** What the owner has to decide on; empty for a caller who may not decide. */
  waiting(): Promise<WaitingTool[]>;
  callTool(call: ToolCall): Promise<ToolResult>;
}

/** Through the gateway that runs on this data store, else on the store itself. */
export async function openServers(input: CommandInput): Promise<ServersAccess> {
  const gateway = await findGateway(input);
  if (gateway) return gateway;
  // Loaded when needed: it brings half a gateway with it.
  const { OfflineServers } = await import("./offline_servers.ts");
  return await OfflineServers.open(input);
}

/** Every server with its state. */
export async function listServers(target: Pick<OperationTarget, "run">): Promise<Status[]> {
  return (await target.run(SERVER_OPERATIONS.list, {})).servers;
}

/** All gateways that run on this data store, the oldest first; for what only running ones can do. */
export async function resolveGateways(input: CommandInput): Promise<FoundGateway[]> {
  const gateways = await listGateways(input);
  if (gateways.length > 0) return gateways;
  const { label } = parseLocation(input.options.kv);
  throw new GatewayError("SERVER_NOT_RUNNING", {
    message: `No gateway is running on ${label}`,
    recoverySteps: ["Start one with `quartermaster start`", "Or name its folder with --data-dir"],
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

export async function findGateway(input: CommandInput): Promise<GatewayClient | undefined> {
  return (await listGateways(input))[0]?.client;
}

async function listGateways(input: CommandInput): Promise<FoundGateway[]> {
  await using store = await openStore(input);
  return await findGateways(store);
}
