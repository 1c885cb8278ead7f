import { abortable, type CancelSignal } from "../core/async.ts";
import { GatewayError } from "../core/errors.ts";
import { STATELESS_VERSION } from "../core/client.ts";
import { notificationText, type RpcMessage } from "../core/rpc.ts";
import {
  isProgram,
  type ServerInstance,
  type ServerSource,
  type ServerSpec,
  type ServerStatus,
} from "../core/server.ts";
import type { PackageRelease } from "../storage/packages_repository.ts";
import type { Logger } from "../telemetry/logs.ts";
import { type Call, Connection, type ConnectionOptions } from "./connection.ts";
import { type EraMemory, LastEra } from "./era_memory.ts";
import type { ServerInfo } from "./negotiation.ts";
import { unprocessedReason } from "./stateless_request.ts";
import {
  callLost,
  connectedWithin,
  isSessionLost,
  logMessageLine,
  notConnected,
  OutputLog,
  StatusTracker,
} from "./status.ts";
import { listenForChanges, type Subscription } from "./subscription.ts";
import { TaskOwners, type TaskOwnersOptions } from "./task_owners.ts";
import {
  ScopeRequired,
  type Transport,
  TransportClosed,
  type TransportEvents,
} from "./transports/transport.ts";
import { ToolList } from "./tool_list.ts";
import { type ConnectionUse, OwnConnections } from "./own_connections.ts";
import { SharedConnection, TIMINGS, type Timings } from "./shared_connection.ts";

const MAX_OWN = 100;
const ASLEEP = "Asleep: starts on the next call";

export interface PooledServer {
  name: string;
  spec: ServerSpec;
  source: ServerSource;
  /** Why it cannot start, found while its entry was read. */
  problem?: string;
  isPaused?: boolean;
  /** Changes when a secret is set that its entry refers to: the server is then reconnected. */
  secretsStamp?: string;
  /** Changes when an update of its packages is accepted: the server is then restarted. */
  packagesStamp?: number;
  /** What runs instead of the pinned packages, while an update is tried. */
  release?: PackageRelease;
}

export interface ManagedServerOptions {
  server: PooledServer;
  log: Logger;
  openTransport(
    server: PooledServer,
    events: TransportEvents,
    signal: AbortSignal,
  ): Transport | Promise<Transport>;
  onStatus(status: ServerStatus): void;
  /** The tools it listed when it was last connected, by whichever gateway. */
  knownTools(name: string): Promise<string[]>;
  /** All tools as the texts that came, after each connect and change; gives how many can be used. */
  onTools(name: string, tools: string[]): Promise<number>;
  /** What servers spoke last, by name and entry. */
  eras?: EraMemory | undefined;
  /** Where all gateways on the store find the owners of tasks. */
  tasks?: TaskOwnersOptions["shared"];
  /** It was switched off: its tools are no longer there, and are not forgotten either. */
  onSwitchedOff?(name: string): void;
  /** It wrote to its error output, or something is to be known of its connection. */
  onLine?(name: string): void;
  /** It connects when something needs it, not before; its tools of the last run are always listed. */
  isOnDemand?: boolean | undefined;
  /** Takes secrets out of what goes into its log. */
  mask?: ((text: string) => string) | undefined;
  timings?: Partial<Timings>;
  maxOwn?: number;
}

interface OwnClient extends
  Pick<
    ConnectionOptions,
    "capabilities" | "clientInfo" | "protocolVersion" | "events" | "signal"
  > {
  /** What it would lose with the connection; one that would lose calls keeps it. */
  stake?(): ConnectionUse;
  /** Where its program starts, instead of the folder in the entry. */
  cwd?: string | undefined;
}

/** One MCP server: its shared connection, connections of single clients, its tools and log. */
export class ManagedServer implements AsyncDisposable {
  readonly log = new OutputLog();
  readonly taskOwners: TaskOwners;
  readonly #options: ManagedServerOptions;
  readonly #timings: Timings;
  readonly #status: StatusTracker;
  readonly #shared: SharedConnection;
  readonly #own: OwnConnections;
  readonly #reach: Pick<ConnectionOptions, "serverName" | "openTransport">;
  readonly toolList: ToolList;
  readonly #broadcastListeners = new Set<(text: string) => void>();
  readonly #warned = new Set<string>();
  readonly #closing = new AbortController();
  #server: PooledServer;
  #info: ServerInfo | undefined;
  readonly era: LastEra;
  #lastUse = 0;
  #isAsleep = false;
  /** Aborts when it may no longer fall asleep. */
  #stirred = new AbortController();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #restarting: Promise<void> | undefined;
  #listening: Subscription | undefined;

  constructor(options: ManagedServerOptions) {
    const { name, spec, source } = options.server;
    this.#options = options;
    this.#server = options.server;
    this.#timings = { ...TIMINGS, ...options.timings };
    this.era = new LastEra(options.eras);
    this.taskOwners = new TaskOwners({ server: this, shared: options.tasks });
    this.#status = new StatusTracker({ name, type: spec.type, source }, options.log, (status) => {
      if (!this.#closing.signal.aborted) options.onStatus(status);
    });
    this.#reach = {
      serverName: name,
      openTransport: (events, signal) => options.openTransport(this.#server, events, signal),
    };
    this.#own = new OwnConnections({
      serverName: name,
      signal: this.#closing.signal,
      idleMs: () => this.#server.spec.idleTimeoutMs ?? this.#timings.ownIdle,
      limit: options.maxOwn ?? MAX_OWN,
    });
    this.toolList = new ToolList({
      ...options,
      serverName: name,
      status: this.#status,
      current: () => this.#shared.current,
      onWarning: (line) => this.#logLine(line, "warning"),
      minTtlMs: this.#timings.minTtl,
      signal: this.#closing.signal,
    });
    this.#shared = new SharedConnection({
      ...this.#reach,
      startTimeoutMs: () => this.startTimeoutMs,
      era: () => this.era.of(this.#server),
      timings: this.#timings,
      status: this.#status,
      log: this.log,
      onLog: (line, kind) => this.#logLine(line, kind),
      prepare: (connection, signal) => this.toolList.load(connection, signal),
      onReady: (connection) => this.#onReady(connection),
      onFailed: async (signal) => {
        if (isProgram(this.#server.spec)) this.era.doubt(this.#server);
        if (this.status.toolCount === 0) await this.toolList.recall(signal);
      },
      signal: this.#closing.signal,
      patienceMs: () => Math.max(this.timeoutMs, this.#timings.pingEvery),
      onMessage: (text, message) => this.hear(text, message),
    });
  }

  get name(): string {
    return this.#server.name;
  }

  get server(): PooledServer {
    return this.#server;
  }

  get status(): ServerStatus {
    return this.#status.current;
  }

  get info(): ServerInfo | undefined {
    return this.#info;
  }

  /** Whether all clients can share its connection, because it keeps nothing between requests. */
  get isStateless(): boolean {
    return this.#shared.current?.isStateless === true;
  }

  /** The same, found out by connecting if it is not known yet. */
  async speaksStateless(signal?: CancelSignal): Promise<boolean> {
    const { current } = this.#shared;
    if (current) return current.isStateless;
    if (await this.era.of(this.#server) === "sessions") return false;
    return (await this.connection(signal)).isStateless;
  }

  /** Whether the next call has to start it. */
  get isAsleep(): boolean {
    return this.#isAsleep;
  }

  get timeoutMs(): number {
    return this.#server.spec.timeoutMs ?? 60_000;
  }

  get startTimeoutMs(): number {
    return this.#server.spec.startTimeoutMs ?? this.#timings.start;
  }

  /** Whether its owner does not want it to run, in its entry or for now. */
  get isSwitchedOff(): boolean {
    const { spec, isPaused = false } = this.#server;
    return spec.disabled === true || isPaused;
  }

  /** After how long without a call the program is stopped. */
  get #idleMs(): number | undefined {
    const { spec } = this.#server;
    const { lazyIdle } = this.#timings;
    return isProgram(spec) ? spec.idleTimeoutMs ?? (spec.lazy ? lazyIdle : undefined) : undefined;
  }

  /** Who shares an instance of it, as its owner decided. */
  get instance(): ServerInstance {
    return this.#server.spec.instance ?? "shared";
  }

  start(): void {
    const { problem, spec, isPaused } = this.#server;
    const { isOnDemand } = this.#options;
    if (isOnDemand) void this.toolList.recall(this.#stirred.signal);
    if (problem !== undefined) return this.#status.set("failed", problem, problem);
    if (spec.disabled) return this.#switchOff("disabled", "Switched off in its entry");
    if (isPaused) return this.#switchOff("paused", "Paused by the owner");
    if (isOnDemand) {
      this.#isAsleep = true;
      return this.#status.set("not_running", "No gateway is running");
    }
    this.#status.set("starting", "Starting");
    if (isProgram(spec) && spec.lazy) return void this.#sleepOrConnect().catch(() => {});
    // Clients get the tools of the last run while it starts.
    if (this.status.toolCount === 0) void this.toolList.recall(this.#stirred.signal);
    void this.#shared.connect().catch(() => {});
  }

  /** Takes a changed entry: calls in flight go on for a while, new ones get the new connection. */
  update(server: PooledServer): void {
    this.#server = server;
    this.#status.note({ type: server.spec.type, source: server.source });
    this.#stayAwake();
    void this.#shared.disconnect("its entry has changed", this.#timings.settle);
    void this.#own.closeAll(this.#timings.settle);
    this.start();
  }

  /** The shared connection; waits up to a limit while one is opened, and fails fast if there is none. */
  async connection(signal?: CancelSignal): Promise<Connection> {
    this.#lastUse = Date.now();
    if (!this.#isAsleep) {
      if (this.#restarting) await this.#patiently(abortable(this.#restarting, signal));
      return this.#shared.current ?? await this.#patiently(this.#shared.acquire(signal));
    }
    this.#isAsleep = false;
    if (this.#options.isOnDemand) this.#status.set("starting", "Starting");
    return await this.#patiently(abortable(this.#shared.connect(), signal));
  }

  #patiently<T>(connecting: Promise<T>): Promise<T> {
    const limitMs = Math.min(this.timeoutMs, this.#timings.startWait);
    return connectedWithin(connecting, limitMs, () => this.status);
  }

  /** Calls on the shared connection; once more where the server has forgotten our session. */
  async call(call: Call): Promise<{ id: number; text: string }> {
    for (let isAgain = false;; isAgain = true) {
      const connection = this.#shared.current ?? await this.connection(call.signal);
      this.#lastUse = Date.now();
      try {
        const answer = await connection.call(call);
        this.#shared.forgive(connection);
        const refusal = connection.isStateless ? unprocessedReason(answer.text) : undefined;
        if (isAgain || !refusal) return answer;
        await this.#recover(connection, refusal);
      } catch (error) {
        this.#noteFailure(connection, error);
        if (isAgain || !isSessionLost(error)) throw this.#explain(error);
      }
    }
  }

  /** Repairs what made a stateless server refuse a request unprocessed, so that it can be repeated. */
  async #recover(connection: Connection, refusal: "headers" | "version"): Promise<void> {
    // Its tools now have other headers than they were listed with.
    if (refusal === "headers") return await this.refreshTools();
    const message = `Server "${this.name}" no longer speaks MCP ${STATELESS_VERSION}`;
    this.#shared.drop(connection, new TransportClosed("session", message));
  }

  #noteFailure(connection: Connection, error: unknown): void {
    // The server is there, and the connection is good.
    if (error instanceof ScopeRequired) return;
    const isLost = error instanceof TransportClosed;
    if (isLost && (error.kind === "session" || error.kind === "login")) {
      this.#shared.drop(connection, error);
    } else if (isLost || (error instanceof GatewayError && error.code === "TIMEOUT")) {
      this.#shared.doubt(connection);
    }
  }

  /**
   * A connection for one client alone, so that what the server asks can only reach that client. It
   * is closed when it is idle, or when others need its place.
   */
  openOwn(client: OwnClient): Promise<Connection> {
    return this.#own.open(async (stopped, release) => {
      const signal = client.signal ? AbortSignal.any([stopped, client.signal]) : stopped;
      // Asleep, it need not wake for all where one client alone wants it.
      if (!this.#isAsleep) await this.connection(signal);
      let connection: Connection | undefined;
      const onClose = (reason: TransportClosed) => {
        release();
        client.events.onClose(reason);
        void connection?.end(this.#timings.settle, this.#closing.signal);
      };
      const explain = (error: TransportClosed) => {
        // A program fails its calls before the last of its processes is gone; the client's next call
        // shall not find it again.
        if (isProgram(this.#server.spec)) void connection?.end(0, undefined, error);
        return this.#explain(error);
      };
      const { spec } = this.#server;
      const server = client.cwd !== undefined && isProgram(spec)
        ? { ...this.#server, spec: { ...spec, cwd: client.cwd } }
        : this.#server;
      try {
        return connection = await Connection.open({
          ...client,
          serverName: this.name,
          openTransport: (events, signal) => this.#options.openTransport(server, events, signal),
          startTimeoutMs: this.startTimeoutMs,
          era: await this.era.of(this.#server),
          signal,
          explain,
          events: { ...client.events, onLog: (line, kind) => this.#logLine(line, kind), onClose },
        });
      } catch (error) {
        throw this.#explain(error);
      }
    }, client.stake);
  }

  /** Hears what the server tells everybody: that a list of its own has changed. */
  onBroadcast(listener: (text: string) => void): () => void {
    this.#broadcastListeners.add(listener);
    return () => this.#broadcastListeners.delete(listener);
  }

  /**
   * Ends the connection, or the try to make one, and makes a new one at once. Between the two,
   * while nothing of the server runs or is retried, it can be repaired. One that is switched off
   * stays off.
   */
  restart(repair?: () => Promise<void>): Promise<void> {
    if (this.isSwitchedOff) return Promise.reject(notConnected(this.status));
    // A repair takes over from a restart under way, which may take as long as an install.
    if (this.#restarting && !repair) return this.#restarting;
    const isLatest = () => this.#restarting === restarting;
    const restarting: Promise<void> = this.#restart(repair, isLatest).finally(() => {
      if (isLatest()) this.#restarting = undefined;
    });
    return this.#restarting = restarting;
  }

  async #restart(
    repair: (() => Promise<void>) | undefined,
    isLatest: () => boolean,
  ): Promise<void> {
    const server = this.#server;
    this.#stayAwake();
    this.#status.set("starting", repair ? "Repairing" : "Restarting");
    await Promise.all([this.#shared.disconnect("it is being restarted"), this.#own.closeAll()]);
    // If its entry is changed meanwhile, what that wants has begun, and may be to stay off.
    const isWanted = () => this.#server === server && isLatest();
    try {
      await repair?.();
    } catch (error) {
      if (isWanted()) void this.#shared.connect().catch(() => {});
      throw error;
    }
    if (!isWanted()) return;
    if (this.#options.isOnDemand) this.start();
    else await this.#shared.connect();
  }

  refreshTools(): Promise<void> {
    return this.toolList.refresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#listening?.[Symbol.dispose]();
    this.#stayAwake();
    await Promise.all([this.#shared[Symbol.asyncDispose](), this.#own.closeAll()]);
  }

  #onReady(connection: Connection): void {
    this.#info = connection.info;
    void this.era.note(this.#server, connection).catch((err) => {
      if (this.#closing.signal.aborted) return;
      this.#options.log.warn({ serverName: this.name, err }, "Cannot store the server's revision");
    });
    this.#lastUse = Date.now();
    this.#listening?.[Symbol.dispose]();
    this.#listening = listenForChanges(connection, (method) => {
      this.hear(notificationText(method), { kind: "notification", method, params: {} });
    });
    this.toolList.loaded();
    clearTimeout(this.#idleTimer);
    const idleMs = this.#idleMs;
    if (idleMs !== undefined) this.#sleepWhenIdle(idleMs);
  }

  #switchOff(state: "disabled" | "paused", reason: string): void {
    this.#info = undefined;
    this.#status.note({ toolCount: 0 });
    this.#options.onSwitchedOff?.(this.name);
    this.#status.set(state, reason);
  }

  /** A lazy server whose tools are known need not run to be listed. */
  async #sleepOrConnect(): Promise<void> {
    const server = this.#server;
    this.#isAsleep = true;
    const isKnown = await this.toolList.recall(this.#stirred.signal);
    // Somebody may have needed it meanwhile.
    if (!this.#isAsleep || this.#server !== server) return;
    if (isKnown) return this.#status.set("ready", ASLEEP);
    this.#isAsleep = false;
    await this.#shared.connect();
  }

  #sleepWhenIdle(idleMs: number, afterMs = idleMs): void {
    this.#idleTimer = setTimeout(() => {
      const left = this.#lastUse + idleMs - Date.now();
      if (left > 0 || (this.#shared.current?.inFlight ?? 0) > 0) {
        return this.#sleepWhenIdle(idleMs, Math.max(left, idleMs / 10));
      }
      // One that was lost meanwhile goes to sleep when it is connected again.
      if (!this.#shared.current) return;
      void this.#shared.disconnect("it is idle");
      this.#isAsleep = true;
      this.#status.set("ready", ASLEEP);
    }, afterMs);
    Deno.unrefTimer(Number(this.#idleTimer));
  }

  #stayAwake(): void {
    this.#stirred.abort();
    this.#stirred = new AbortController();
    clearTimeout(this.#idleTimer);
    this.#isAsleep = false;
  }

  /** Logs a message that is for no particular client. */
  hear(text: string, message: RpcMessage): void {
    if (message.kind !== "notification") return;
    if (message.method === "notifications/tools/list_changed") return this.toolList.changed();
    // A log message may speak of any client's call; a change of a list concerns all alike.
    if (message.method === "notifications/message") {
      const { mask = (line: string) => line } = this.#options;
      this.#logLine(mask(logMessageLine(message.params)), "stderr");
    } else if (message.method.endsWith("/list_changed")) {
      for (const listener of this.#broadcastListeners) listener(text);
    }
  }

  #explain(error: unknown): Error {
    const isLost = error instanceof TransportClosed;
    if (isLost && error.kind === "login") return notConnected(this.status);
    if (isLost) return callLost(this.name, error);
    return error instanceof Error ? error : new GatewayError("INTERNAL", { cause: error });
  }

  /** Logs what is wrong with a part of the server, which may be found again and again. */
  warnOnce(part: string, line: string): void {
    if (this.#warned.has(part)) return;
    this.#warned.add(part);
    this.#logLine(line, "warning");
  }

  #logLine(line: string, kind: "stderr" | "warning"): void {
    this.log.add(line, kind);
    this.#options.onLine?.(this.name);
    if (kind === "warning") this.#options.log.warn({ serverName: this.name }, line);
    else this.#options.log.debug({ serverName: this.name, line }, "stderr");
  }
}
