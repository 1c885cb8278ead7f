import {
  CLIENT_NAMES,
  type ClientConfigFile,
  clientConfigFiles,
  type ClientId,
  CLIENTS,
  type ClientScope,
  isClient,
} from "../config/clients.ts";
import type { ClientEntry } from "../config/client_dialects.ts";
import { type ClientServer, readClientServers } from "../config/client_servers.ts";
import type { GatewayIdentity } from "../config/loops.ts";
import { configError } from "../config/files.ts";
import { isLoopback } from "../config/address.ts";
import { nearestOr } from "../core/text.ts";
import type { CommandInput } from "./command.ts";
import * as z from "zod";
import { fromFileUrl } from "@std/path";
import { MAIN } from "../core/product.ts";

export const OWN_NAME = "quartermaster";

const ENDPOINT = /^\/(mcp|(toolsets|servers|s)\/[^/]+\/mcp|(gateway|g)\/mcp)$/;

export function oneClient({ positionals: [word = ""] }: CommandInput): ClientId {
  if (isClient(word)) return word;
  const advice = nearestOr(word, CLIENTS, `Use one of ${CLIENTS.join(", ")}`);
  throw configError(`Unknown client "${word}"`, advice);
}

/** What `--scope` says, checked against the scopes that the client has. */
export function scopeOf(client: ClientId, input: CommandInput): ClientScope | undefined {
  const scope = input.flags.get("scope");
  if (scope === undefined) return undefined;
  if (scope !== "user" && scope !== "project") {
    throw configError(`Cannot use --scope "${scope}"`, "Use user or project");
  }
  if (filesOf(client, input).some((file) => file.scope === scope)) return scope;
  const name = CLIENT_NAMES[client];
  if (scope === "user") throw configError(`Cannot locate the config of ${name}`, "Set HOME");
  throw configError(`${name} does not support project configs`, "Omit --scope");
}

export function filesOf(client: ClientId, { env }: Pick<CommandInput, "env">): ClientConfigFile[] {
  return clientConfigFiles({ os: Deno.build.os, env, cwd: Deno.cwd() })
    .filter((file) => file.client === client);
}

/** The client's name, such as "Claude Code", with "in this project" for a project's file. */
export function fileLabel({ client, scope }: Pick<ClientConfigFile, "client" | "scope">): string {
  return scope === "project" ? `${CLIENT_NAMES[client]} in this project` : CLIENT_NAMES[client];
}

/** All servers of a client's file. */
export async function serversIn(
  file: Parameters<typeof readClientServers>[0],
  { env, platform }: CommandInput,
  self: GatewayIdentity,
): Promise<ClientServer[]> {
  const found = await readClientServers(file, { env, platform, cwd: Deno.cwd(), self });
  return found?.servers ?? [];
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

/** Stands where a client's token belongs. */
export const TOKEN_PLACE = "YOUR_TOKEN";

/** The gateway is on this machine: one that takes longer says nothing about tokens either. */
const LIMIT_MS = 5_000;

const WithHeaders = z.looseObject({ headers: z.record(z.string(), z.string()) });
const WithEnv = z.looseObject({ env: z.record(z.string(), z.unknown()) });

/** Whether a gateway that runs lets in only those who have a token. */
export async function asksForToken(address: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const response = await fetch(new URL("/api/status.show", address), { signal });
    await response.body?.cancel();
    return response.status === 401;
  } catch {
    return false;
  }
}

export function withTokenPlace(entry: ClientEntry): ClientEntry {
  // A gateway started as a program reads the data itself and needs no token.
  if (!("url" in entry) || Object.keys(headersOf(entry)).some(isAuthorization)) return entry;
  const headers = { Authorization: `Bearer ${TOKEN_PLACE}`, ...headersOf(entry) };
  return { ...entry, ...{ headers } };
}

/** The entry with what its owner put into the one before: headers and variables, tokens among them. */
export function withOwn(entry: ClientEntry, before: unknown): ClientEntry {
  const env = WithEnv.safeParse(before).data?.env;
  // A placeholder is not a token; if one is needed, it is added again.
  const headers = Object.entries(headersOf(before)).filter(([name, value]) =>
    !(isAuthorization(name) && value === `Bearer ${TOKEN_PLACE}`)
  );
  if ("url" in entry) {
    return headers.length === 0 ? entry : { ...entry, ...{ headers: Object.fromEntries(headers) } };
  }
  return env === undefined ? entry : { ...entry, ...{ env } };
}

function headersOf(entry: unknown): Record<string, string> {
  return WithHeaders.safeParse(entry).data?.headers ?? {};
}

/** Names of headers are the same in any case. */
function isAuthorization(name: string): boolean {
  return name.toLowerCase() === "authorization";
}

/** The gateway of this checkout as an entry in a config could point at it. */
export function selfOf(
  { options }: Pick<CommandInput, "options">,
  address?: string,
): GatewayIdentity {
  const port = address === undefined ? options.port : Number(new URL(address).port || 80);
  return { host: options.host, port, publicUrl: options.publicUrl, mainModule: fromFileUrl(MAIN) };
}
