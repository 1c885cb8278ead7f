import type { CancelSignal } from "../core/cancellation.ts";
import { GatewayError } from "../core/errors.ts";
import type { RpcMessage } from "../core/rpc.ts";
import type { ServerSource, ServerSpec, ServerStatus } from "../core/server.ts";
import type { Logger } from "../telemetry/logs.ts";
import { type Call, Connection, type ConnectionOptions } from "./connection.ts";
import type { ServerInfo } from "./handshake.ts";
import { LineLog } from "./line_log.ts";
import { type Link, LinkClosed, type LinkEvents } from "./link.ts";
import { ListedTools } from "./listed_tools.ts";
import { OwnConnections, type Stake } from "./own_connections.ts";
import { isLoginWanted, isSessionLost, lostInCall, notConnected } from "./server_trouble.ts";
import { SharedConnection } from "./shared_connection.ts";
import { StatusBoard } from "./status_board.ts";
import { TIMINGS, type Timings } from "./timings.ts";
import { unlessAborted } from "./unless_aborted.ts";

const ASLEEP = "Asleep: starts with the next call";

export interface PooledServer {
  name: string;
  spec: ServerSpec;
  source: ServerSource;
  /** Why it cannot start, found while its entry was read. */
  problem?: string;
  /** Another one when a secret was set that its entry refers to: it is connected anew. */
  secretsStamp?: string;
}

export interface ManagedServerOptions {
  server: PooledServer;
  log: Logger;
  openLink(server: PooledServer, events: LinkEvents): Link | Promise<Link>;
  onStatus(status: ServerStatus): void;
  /** The tools it listed when it was last connected, by whichever gateway. */
  knownTools(name: string): Promise<string[]>;
  /** All tools as the texts that came, after each connect and change; gives how many can be used. */
  onTools(name: string, tools: string[]): Promise<number>;
  /** It was switched off: its tools are no longer there, and are not forgotten either. */
  onSwitchedOff?(name: string): void;
  /** It wrote to its error output, or something is to be known of its connection. */
  onLine?(name: string): void;
  timings?: Partial<Timings>;
  /** How many clients may have connections of their own. */
  maxOwn?: number;
}

/** The client a connection of its own is opened for. */
export interface OwnClient extends
  Pick<
    ConnectionOptions,
    "capabilities" | "clientInfo" | "protocolVersion" | "events" | "signal"
  > {
  /** What it would lose with the connection; one that would lose calls keeps it. */
  stake?(): Stake;
}

/** One downstream server: a shared connection, others where they are needed, its tools and log. */
export class ManagedServer implements AsyncDisposable {
  readonly log = new LineLog();
  readonly #options: ManagedServerOptions;
  readonly #timings: Timings;
  readonly #status: StatusBoard;
  readonly #shared: SharedConnection;
  readonly #own: OwnConnections;
  readonly #reach: Pick<ConnectionOptions, "serverName" | "connectTimeoutMs" | "openLink">;
  readonly #tools: ListedTools;
  readonly #broadcastListeners = new Set<(text: string) => void>();
  readonly #closing = new AbortController();
  #server: PooledServer;
  #info: ServerInfo | undefined;
  #lastUse = 0;
  #isAsleep = false;
  /** Aborts when it may no longer fall asleep. */
  #stirred = new AbortController();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #restarting: Promise<void> | undefined;

  constructor(options: ManagedServerOptions) {
    const { name, spec, source } = options.server;
    this.#options = options;
    this.#server = options.server;
    this.#timings = { ...TIMINGS, ...options.timings };
    this.#status = new StatusBoard({ name, type: spec.type, source }, options.log, (status) => {
      if (!this.#closing.signal.aborted) options.onStatus(status);
    });
    this.#reach = {
      serverName: name,
      connectTimeoutMs: this.#timings.connect,
      openLink: (events) => options.openLink(this.#server, events),
    };
    this.#own = new OwnConnections({
      serverName: name,
      signal: this.#closing.signal,
      idleMs: this.#timings.ownIdle,
      ...(options.maxOwn === undefined ? {} : { limit: options.maxOwn }),
    });
    this.#tools = new ListedTools({
      ...options,
      serverName: name,
      status: this.#status,
      current: () => this.#shared.current,
      signal: this.#closing.signal,
    });
    this.#shared = new SharedConnection({
      ...this.#reach,
      timings: this.#timings,
      status: this.#status,
      log: this.log,
      onLog: (line, kind) => this.#logLine(line, kind),
      prepare: (connection, signal) => this.#tools.load(connection, signal),
      onReady: (connection) => this.#onReady(connection),
      onFailed: async (signal) => {
        if (this.status.toolCount === 0) await this.#tools.recall(signal);
      },
      signal: this.#closing.signal,
      patienceMs: () => Math.max(this.timeoutMs, this.#timings.pingEvery),
      onMessage: (text, message) => this.#onMessage(text, message),
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

  /** What the server said of itself when it was last connected. */
  get info(): ServerInfo | undefined {
    return this.#info;
  }

  get timeoutMs(): number {
    return this.#server.spec.timeoutMs ?? 60_000;
  }

  get #isLazy(): boolean {
    const { spec } = this.#server;
    return spec.type === "stdio" && spec.lazy === true;
  }

  /** Begins to connect; does not wait for it, and never throws. */
  start(): void {
    const { problem, spec } = this.#server;
    if (problem !== undefined) return this.#status.set("failed", problem, problem);
    if (spec.disabled) return this.#switchOff();
    this.#status.set("connecting", "Connecting");
    void (this.#isLazy ? this.#sleepOrConnect() : this.#shared.connect()).catch(() => {});
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

  /** The shared connection: waits for one that is being made, and fails fast where there is none. */
  async connection(signal?: CancelSignal): Promise<Connection> {
    this.#lastUse = Date.now();
    if (!this.#isAsleep) return this.#shared.current ?? await this.#shared.acquire(signal);
    this.#isAsleep = false;
    return await unlessAborted(this.#shared.connect(), signal);
  }

  /** Calls on the shared connection; once more where the server has forgotten our session. */
  async call(call: Call): Promise<{ id: number; text: string }> {
    for (let isAgain = false;; isAgain = true) {
      const connection = this.#shared.current ?? await this.connection(call.signal);
      this.#lastUse = Date.now();
      try {
        const answer = await connection.call(call);
        this.#shared.forgive(connection);
        return answer;
      } catch (error) {
        this.#noteFailure(connection, error);
        if (isAgain || !isSessionLost(error)) throw this.#explain(error);
      }
    }
  }

  #noteFailure(connection: Connection, error: unknown): void {
    const isLost = error instanceof LinkClosed;
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
      const onClose = (reason: LinkClosed) => {
        release();
        client.events.onClose(reason);
        void connection?.end(this.#timings.settle, this.#closing.signal);
      };
      const explain = (error: LinkClosed) => {
        // A program fails its calls before the last of its processes is gone; the client's next call
        // shall not find it again.
        if (this.#server.spec.type === "stdio") void connection?.end(0, undefined, error);
        return this.#explain(error);
      };
      const onLog: LinkEvents["onLog"] = (line, kind) => this.#logLine(line, kind);
      try {
        return connection = await Connection.open({
          ...client,
          ...this.#reach,
          signal,
          explain,
          events: { ...client.events, onLog, onClose },
        });
      } catch (error) {
        throw this.#explain(error);
      }
    }, client.stake);
  }

  closeOwn(connection: Connection): Promise<void> {
    return connection.end(0);
  }

  /** Hears what the server tells everybody: that a list of its own has changed. */
  onBroadcast(listener: (text: string) => void): () => void {
    this.#broadcastListeners.add(listener);
    return () => this.#broadcastListeners.delete(listener);
  }

  /** Ends the connection, or the try to make one, and makes a new one at once. */
  restart(): Promise<void> {
    return this.#restarting ??= this.#restart().finally(() => this.#restarting = undefined);
  }

  async #restart(): Promise<void> {
    const server = this.#server;
    this.#stayAwake();
    this.#status.set("connecting", "Restarting");
    await Promise.all([this.#shared.disconnect("it is being restarted"), this.#own.closeAll()]);
    // Its entry was changed meanwhile: what that wants has begun, and may be to stay off.
    if (this.#server !== server) return;
    await this.#shared.connect();
  }

  /** Asks for the tools anew; calls close together are one. */
  refreshTools(): Promise<void> {
    return this.#tools.refresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#stayAwake();
    await Promise.all([this.#shared[Symbol.asyncDispose](), this.#own.closeAll()]);
  }

  #onReady(connection: Connection): void {
    this.#info = connection.info;
    this.#lastUse = Date.now();
    this.#tools.loaded();
    clearTimeout(this.#idleTimer);
    if (this.#isLazy) this.#sleepWhenIdle(this.#timings.lazyIdle);
  }

  #switchOff(): void {
    this.#info = undefined;
    this.#status.note({ toolCount: 0 });
    this.#options.onSwitchedOff?.(this.name);
    this.#status.set("disabled", "Switched off in its entry");
  }

  /** A lazy server whose tools are known need not run to be listed. */
  async #sleepOrConnect(): Promise<void> {
    const server = this.#server;
    this.#isAsleep = true;
    const isKnown = await this.#tools.recall(this.#stirred.signal);
    // Somebody may have needed it meanwhile.
    if (!this.#isAsleep || this.#server !== server) return;
    if (isKnown) return this.#status.set("ready", ASLEEP);
    this.#isAsleep = false;
    await this.#shared.connect();
  }

  #sleepWhenIdle(afterMs: number): void {
    this.#idleTimer = setTimeout(() => {
      const left = this.#lastUse + this.#timings.lazyIdle - Date.now();
      if (left > 0 || (this.#shared.current?.inFlight ?? 0) > 0) {
        return this.#sleepWhenIdle(Math.max(left, this.#timings.lazyIdle / 10));
      }
      // One that was lost meanwhile goes to sleep when it is connected again.
      if (!this.#shared.current) return;
      void this.#shared.disconnect("it is idle");
      this.#isAsleep = true;
      this.#status.set("ready", ASLEEP);
    }, afterMs);
    this.#idleTimer.unref();
  }

  #stayAwake(): void {
    this.#stirred.abort();
    this.#stirred = new AbortController();
    clearTimeout(this.#idleTimer);
    this.#isAsleep = false;
  }

  #onMessage(text: string, message: RpcMessage): void {
    if (message.kind !== "notification") return;
    if (message.method === "notifications/tools/list_changed") {
      return this.#tools.changed();
    }
    // Log lines may speak of any client's call; a change of a list concerns all alike.
    if (message.method.endsWith("/list_changed")) {
      for (const listener of this.#broadcastListeners) listener(text);
    }
  }

  #explain(error: unknown): Error {
    if (isLoginWanted(error)) return notConnected(this.status);
    if (error instanceof LinkClosed) return lostInCall(this.name, error);
    return error instanceof Error ? error : new GatewayError("INTERNAL", { cause: error });
  }

  #logLine(line: string, kind: "stderr" | "warning"): void {
    this.log.add(line);
    this.#options.onLine?.(this.name);
    if (kind === "warning") this.#options.log.warn({ serverName: this.name }, line);
    else this.#options.log.debug({ serverName: this.name, line }, "stderr");
  }
}
