import type { ServerSource, ServerSpec, ServerState, ServerStatus } from "../core/server.ts";
import { ToolDefinition } from "../core/tool.ts";
import { z } from "zod";
import type { Logger } from "../telemetry/logs.ts";
import { WeatherServer } from "./demo/weather_server.ts";

export interface PooledServer {
  name: string;
  spec: ServerSpec;
  source: ServerSource;
  /** Why it cannot start, found while its entry was read. */
  problem?: string;
}

interface Entry {
  status: ServerStatus;
  tools: ToolDefinition[];
}

/** Every downstream server with its state and tools. */
export class ServerPool {
  readonly #entries = new Map<string, Entry>();
  readonly #log: Logger;
  readonly #onChange: (status: ServerStatus | undefined) => void;

  constructor(options: { log: Logger; onChange: (status?: ServerStatus) => void }) {
    this.#log = options.log;
    this.#onChange = options.onChange;
  }

  /** Connects what is new and drops what is gone; one that is slow or broken delays nobody. */
  async sync(servers: Iterable<PooledServer>): Promise<void> {
    const wanted = new Map(Array.from(servers, (server) => [server.name, server]));
    for (const name of this.#entries.keys()) {
      if (!wanted.has(name)) this.#remove(name);
    }
    const added = [...wanted.values()].filter(({ name }) => !this.#entries.has(name));
    await Promise.all(added.map((server) => this.#connect(server)));
  }

  list(): ServerStatus[] {
    return Array.from(this.#entries.values(), (entry) => entry.status)
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  tools(name: string): ToolDefinition[] {
    return this.#entries.get(name)?.tools ?? [];
  }

  async #connect(server: PooledServer): Promise<void> {
    if (server.problem) return this.#set(server, "failed", server.problem);
    if (server.spec.disabled) return this.#set(server, "disabled", "Switched off in its entry");
    if (server.spec.type !== "demo") {
      const reason =
        `This version connects to the demo server only, not yet to ${server.spec.type}`;
      return this.#set(server, "failed", reason);
    }
    this.#set(server, "connecting", "Connecting");
    await Promise.resolve();
    const started = performance.now();
    const demo = new WeatherServer();
    const answer = demo.handle({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const { result } = z.object({ result: z.object({ tools: z.array(ToolDefinition) }) })
      .parse(answer);
    this.#set(server, "ready", "Connected", result.tools, performance.now() - started);
  }

  #remove(name: string): void {
    this.#entries.delete(name);
    this.#log.info({ serverName: name }, "Server removed");
    this.#onChange(undefined);
  }

  #set(
    { name, spec, source }: PooledServer,
    state: ServerState,
    reason: string,
    tools: ToolDefinition[] = [],
    latencyMs?: number,
  ): void {
    const status: ServerStatus = {
      name,
      type: spec.type,
      source,
      state,
      reason,
      since: Date.now(),
      toolCount: tools.length,
      ...(latencyMs === undefined ? {} : { latencyMs }),
      ...(state === "failed" ? { lastError: reason } : {}),
    };
    this.#entries.set(name, { status, tools });
    const level = state === "failed" ? "warn" : "info";
    this.#log[level]({ serverName: name, state, reason, tools: tools.length }, `Server ${state}`);
    this.#onChange(status);
  }
}
