import { fromFileUrl, join } from "@std/path";
import { z } from "zod";
import { DEMO_SERVER } from "./config/demo.ts";
import type { Env } from "./config/env.ts";
import { loadServers } from "./config/mcp_file.ts";
import type { ReadOptions } from "./config/options.ts";
import { formatProblem } from "./config/problem.ts";
import type { ServerStatus } from "./core/server.ts";
import { VERSION } from "./core/version.ts";
import { type PooledServer, ServerPool } from "./downstream/server_pool.ts";
import { EventHub } from "./http/event_hub.ts";
import { Guard } from "./http/guard.ts";
import type { Readiness } from "./http/health.ts";
import { followGeneration } from "./storage/generation.ts";
import { keepLease } from "./storage/lease_keeper.ts";
import { LeasesRepository } from "./storage/leases_repository.ts";
import { ServersRepository } from "./storage/servers_repository.ts";
import { type Setting, SettingsRepository } from "./storage/settings_repository.ts";
import { Store } from "./storage/store.ts";
import { Logs } from "./telemetry/logs.ts";
import { Metrics } from "./telemetry/metrics.ts";

export interface ComposeInput {
  read: ReadOptions;
  env: Env;
  cwd: string;
  /** The port that is listened on. */
  port: number;
}

/** Kept where the user has sent the demo server away. */
const DEMO_REMOVED: Setting<boolean> = { name: "demoRemoved", schema: z.boolean() };

export type Gateway = Awaited<ReturnType<typeof compose>>;

/** Builds the whole gateway; disposing it takes everything down in reverse. */
export async function compose({ read, env, cwd, port }: ComposeInput) {
  const { options, platform } = read;
  const startedAt = Date.now();
  const localAddress = `http://${hostInUrl(options.host)}:${port}`;
  const address = options.publicUrl ?? localAddress;
  await using stack = new AsyncDisposableStack();

  const logs = stack.use(
    await Logs.open({
      level: options.logLevel,
      pretty: options.logFormat === "pretty" ||
        (options.logFormat === "auto" && Deno.stderr.isTerminal()),
      development: options.development,
      keepFiles: options.logRetention,
      ...(options.dataDir === undefined ? {} : { folder: join(options.dataDir, "logs") }),
    }),
  );
  const log = logs.room("gateway");

  const configured = await loadServers({
    ...(options.config === undefined ? {} : { path: options.config }),
    cwd,
    configDir: read.dirs.config,
    env,
    self: {
      host: options.host,
      port,
      publicUrl: options.publicUrl,
      mainModule: fromFileUrl(new URL("../main.ts", import.meta.url)),
    },
    platform,
  });
  for (const server of configured.servers) logs.redactor.learn(server.secrets);
  const problems = [...read.problems, ...configured.problems];
  for (const problem of problems) {
    logs.room("config")[problem.severity === "error" ? "error" : "warn"](formatProblem(problem));
  }

  const storeLog = logs.room("storage");
  const onWarning = (message: string, details?: object) => storeLog.warn(details ?? {}, message);
  const store = stack.use(await Store.open({ location: options.kv, onWarning }));
  const settings = new SettingsRepository(store);
  const added = new ServersRepository(store);

  const closing = new AbortController();
  stack.defer(() => closing.abort());
  stack.use(await keepLease(new LeasesRepository(store), { address, startedAt, onWarning }));

  const metrics = new Metrics();
  const events = new EventHub();
  const servers = new ServerPool({
    log: logs.room("downstream"),
    onChange(status) {
      if (status) events.publish("server", status);
      events.publish("status", summary());
    },
  });

  async function wantedServers(): Promise<PooledServer[]> {
    const fromStore = (await Array.fromAsync(added.list())).map(({ value }): PooledServer => ({
      name: value.name,
      spec: value.spec,
      source: { kind: "store" },
    }));
    const names = new Set(configured.servers.map(({ name }) => name));
    const all = [...configured.servers, ...fromStore.filter(({ name }) => !names.has(name))];
    const isConfigured = all.length > 0 || configured.declared > 0;
    if (isConfigured || (await settings.find(DEMO_REMOVED))?.value) return all;
    return [DEMO_SERVER];
  }

  function summary() {
    const all = servers.list();
    return {
      servers: all.length,
      ready: all.filter(({ state }) => state === "ready").length,
      tools: all.reduce((sum, { toolCount }) => sum + toolCount, 0),
      attention: all.filter(needsAttention).length +
        problems.filter(({ severity, server }) => severity === "error" && !server).length,
    };
  }

  await servers.sync(await wantedServers());
  const following = followGeneration(store, async () => servers.sync(await wantedServers()), {
    signal: closing.signal,
  });
  stack.defer(() => following);

  const countRequest = metrics.counter("quartermaster_http_requests_total", "HTTP requests");
  const timeRequest = metrics.durations("quartermaster_http_request_seconds", "HTTP durations");
  metrics.gauge("quartermaster_uptime_seconds", "Time since the start", uptime);
  metrics.gauge("quartermaster_live_clients", "Open live channels", () => events.listenerCount);
  metrics.gauge("quartermaster_memory_bytes", "Resident memory", () => Deno.memoryUsage().rss);
  metrics.gauge("quartermaster_servers", "Downstream servers by state", () => {
    const counts = Map.groupBy(servers.list(), ({ state }) => state);
    return [...counts].map(([state, list]) => [{ state }, list.length]);
  });
  metrics.gauge("quartermaster_tools", "Tools of all servers", () => summary().tools);

  function uptime(): number {
    return Math.round((Date.now() - startedAt) / 1000);
  }

  const memoryLog = logs.room("memory");
  const memoryTimer = setInterval(() => memoryLog.debug(Deno.memoryUsage(), "Memory"), 60_000);
  Deno.unrefTimer(memoryTimer);
  stack.defer(() => clearInterval(memoryTimer));
  log.info({ version: VERSION, store: store.location.label, config: configured.file }, "Started");

  const parts = stack.move();
  return {
    version: VERSION,
    startedAt,
    platform,
    options: { options, origins: read.origins },
    address,
    localAddress,
    configFile: configured.file,
    problems,
    logs,
    store,
    servers,
    events,
    metrics,
    guard: new Guard({
      host: options.host,
      port,
      publicUrl: options.publicUrl,
      maxBody: options.maxBody,
    }),
    requestLog: logs.room("http"),

    countRequest(method: string, status: number, seconds: number): void {
      countRequest({ method, status: String(status) });
      timeRequest(seconds);
    },

    liveEvents(request: Request): Response {
      const signal = AbortSignal.any([request.signal, closing.signal]);
      const lastEventId = request.headers.get("last-event-id");
      return events.stream(lastEventId, signal, () => [["status", summary()]]);
    },

    readiness(): Readiness {
      const storeHealth = store.health();
      const { servers: total, ready } = summary();
      const degraded = servers.list().filter(needsAttention)
        .map(({ name, state }) => `Server ${name} is ${state.replace("_", " ")}`);
      if (storeHealth.state === "degraded") degraded.unshift("The data store is degraded");
      for (const { severity, message } of problems) {
        if (severity === "error") degraded.push(message);
      }
      return {
        ready: !closing.signal.aborted,
        degraded,
        store: storeHealth,
        servers: { total, ready },
        version: VERSION,
        uptimeSeconds: uptime(),
      };
    },

    /** Sends the demo server away, or brings it back. */
    async setDemoRemoved(removed: boolean): Promise<void> {
      await settings.save(DEMO_REMOVED, removed);
      await servers.sync(await wantedServers());
    },

    /** Ends what would keep a drain waiting: open streams. */
    close(): void {
      closing.abort();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      log.info("Stopped");
      await parts.disposeAsync();
    },
  };
}

function needsAttention({ state }: ServerStatus): boolean {
  return state === "failed" || state === "degraded" || state === "needs_login";
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
