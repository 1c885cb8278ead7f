import type { ToolsetsModule } from "../catalog/toolsets/module.ts";
import type { ConfigModule } from "../config/module.ts";
import type { Bus } from "../core/bus.ts";
import { isStarting, type ServerStatus } from "../core/server.ts";
import { VERSION } from "../core/product.ts";
import type { EventHub } from "../http/event_hub.ts";
import type { Readiness } from "../http/direct_answer.ts";
import type { ServerPool } from "../servers/pool.ts";
import type { Store } from "../storage/store.ts";

export interface HealthInput {
  live: { events: EventHub };
  bus: Bus;
  store: Store;
  config: ConfigModule;
  pool: ServerPool;
  toolsets: ToolsetsModule["toolsets"];
  isOptimizing(): boolean;
  telemetry: { uptimeSeconds(): number };
  /** Aborts when the gateway begins to stop. */
  signal: AbortSignal;
}

/** How the gateway as a whole is doing. */
export class GatewayHealth {
  readonly #input: HealthInput;
  /** Publishes the summary to open pages. */
  readonly announce: () => void;

  constructor(input: HealthInput) {
    this.#input = input;
    const announce = () => input.live.events.publish("status", this.summary());
    input.bus.on("serverStatus", announce);
    input.bus.on("serverRemoved", announce);
    input.bus.on("optimizationSwitched", announce);
    input.toolsets.onChange(announce);
    this.announce = announce;
  }

  /** The counts that every page shows. */
  summary() {
    const { pool, config, toolsets, isOptimizing } = this.#input;
    const all = pool.list();
    return {
      servers: all.length,
      ready: all.filter(({ state }) => state === "ready").length,
      starting: all.filter(({ state }) => isStarting(state)).length,
      tools: all.reduce((sum, { toolCount }) => sum + toolCount, 0),
      attention: all.filter(needsAttention).length +
        config.problems().filter(({ severity, server }) => severity === "error" && !server).length,
      toolsets: toolsets.list().length,
      optimizing: isOptimizing(),
    };
  }

  /** The live channel, beginning with the summary. */
  liveEvents = (request: Request): Response => {
    const { live: { events }, signal } = this.#input;
    // A browser that reconnects sends the last event itself; the page's own mark is older.
    const lastEventId = request.headers.get("last-event-id") ??
      new URL(request.url).searchParams.get("since");
    const ends = AbortSignal.any([request.signal, signal]);
    return events.stream(lastEventId, ends, () => [["status", this.summary()]]);
  };

  readiness = (): Readiness => {
    const { pool, store, config, signal } = this.#input;
    const health = store.health();
    const { servers: total, ready, starting } = this.summary();
    const degraded = pool.list().filter(needsAttention)
      .map(({ name, state }) => `Server ${name} is ${state.replace("_", " ")}`);
    if (health.state === "degraded") degraded.unshift("The data store is degraded");
    if (config.isBroken) {
      degraded.unshift("The config file has an error, so the last valid version is in use");
    }
    return {
      ready: !signal.aborted,
      degraded,
      store: health,
      servers: { total, ready, starting },
      version: VERSION,
      uptimeSeconds: this.#input.telemetry.uptimeSeconds(),
    };
  };
}

function needsAttention({ state }: ServerStatus): boolean {
  return state === "failed" || state === "degraded" || state === "needs_login";
}
