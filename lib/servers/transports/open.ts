import {
  isProgram,
  isRemote,
  type ProgramSpec,
  type RemoteSpec,
  type ServerSpec,
} from "../../core/server.ts";
import type { PackageLock } from "../packages/package_lock.ts";
import type { PooledServer } from "../server.ts";
import type { RemoteOptions, ServerCredentials } from "./origin_client.ts";
import type { Program } from "./stdio.ts";
import { type Transport, TransportClosed, type TransportEvents } from "./transport.ts";

export interface TransportContext
  extends Pick<Program, "owner" | "installs" | "isolator" | "mask" | "maxMessage"> {
  canSpawn: boolean;
  /** Has programs run their pinned packages. */
  packages: Pick<PackageLock, "prepare">;
  fill(spec: ServerSpec): Promise<ServerSpec>;
  credentialsFor(name: string, spec: ServerSpec): ServerCredentials | undefined;
  /** The fetch for an address that must be checked; undefined for the platform's own. */
  fetchFor(server: PooledServer, url: string): Promise<typeof fetch | undefined>;
}

// Each is loaded when needed: a gateway without such servers should not carry it in memory.
const PROGRAMS: Record<ProgramSpec["type"], Open<Program>> = {
  async stdio(program, events, signal) {
    const { StdioTransport } = await import("./stdio.ts");
    return await StdioTransport.open(program, events, signal);
  },
};
const REMOTES: Record<RemoteSpec["type"], Open<RemoteOptions>> = {
  async http(options, events) {
    const { FallbackTransport } = await import("./http.ts");
    return new FallbackTransport(options, events);
  },
  async sse(options, events) {
    const { SseTransport } = await import("./sse.ts");
    return new SseTransport(options, events);
  },
};

async function openDemo(events: TransportEvents): Promise<Transport> {
  const { InProcessTransport } = await import("./in_process.ts");
  const { weatherServer } = await import("../demo/weather_server.ts");
  return await InProcessTransport.open(weatherServer(), events);
}

type Open<Options> = (
  options: Options,
  events: TransportEvents,
  signal: AbortSignal,
) => Promise<Transport>;

export async function openTransport(
  server: PooledServer,
  events: TransportEvents,
  signal: AbortSignal,
  { canSpawn, packages, fill, credentialsFor, fetchFor, ...context }: TransportContext,
): Promise<Transport> {
  const { name } = server;
  const spec = await fill(server.spec);
  if (isProgram(spec)) {
    const program = { ...spec, ...context, name, baseEnv: Deno.env.toObject() };
    if (!canSpawn) {
      const { deployedProgram, deployRefusal } = await import("../processes/deployed.ts");
      const refusal = deployRefusal(server);
      if (refusal !== undefined) throw new TransportClosed("refused", refusal);
      return await PROGRAMS[spec.type](deployedProgram(program), events, signal);
    }
    const pinned = await packages.prepare(server, program, events, signal);
    return await PROGRAMS[spec.type](pinned, events, signal);
  }
  if (!isRemote(spec)) return await openDemo(events);
  const { type, url, headers } = spec;
  // By the entry as it is written: a secret in it cannot make its address another host's.
  const credentials = credentialsFor(name, server.spec);
  const fetch = await fetchFor(server, url);
  const { maxMessage } = context;
  const target = { url, headers, serverName: name, credentials, maxMessage };
  const options = fetch ? { ...target, fetch } : target;
  return await REMOTES[type](options, events, signal);
}
