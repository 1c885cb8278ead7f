import type { Catalog } from "../catalog/catalog.ts";
import type { ServersModule } from "../servers/module.ts";
import type { Logs } from "../telemetry/logs.ts";
import type { ServersAdmin } from "./servers_admin.ts";

/** What pages read about servers. */
export type ServerReads = ReturnType<typeof readServers>;

export function readServers(
  { pool, states }: ServersModule,
  catalog: Catalog,
  logs: Logs,
  admin: ServersAdmin,
) {
  return {
    list: () => pool.list(),
    /** The server's last standard error output, oldest first. */
    log: (name: string) => pool.resolve(name).log.last(),
    /** What the gateway's own log says about it, newest first. */
    logged: (name: string) => logs.about.of(name),
    /** The states it was in since the start, newest first. */
    states: (name: string) => states.of(name),
    tools: (name: string) => catalog.of(name).tools.map(({ definition }) => definition),
    /** Invalid tools of all servers; no client is listed them. */
    invalid: () => [...catalog.snapshot.servers.values()].flatMap(({ broken }) => broken),
    /** The recorded versions of its tools, or of one. */
    history: (name: string, tool?: string) => admin.history(name, tool),
  };
}
