import { loadServers } from "../config/mcp_file.ts";
import { GatewayError } from "../core/errors.ts";
import { nearestNames } from "../core/text.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import type { Store } from "../storage/store.ts";
import { ToolsetsRepository } from "../storage/catalog_repositories.ts";
import type { CommandInput } from "./command.ts";
import { findGateways } from "./operation_target.ts";
import { selfOf } from "./self.ts";
import { listServers } from "./operation_target.ts";

/** The servers there are: as a running gateway has them, else as its next start would. */
export async function serverNames(store: Store, input: CommandInput): Promise<string[]> {
  const [gateway] = await findGateways(store);
  if (gateway) return (await listServers(gateway.client)).map(({ name }) => name);
  const { env, platform, dirs, options } = input;
  const location = { path: options.config, cwd: Deno.cwd(), configDir: dirs.config };
  const loaded = await loadServers({ ...location, env, platform, self: selfOf(input) });
  const names = new Set([...loaded.servers, ...loaded.leftOut].map(({ name }) => name));
  for await (const { value } of new ServersRepository(store).list()) names.add(value.name);
  return [...names].sort();
}

export async function toolsetNames(store: Store): Promise<string[]> {
  const toolsets = await Array.fromAsync(new ToolsetsRepository(store).list());
  return toolsets.map(({ value }) => value.name).sort();
}

/** Throws where there is no such server or toolset, with the names that may have been meant. */
export function checkKnown(noun: "server" | "toolset", name: string, names: string[]): void {
  if (names.includes(name)) return;
  const near = nearestNames(name, names);
  throw new GatewayError(noun === "server" ? "SERVER_NOT_FOUND" : "NOT_FOUND", {
    message: `There is no ${noun} "${name}"`,
    recoverySteps: [`See \`quartermaster ${noun} list\``],
    ...(near.length > 0 ? { hint: `Did you mean ${near.join(", ")}?` } : {}),
  });
}
