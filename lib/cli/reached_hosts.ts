import type { Env } from "../config/platform.ts";
import type { ReadOptions } from "../config/options.ts";
import { isolationOf, isRemote, type ServerSpec } from "../core/server.ts";
import { LoginsRepository } from "../storage/logins_repository.ts";

/** This machine: the gateway's own port, its inner connections, and other gateways on the store. */
const THIS_MACHINE = ["127.0.0.1", "[::1]", "localhost"];
/** Variables with URLs that the gateway itself uses. */
const URL_VARIABLES =
  /^(?:VAULT_ADDR|OP_CONNECT_HOST|(?:ANTHROPIC|OPENAI)_BASE_URL|OTEL_EXPORTER_OTLP(?:_\w+)?_ENDPOINT|(?:HTTPS?|ALL)_PROXY)$/i;
/** APIs that are used with a key, if no variable names another place. */
const APIS = {
  ANTHROPIC_API_KEY: "https://api.anthropic.com",
  OPENAI_API_KEY: "https://api.openai.com",
};

/** The hosts that the configuration names, in the form that Deno takes. */
export async function reachedHosts(read: ReadOptions, env: Env): Promise<string[]> {
  const { options } = read;
  const variables = Object.entries(env.toObject?.() ?? {})
    .filter(([name]) => URL_VARIABLES.test(name)).map(([, value]) => value);
  const urls = [
    ...[options.oauthIssuer, options.embeddingsUrl, options.kv, options.publicUrl],
    ...variables,
    ...Object.entries(APIS).flatMap(([key, url]) => env.get(key) ? [url] : []),
    ...await configuredUrls(read, env),
  ];
  const own = options.host.includes(":") ? `[${options.host}]` : options.host;
  return [...new Set([...THIS_MACHINE, own, ...urls.flatMap(permittedHosts)])];
}

/** The URLs of all servers, of those that they are logged in at, and what isolated programs may reach. */
async function configuredUrls(read: ReadOptions, env: Env): Promise<string[]> {
  // As for a command: without a lease, and without connecting.
  const { buildGateway } = await import("../gateway.ts");
  await using gateway = await buildGateway({
    read,
    env,
    cwd: Deno.cwd(),
    port: undefined,
    describeJob: () => ({}),
    commandUser: "",
  });
  const logins = new LoginsRepository(gateway.store, () => Promise.reject(new Error("Not needed")));
  const specs = gateway.pool.list().map(({ name }) => gateway.pool.resolve(name).server.spec);
  return [
    ...specs.flatMap(urlsOf),
    ...(await logins.outlines()).flatMap(({ issuer, tokenEndpoint, revocationEndpoint }) => [
      ...[issuer, tokenEndpoint],
      ...revocationEndpoint === undefined ? [] : [revocationEndpoint],
    ]),
  ];
}

function urlsOf(spec: ServerSpec): string[] {
  if (isRemote(spec)) return [spec.url];
  return (isolationOf(spec)?.net ?? []).map((host) => `http://${host}`);
}

/** Hosts that Deno takes; it refuses to start with any other, which no request could reach either. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/i;

/** At any port: Deno looks a name up only with the permission for all of its host. */
export function permittedHosts(url: string | undefined): string[] {
  const hostname = url === undefined ? undefined : URL.parse(url)?.hostname;
  return hostname !== undefined && HOST.test(hostname) ? [hostname] : [];
}
