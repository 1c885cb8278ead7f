import type { CallToolResult, Progress } from "@modelcontextprotocol/sdk/types";
import { hostname } from "node:os";
import { isLoopback } from "../config/address.ts";
import { nonEmpty } from "../config/platform.ts";
import { GatewayError } from "../core/errors.ts";
import type { Operation } from "../operations/operation.ts";
import { TOOLSET_OPERATIONS } from "../operations/toolsets.ts";
import { type AllTools, TOOL_OPERATIONS } from "../operations/tool_search.ts";
import { SERVER_OPERATIONS, type Status } from "../operations/servers.ts";
import type { GatewayStatus } from "../operations/status.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { type Lease, LeasesRepository } from "../storage/leases_repository.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import type { CommandInput } from "./command.ts";
import { Credential, GatewayClient } from "./gateway_client.ts";
import { didYouMean, nearestNames } from "../core/text.ts";

export interface ToolCall {
  server: string;
  /** The server's own name for it. */
  tool: string;
  args: Record<string, unknown>;
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/** Content is printed as it came: a server may send a kind that the SDK does not know. */
export interface ToolResult extends Pick<CallToolResult, "isError"> {
  content: Record<string, unknown>[];
  structuredContent?: unknown;
}

/** Where a command's operations run: in the gateway of this data store, or in this process. */
export interface OperationTarget extends AsyncDisposable {
  readonly isRunning: boolean;
  readonly address?: string;
  // deno-lint-ignore no-explicit-any
  run(operation: Operation, input: Record<string, unknown>): Promise<any>;
  callTool(call: ToolCall): Promise<ToolResult>;
}

/**
 * The gateway that runs on this data store; without one, operations run in this process, unless
 * they need a running gateway.
 */
export async function openTarget(input: CommandInput, isLive = false): Promise<OperationTarget> {
  if (isLive) return (await resolveGateways(input))[0]!.client;
  const [gateway] = await listGateways(input);
  if (gateway) return gateway.client;
  // Loaded when needed: it brings a gateway with it.
  const { CommandGateway } = await import("./command_gateway.ts");
  return await CommandGateway.open(input);
}

export async function listServers(target: Pick<OperationTarget, "run">): Promise<Status[]> {
  return (await target.run(SERVER_OPERATIONS.list, {})).servers;
}

/** Every tool of every server, disabled ones included. */
export async function listTools(target: Pick<OperationTarget, "run">): Promise<AllTools> {
  return await target.run(TOOL_OPERATIONS.list, {});
}

/** All gateways that run on this data store, the oldest first; for what only running ones can do. */
export async function resolveGateways(input: CommandInput): Promise<FoundGateway[]> {
  const gateways = await listGateways(input);
  if (gateways.length > 0) return gateways;
  const { label } = parseLocation(input.options.kv);
  throw new GatewayError("SERVER_NOT_RUNNING", {
    message: `No gateway is running on ${label}`,
    recoverySteps: [
      "Start one with `quartermaster start`",
      "Or select its data folder with --data-dir",
    ],
  });
}

/** The same; none is no error. */
export async function listGateways(input: CommandInput): Promise<FoundGateway[]> {
  await using store = await openStore(input);
  return await findGateways(store);
}

export async function openStore(input: CommandInput): Promise<Store> {
  refuseMemory(input);
  return await Store.open({ location: input.options.kv });
}

/** Throws if the data store is in another process's memory. */
export function refuseMemory({ options }: CommandInput): void {
  if (parseLocation(options.kv).kind !== "memory") return;
  throw new GatewayError("CONFIG_INVALID", {
    message: "Cannot access an in-memory data store from outside its gateway",
    recoverySteps: ["Use the gateway's console, or start the gateway with a data folder"],
  });
}

export interface FoundGateway {
  client: GatewayClient;
  /** Where it listens; the address in its status may be one for others. */
  address: string;
  status: GatewayStatus;
}

/** The gateways that run on a store and can be reached from here, the oldest first. */
export async function findGateways(store: Store): Promise<FoundGateway[]> {
  const leases = await new LeasesRepository(store).listAlive();
  const found = await Promise.all(
    leases.toSorted((a, b) => a.startedAt - b.startedAt).map(async (lease) => {
      if (!lease.address) return undefined;
      const client = new GatewayClient(
        lease.address,
        new Credential(
          isElsewhere(store, lease, lease.address)
            ? {}
            : { owner: { gateway: lease, secret: () => signingSecret(store) } },
        ),
      );
      if (!await client.isHealthy()) return undefined;
      const status = await client.status().catch(() => undefined);
      // A lease outlives a killed gateway for a while, and another one may have its port by then.
      const isOwner = status?.pid === lease.pid && status.startedAt === lease.startedAt;
      return status && isOwner ? { client, address: lease.address, status } : undefined;
    }),
  );
  return found.filter((gateway) => gateway !== undefined);
}

/**
 * Whether the address leads to this machine, although the gateway is on another: what answers here
 * must not get a proof that is good there. A file's users are on one machine, whatever its name was.
 */
function isElsewhere({ location }: Store, { host }: Lease, address: string): boolean {
  return location.kind === "remote" && host !== hostname() && isLoopback(new URL(address).hostname);
}

/** Who runs a command, for the audit log: the system's user, if it is known. */
export function commandUser({ env }: Pick<CommandInput, "env">): { user: string; from: string } {
  const name = nonEmpty(env, "USER") ?? nonEmpty(env, "LOGNAME") ?? nonEmpty(env, "USERNAME");
  return {
    user: name ?? "owner",
    from: name === undefined ? "command line" : `command line, ${name}`,
  };
}

export async function serverNames(target: Pick<OperationTarget, "run">): Promise<string[]> {
  return (await listServers(target)).map(({ name }) => name);
}

export async function toolsetNames(target: Pick<OperationTarget, "run">): Promise<string[]> {
  const { toolsets } = await target.run(TOOLSET_OPERATIONS.list, {});
  return toolsets.map(({ name }: { name: string }) => name);
}

/** Throws if there is no such server or toolset, with the names that may have been meant. */
export function checkKnown(noun: "server" | "toolset", name: string, names: string[]): void {
  if (names.includes(name)) return;
  const near = nearestNames(name, names);
  throw new GatewayError(noun === "server" ? "SERVER_NOT_FOUND" : "NOT_FOUND", {
    message: `There is no ${noun} "${name}"`,
    recoverySteps: [`See \`quartermaster ${noun} list\``],
    ...didYouMean(near),
  });
}
