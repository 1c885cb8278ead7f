import { parseLocation } from "../storage/location.ts";
import { Store } from "../storage/store.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import type { CommandInput } from "./command.ts";
import { findGateways } from "./find_gateways.ts";
import type { GatewayClient } from "./gateway_client.ts";
import { OfflineServers } from "./offline_servers.ts";

/** One server in a list. */
export interface ServerRow {
  name: string;
  type: string;
  state: string;
  reason: string;
  toolCount: number;
}

export interface ServerTools {
  server: string;
  /** Null: all of them, new ones too. */
  enabled: string[] | null;
  all: string[];
}

/** The servers, whether a gateway runs or not. */
export interface ServersAccess extends AsyncDisposable {
  readonly isRunning: boolean;
  list(): Promise<ServerRow[]>;
  add(name: string, spec: ServerSpec): Promise<ServerRow>;
  remove(name: string): Promise<void>;
  tools(name: string): Promise<ServerTools>;
  setTools(name: string, enabled: string[] | null): Promise<ServerTools>;
}

/** Through the gateway that runs on this data store, else on the store itself. */
export async function openServers(input: CommandInput): Promise<ServersAccess> {
  return await findGateway(input) ?? await OfflineServers.open(input);
}

/** The gateway that runs on this data store, for what only a running one can do. */
export async function resolveGateway(input: CommandInput): Promise<GatewayClient> {
  const gateway = await findGateway(input);
  if (gateway) return gateway;
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
  await using store = await openStore(input);
  return (await findGateways(store))[0]?.client;
}
