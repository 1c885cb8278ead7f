import { dirname, fromFileUrl, join } from "@std/path";
import { z } from "zod";
import type { BrokenTool } from "./catalog/catalog_tool.ts";
import { DEMO_SERVER } from "./config/demo.ts";
import type { Env } from "./config/env.ts";
import type { ReadOptions } from "./config/options.ts";
import type { ServerStatus } from "./core/server.ts";
import type { ToolDefinition } from "./core/tool.ts";
import { ROOT } from "./core/root.ts";
import { VERSION } from "./core/version.ts";
import { composeAccess } from "./compose_access.ts";
import { composeAudit } from "./compose_audit.ts";
import { composeConfig } from "./compose_config.ts";
import { composeConsole } from "./compose_console.ts";
import { composeControl } from "./compose_control.ts";
import { composeDoors } from "./compose_doors.ts";
import { composeGuide } from "./compose_guide.ts";
import { composeLive } from "./compose_live.ts";
import { composeMetrics } from "./compose_metrics.ts";
import { composeOptimization } from "./compose_optimization.ts";
import { composeRestore } from "./compose_restore.ts";
import { composeReview } from "./compose_review.ts";
import { composeSecrets } from "./compose_secrets.ts";
import { composeServers } from "./compose_servers.ts";
import { composeToolsets } from "./compose_toolsets.ts";
import { StateHistory } from "./downstream/state_history.ts";
import { EventHub } from "./http/event_hub.ts";
import { Guard } from "./http/guard.ts";
import type { Readiness } from "./http/health.ts";
import { UPLOADS } from "./http/read_upload.ts";
import { inRequestScope } from "./http/request_scope.ts";
import type { Admits } from "./routing/resolve.ts";
import { followGeneration } from "./storage/generation.ts";
import { type Setting, SettingsRepository } from "./storage/settings_repository.ts";
import { Store } from "./storage/store.ts";
import type { ToolOverride } from "./storage/tool_metadata_repository.ts";
import { KeptTexts } from "./surfaces/kept_texts.ts";
import { Logs } from "./telemetry/logs.ts";

export interface ComposeInput {
  read: ReadOptions;
  env: Env;
  cwd: string;
  /** The port that is listened on; undefined where there is none. */
  port: number | undefined;
}

/** Kept where the user has sent the demo server away. */
const DEMO_REMOVED: Setting<boolean> = { name: "demoRemoved", schema: z.boolean() };
const MEMORY_EVERY_MS = 60_000;

export type Gateway = Awaited<ReturnType<typeof compose>>;

/** Builds the whole gateway; disposing it takes everything down in reverse. */
export async function compose({ read, env, cwd, port: listensOn }: ComposeInput) {
  const { options, platform } = read;
  const startedAt = Date.now();
  const port = listensOn ?? 0;
  // Empty, so that nobody who finds our lease tries to reach us.
  const localAddress = listensOn === undefined ? "" : `http://${hostInUrl(options.host)}:${port}`;
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
  for (const secret of [options.embeddingsKey, options.adminToken, options.secretKey]) {
    if (secret !== undefined) logs.redactor.learn([secret]);
  }
  const log = logs.room("gateway");
  stack.defer(() => log.info("Stopped"));

  const self = {
    host: options.host,
    port,
    publicUrl: options.publicUrl,
    mainModule: fromFileUrl(new URL("main.ts", ROOT)),
  };
  const config = await composeConfig({ read, env, cwd, self, logs });

  const storeLog = logs.room("storage");
  const onWarning = (message: string, details?: object) => storeLog.warn(details ?? {}, message);
  const restore = await composeRestore({ location: options.kv, platform, log: storeLog });
  const store = stack.use(await Store.open({ location: options.kv, onWarning }));
  const learn = (values: string[]) => logs.redactor.learn(values);
  const audit = composeAudit({
    stack,
    store,
    redactor: logs.redactor,
    nameOf: (principal) => access.nameOf(principal),
    onNoted: () => live.tell("audit"),
    onWarning,
  });
  const onAudit = audit.note;
  if (restore.applied?.ok) {
    const { ok: _, ...after } = restore.applied;
    onAudit({ action: "data.restore", subject: "data store", after });
  }
  const secrets = composeSecrets({ store, options, platform, learn, onAudit });
  const settings = new SettingsRepository(store);
  const closing = new AbortController();

  const review = composeReview({
    stack,
    store,
    onWarning,
    onChanged(server) {
      const known = pool.find(server);
      // Its status says how many tools it has, and follows its list.
      if (known && known.status.toolCount !== catalog.of(server).tools.length) {
        void known.refreshTools();
      }
      live.tell("tools");
    },
  });
  const { catalog } = review;
  const events = new EventHub();
  const { metrics, countRequest, uptimeSeconds } = composeMetrics({
    startedAt,
    servers: () => pool.list(),
    liveClients: () => events.listenerCount,
  });
  const generation = await store.generation();

  const states = new StateHistory();
  /** Not there yet while the first servers report. */
  let doors: ReturnType<typeof composeDoors> | undefined;
  const { pool, admin, reviewAdmin, login, consents, wanted, leaseId, ...processes } =
    await composeServers({
      stack,
      store,
      secrets,
      review,
      logs,
      platform,
      self,
      cwd,
      env,
      allowPrivate: options.allowPrivate,
      address: localAddress,
      startedAt,
      signal: closing.signal,
      onWarning,
      onStatus(status) {
        states.note(status);
        events.publish("server", status, status.name);
        announce();
        doors?.recheck();
      },
      onLine: (name) => live.wrote(name),
      onRemoved(name) {
        states.forget(name);
        logs.about.forget(name);
        events.publish("server", { name }, name);
        announce();
        doors?.removed(name);
      },
      sync,
      onAudit,
      onReviewed: onAudit,
      onConsents: () => live.tell("settings"),
      removeDemo: () => setDemoRemoved(true),
    });
  stack.use(pool);
  const { access, ...coming } = await composeAccess({
    stack,
    store,
    options,
    platform,
    address,
    run: { pid: Deno.pid, startedAt },
    onChanged(owners) {
      doors?.rightsChanged(owners);
      live.tell("settings");
    },
    onAudit,
    onWarning,
  });
  const admits: Admits = (principal, tool) => access.admits(principal, tool);
  const { toolsets, toolsetsAdmin, tokens, ...routing } = composeToolsets({
    stack,
    store,
    catalog,
    pool,
    logs,
    maxNameLength: options.maxNameLength,
    admits,
    admitsToolset: (principal, name) => access.admitsToolset(principal, name),
    onAudit,
  });
  const { guide, activity, ...knowledge } = composeGuide({
    stack,
    store,
    catalog,
    pool,
    names: routing.names,
    processId: leaseId,
    tokens,
    options,
    admits,
    admitsServer: (principal, name) => access.admitsServer(principal, name),
    mayManage: (principal) => access.grants(principal).may("manage"),
    platform,
    redactor: logs.redactor,
    onProgress: (progress) => events.publish("embeddings", progress),
    onWarning,
  });

  const { calls } = knowledge;
  const live = composeLive({
    stack,
    store,
    leaseId,
    events,
    catalog,
    toolsets,
    activity,
    calls,
    announce,
  });

  const control = await composeControl({
    stack,
    store,
    pool,
    access,
    toolsets,
    logs,
    address,
    onChange: () => live.tell("sessions"),
    onAudit,
  });
  const optimization = composeOptimization({
    ...processes,
    stack,
    store,
    catalog,
    pool,
    names: routing.names,
    toolsets,
    options,
    env,
    platform,
    logs,
    leaseId,
    onJob: live.tellJob,
    onChanged: live.changedOptimization,
    onSwitched() {
      announce();
      live.tell("settings");
      doors?.recheck();
    },
    onAudit,
    screen: (server, description) => review.screen.problemOf(server, description),
    mayPromote: (principal) => access.grants(principal).may("manage"),
    onWarning,
    signal: closing.signal,
  });

  // One after the other, or what was read earlier could be applied later.
  let syncing: Promise<void> = Promise.resolve();
  /** Makes everything agree with the config file and the store. */
  function sync(): Promise<void> {
    const synced = syncing.then(applyWanted);
    syncing = synced.catch(() => {});
    return synced;
  }

  async function applyWanted(): Promise<void> {
    // What cannot be read of these is no reason to be without servers.
    const readable = (what: string, loading: Promise<void>) =>
      loading.catch((error) =>
        onWarning(`Cannot read ${what}: what was read before stays`, { error })
      );
    const [servers] = await Promise.all([
      wanted(config.configured),
      readable("the tokens", coming.load()),
      readable("the toolsets", toolsets.load()),
      readable("what was said of tools", loadSaid()),
      readable("the modes of toolsets", control.toolsetModes.load()),
      readable("the promoted descriptions", optimization.load()),
    ]);
    const isDemoWanted = servers.length === 0 && config.configured.declared === 0 &&
      !(await settings.find(DEMO_REMOVED))?.value;
    pool.sync(isDemoWanted ? [DEMO_SERVER] : servers);
  }

  /** Takes up what people have said of tools, and shows it. */
  async function loadSaid(): Promise<void> {
    if (await knowledge.load()) live.tell("tools");
  }

  async function setDemoRemoved(removed: boolean): Promise<void> {
    await settings.save(DEMO_REMOVED, removed);
    onAudit({ action: removed ? "server.remove" : "server.restore", subject: DEMO_SERVER.name });
    await sync();
  }

  function announce(): void {
    events.publish("status", summary());
  }

  function summary() {
    const all = pool.list();
    return {
      servers: all.length,
      ready: all.filter(({ state }) => state === "ready").length,
      tools: all.reduce((sum, { toolCount }) => sum + toolCount, 0),
      attention: all.filter(needsAttention).length +
        config.problems().filter(({ severity, server }) => severity === "error" && !server).length,
      toolsets: toolsets.list().length,
      optimizing: optimization.isEnabled(),
    };
  }

  // Each that waits for the end stands before what announces it: a stack is taken down from its top.
  const announceEnd = () => stack.defer(() => closing.abort());
  await sync();
  const following = followGeneration(store, sync, { signal: closing.signal, since: generation });
  stack.defer(() => following);
  announceEnd();
  if (platform.canWrite) {
    const taken = async () => {
      await sync();
      announce();
    };
    const watching = config.follow(taken, {
      signal: closing.signal,
      unwatchable: store.location.kind === "file" ? dirname(store.location.path) : undefined,
    });
    stack.defer(() => watching);
    announceEnd();
  }

  const opened = doors = composeDoors({
    ...routing,
    stack,
    store,
    pool,
    catalog,
    admin,
    toolsets,
    toolsetsAdmin,
    guide,
    optimization,
    access,
    gate: control.gate,
    texts: new KeptTexts(review.screen),
    onSessions: () => live.tell("sessions"),
    onCallEnded: (scope) => control.gate.ended(scope),
    onToolCall: (call) => knowledge.recorder.record(call),
    logs,
    metrics,
    maxBody: options.maxBody,
    onWarning,
    signal: closing.signal,
  });

  const guard = new Guard({ ...options, port, uploads: UPLOADS });

  const memoryLog = logs.room("memory");
  const memoryTimer = setInterval(
    () => memoryLog.debug(Deno.memoryUsage(), "Memory"),
    MEMORY_EVERY_MS,
  );
  stack.defer(() => clearInterval(memoryTimer));
  log.info(
    { version: VERSION, store: store.location.label, config: config.configured.file },
    "Started",
  );

  secrets.sealSoon(stack, onWarning);
  // Begun before all else: programs that do not want to end take longest.
  stack.defer(() => void pool[Symbol.asyncDispose]());
  const parts = stack.move();
  return {
    version: VERSION,
    startedAt,
    platform,
    options: { options, origins: read.origins },
    address,
    localAddress,
    logs,
    store,
    restore,
    /** Who decided what. */
    audit,
    events,
    metrics,
    admin,
    /** What entries refer to by name; loaded at first use. */
    secrets: () =>
      secrets.admin(
        () => Promise.resolve(pool.list().flatMap(({ name }) => pool.find(name)?.server ?? [])),
        sync,
      ),
    /** Logins to downstream servers; loaded at first use. */
    serverLogins: () => login.admin(),
    clientDocument: () => login.clientDocument(),
    /** Programs that wait for their owner's consent; loaded at first use. */
    consents,
    doors: opened,
    ...composeConsole({
      context: { cwd, env, self, platform },
      catalog,
      pool,
      gate: control.gate,
      onToolCall: (call) => knowledge.recorder.record(call),
    }),
    /** Calls that wait for a person; loaded at first use. */
    approvals: control.approvals,
    toolsetModes: control.toolsetModes,
    /** What waits for a person: held changes, notices and findings. */
    review: reviewAdmin,
    toolsets: toolsetsAdmin,
    guide,
    tokens,
    access,
    /** Tokens and projects. */
    accessAdmin: coming.admin,
    /** Who is let into the console and its API. */
    consoleGate: coming.gate,
    /** Where clients learn how to get a token; missing without an identity provider. */
    resourceMetadata: coming.resourceMetadata,
    consoleLogins: coming.logins,
    loginAttempts: coming.attempts,
    /** Loaded at first use. */
    optimization: () => optimization.admin(),
    isOptimizing: () => optimization.isEnabled(),
    /** What evaluates, and a way to try it; loaded at first use. */
    evaluator: () => optimization.evaluator(),
    promotions: optimization.promotions,
    toolMetadata: knowledge.toolMetadata,
    /** Keeps what somebody says of a tool, and takes it up at once. */
    async describeTool(override: ToolOverride, versionstamp?: string | null): Promise<void> {
      const { server, tool, ...after } = override;
      const said = (await knowledge.toolMetadata.find(server, tool))?.value;
      await knowledge.toolMetadata.save(override, versionstamp);
      const { server: _server, tool: _tool, ...before } = said ?? {};
      const subject = `${server}.${tool}`;
      onAudit({ action: "tool.describe", subject, ...(said ? { before } : {}), after });
      await loadSaid();
    },
    searchProgress: knowledge.searchProgress,
    searchTrouble: knowledge.searchTrouble,
    reindexSearch: knowledge.reindexSearch,
    /** Calls, errors and durations of the last 24 hours. */
    callStats: knowledge.callStats,
    /** Says on the live channel that something which pages show was changed. */
    tellLive: live.tell,
    /** Calls, searches and tokens by day, newest first. */
    activityDays: () => knowledge.calls.days(),
    /** Every call that is known, with what was said in the last ones. */
    calls: knowledge.reader,
    /** Forgets them all, on open pages too. */
    async clearCalls(): Promise<void> {
      opened.settle();
      await knowledge.clearCalls();
      onAudit({ action: "activity.clear", subject: "activity log" });
      log.info("The activity log was cleared");
      events.tell("activity", { cleared: true });
    },
    /** Tools that are told from another by the hash at the end of their flat name alone. */
    collisions: () => routing.names.of(catalog.snapshot).collisions(),
    /** The same of prompts, as far as somebody has had them listed. */
    promptCollisions: routing.promptCollisions,
    guard,
    requestLog: logs.room("http"),

    /** Another one whenever the tools of any server have changed. */
    get toolsVersion(): number {
      return catalog.snapshot.version;
    },

    get configFile(): string | undefined {
      return config.configured.file;
    },

    get problems() {
      return config.problems();
    },

    servers: {
      list: (): ServerStatus[] => pool.list(),
      /** What the server last wrote to its error output, oldest first. */
      log: (name: string) => pool.resolve(name).log.last(),
      /** What the gateway's own log has of it, newest first. */
      logged: (name: string) => logs.about.of(name),
      /** The states it was in since the start, newest first. */
      states: (name: string) => states.of(name),
      tools: (name: string): ToolDefinition[] =>
        catalog.of(name).tools.map(({ definition }) => definition),
      /** What servers list that is no valid tool, and so is shown to no client. */
      invalid: (): BrokenTool[] =>
        [...catalog.snapshot.servers.values()].flatMap(({ broken }) => broken),
      /** What is remembered of its tools, or of one alone. */
      history: (name: string, tool?: string) => admin.history(name, tool),
    },

    countRequest,

    /** Answers at an MCP door after the checks that every request has to pass. */
    async atDoor(request: Request, answer: () => Promise<Response>): Promise<Response> {
      try {
        guard.check(request);
        return await answer();
      } catch (error) {
        // Rare enough for what a success does without: a line in the log, a count, all headers.
        const fail = () => Promise.reject(error);
        return await inRequestScope(this, request, crypto.randomUUID(), fail);
      }
    },

    liveEvents(request: Request): Response {
      const signal = AbortSignal.any([request.signal, closing.signal]);
      // A browser that comes back names the last event itself; what a page was made with is older.
      const lastEventId = request.headers.get("last-event-id") ??
        new URL(request.url).searchParams.get("since");
      return events.stream(lastEventId, signal, () => [["status", summary()]]);
    },

    readiness(): Readiness {
      const storeHealth = store.health();
      const { servers: total, ready } = summary();
      const degraded = pool.list().filter(needsAttention)
        .map(({ name, state }) => `Server ${name} is ${state.replace("_", " ")}`);
      if (storeHealth.state === "degraded") degraded.unshift("The data store is degraded");
      if (config.isBroken) {
        degraded.unshift("The config file has an error and is not in use as it is now");
      }
      return {
        ready: !closing.signal.aborted,
        degraded,
        store: storeHealth,
        servers: { total, ready },
        version: VERSION,
        uptimeSeconds: uptimeSeconds(),
      };
    },

    setDemoRemoved,

    /** Ends what would keep a drain waiting: open streams. */
    close(): void {
      closing.abort();
    },

    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function needsAttention({ state }: ServerStatus): boolean {
  return state === "failed" || state === "degraded" || state === "needs_login";
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
