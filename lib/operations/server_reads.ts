import type { BrokenTool } from "../catalog/catalog_tool.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ServerStatus } from "../core/server.ts";
import { z } from "zod";
import { ToolDefinition } from "../core/tool.ts";
import type { ServersModule } from "../servers/module.ts";
import type { StateHistory } from "../servers/status.ts";
import type { ServerPool } from "../servers/pool.ts";
import type { Logs } from "../telemetry/logs.ts";
import type { ServersAdmin } from "./servers_admin.ts";

/** Every tool of every server, disabled ones included, and what their names depend on. */
export const ToolListing = z.object({
  tools: z.array(z.object({
    server: z.string(),
    name: z.string().describe("The server's own name for it"),
    enabled: z.boolean(),
    definition: ToolDefinition,
  })),
  maxNameLength: z.number(),
});
export type ToolListing = z.infer<typeof ToolListing>;

/** What pages and the API read about servers. */
export interface ServerReads {
  list(): ServerStatus[];
  /** The server's last standard error output, oldest first. */
  log(name: string): ReturnType<ReturnType<ServerPool["resolve"]>["log"]["last"]>;
  /** What the gateway's own log says about it, newest first. */
  logged(name: string): ReturnType<Logs["about"]["of"]>;
  /** The states it was in since the start, newest first. */
  states(name: string): ReturnType<StateHistory["of"]>;
  tools(name: string): ToolDefinition[];
  allTools(): ToolListing["tools"];
  /** Invalid tools of all servers; no client is listed them. */
  invalid(): BrokenTool[];
  /** The recorded versions of its tools, or of one. */
  history: ServersAdmin["history"];
}

export function readServers(
  { pool, states }: ServersModule,
  catalog: Catalog,
  logs: Logs,
  admin: ServersAdmin,
): ServerReads {
  return {
    list: () => pool.list(),
    log: (name) => pool.resolve(name).log.last(),
    logged: (name) => logs.about.of(name),
    states: (name) => states.of(name),
    tools: (name) => catalog.of(name).tools.map(({ definition }) => definition),
    allTools: () =>
      pool.list().flatMap(({ name }) => catalog.of(name).tools)
        .map(({ server, name, enabled, definition }) => ({ server, name, enabled, definition })),
    invalid: () => [...catalog.snapshot.servers.values()].flatMap(({ broken }) => broken),
    history: (name, tool) => admin.history(name, tool),
  };
}
