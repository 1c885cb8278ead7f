import {
  CLIENT_NAMES,
  type ClientConfigFile,
  clientConfigFiles,
  type ClientId,
  CLIENTS,
  type ClientScope,
  isClient,
} from "../config/clients.ts";
import { type ClientServer, readClientServers } from "../config/client_servers.ts";
import type { GatewayIdentity } from "../config/loops.ts";
import { configError } from "../config/files.ts";
import { isLoopback } from "../config/address.ts";
import { nearest } from "../core/text.ts";
import type { CommandInput } from "./command.ts";

/** What the gateway is called in a client's config unless told. */
export const OWN_NAME = "quartermaster";

const ENDPOINT = /^\/(mcp|(toolsets|servers|s)\/[^/]+\/mcp|(gateway|g)\/mcp)$/;

/** The one client a command takes. */
export function oneClient(command: string, { positionals }: CommandInput): ClientId {
  const [word, ...others] = positionals;
  if (word !== undefined && others.length === 0 && isClient(word)) return word;
  const guess = word === undefined || others.length > 0 ? undefined : nearest(word, CLIENTS);
  throw configError(
    word === undefined || others.length > 0
      ? `${command} takes the name of one client`
      : `There is no client "${word}" here`,
    guess === undefined ? `Give one of ${CLIENTS.join(", ")}` : `Did you mean ${guess}?`,
  );
}

/** What `--scope` says, checked against the scopes that the client has. */
export function scopeOf(client: ClientId, input: CommandInput): ClientScope | undefined {
  const scope = input.flags.get("scope");
  if (scope === undefined) return undefined;
  if (scope !== "user" && scope !== "project") {
    throw configError(`Cannot use --scope "${scope}"`, "Give user or project");
  }
  if (filesOf(client, input).some((file) => file.scope === scope)) return scope;
  const name = CLIENT_NAMES[client];
  if (scope === "user") throw configError(`Cannot tell where ${name} keeps it`, "Set HOME");
  throw configError(`${name} has no config of a project`, "Leave --scope out");
}

export function filesOf(client: ClientId, { env }: Pick<CommandInput, "env">): ClientConfigFile[] {
  return clientConfigFiles({ os: Deno.build.os, env, cwd: Deno.cwd() })
    .filter((file) => file.client === client);
}

/** "Claude Code", and for which projects a file of its counts. */
export function fileLabel({ client, scope }: Pick<ClientConfigFile, "client" | "scope">): string {
  return scope === "project" ? `${CLIENT_NAMES[client]} in this project` : CLIENT_NAMES[client];
}

/** All servers of a client's file; undefined where there is none. */
export async function serversIn(
  file: ClientConfigFile,
  { env, platform }: CommandInput,
  self: GatewayIdentity,
): Promise<ClientServer[] | undefined> {
  const found = await readClientServers(file, { env, platform, cwd: Deno.cwd(), self });
  return found?.servers;
}

/** Whether an entry is this gateway, or is what `connect` wrote when the port was another one. */
export function isOwnEntry({ writtenAs, isSelf, spec }: ClientServer): boolean {
  if (isSelf) return true;
  if (writtenAs !== OWN_NAME || !("url" in spec) || !URL.canParse(spec.url)) return false;
  const { hostname, pathname } = new URL(spec.url);
  return isLoopback(hostname) && ENDPOINT.test(pathname);
}

/** Whether an entry stands where `connect` writes, and not under one of a user's projects. */
export function isInSection(server: ClientServer, { scope }: ClientConfigFile): boolean {
  return scope === "project" || server.project === undefined;
}
