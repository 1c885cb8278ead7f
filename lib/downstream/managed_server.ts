import { GatewayError } from "../core/errors.ts";
import type { ServerSource, ServerSpec, ServerState, ServerStatus } from "../core/server.ts";
import type { RpcMessage } from "../core/rpc.ts";
import type { Logger } from "../telemetry/logs.ts";
import { backoffMs } from "./backoff.ts";
import { type Call, Connection, type ConnectionOptions, type ServerInfo } from "./connection.ts";
import { type Link, LinkClosed, type LinkEvents } from "./link.ts";
import { LineLog } from "./line_log.ts";
import { listToolTexts } from "./tool_listing.ts";

const CONNECT_TIMEOUT_MS = 30_000;
const PING_EVERY_MS = 30_000;
const PING_TIMEOUT_MS = 10_000;
/** A connection that held this long was a good one: the next try starts without a wait. */
const STEADY_MS = 30_000;
const LAZY_IDLE_MS = 5 * 60_000;
const ASLEEP = "Asleep: starts with the next call";
/** Connections of single sessions, besides the shared one. */
const MAX_OWN_CONNECTIONS = 100;

export interface PooledServer {
  name: string;
  spec: ServerSpec;
  source: ServerSource;
  /** Why it cannot start, found while its entry was read. */
  problem?: string;
}

export interface ManagedServerOptions {
  server: PooledServer;
  log: Logger;
  openLink(server: PooledServer, events: LinkEvents): Link | Promise<Link>;
  onStatus(status: ServerStatus): void;
  /** The tools it listed when it was last connected, by whichever gateway. */
  knownTools(name: string): Promise<string[]>;
  /** All tools as the texts that came, after each connect and change. */
  onTools(name: string, tools: string[]): Promise<void>;
}

/** The client a connection of its own is opened for. */
export type OwnClient = Pick<
  ConnectionOptions,
  "capabilities" | "clientInfo" | "protocolVersion" | "events"
>;

/** One downstream server: keeps a shared connection alive, and opens others where they are needed. */
export class ManagedServer implements AsyncDisposable {
  readonly log = new LineLog();
  readonly #options: ManagedServerOptions;
  readonly #own = new Set<Connection>();
  readonly #broadcastListeners = new Set<(text: string) => void>();
  readonly #closing = new AbortController();
  #status: ServerStatus;
  #shared: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #info: ServerInfo | undefined;
  #attempt = 0;
  #connectedAt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  #lastUse = 0;
  #toolRefresh: Promise<void> = Promise.resolve();

  constructor(options: ManagedServerOptions) {
    this.#options = options;
    const { name, spec, source } = options.server;
    this.#status = {
      name,
      type: spec.type,
      source,
      state: "connecting",
      reason: "Not connected yet",
      since: Date.now(),
      toolCount: 0,
    };
  }

  get name(): string {
    return this.#options.server.name;
  }

  get server(): PooledServer {
    return this.#options.server;
  }

  get status(): ServerStatus {
    return this.#status;
  }

  /** What the server said of itself when it was last connected. */
  get info(): ServerInfo | undefined {
    return this.#info;
  }

  get timeoutMs(): number {
    return this.server.spec.timeoutMs ?? 60_000;
  }

  get #isLazy(): boolean {
    const { spec } = this.server;
    return spec.type === "stdio" && spec.lazy === true;
  }

  /** Begins to connect; does not wait for it, and never throws. */
  start(): void {
    const { problem, spec } = this.server;
    if (problem !== undefined) return this.#setState("failed", problem, problem);
    if (spec.disabled) return this.#setState("disabled", "Switched off in its entry");
    void (this.#isLazy ? this.#sleep() : this.#connect()).catch(() => {});
  }

  /** A lazy server whose tools are known need not run to be listed. */
  async #sleep(): Promise<void> {
    if (await this.#recallTools()) this.#setState("ready", ASLEEP);
    else await this.#connect();
  }

  async #recallTools(): Promise<boolean> {
    const tools = await this.#options.knownTools(this.name);
    if (tools.length === 0) return false;
    await this.#options.onTools(this.name, tools);
    this.#status = { ...this.#status, toolCount: tools.length };
    return true;
  }

  /** The shared connection: waits for one that is being made, and fails fast where there is none. */
  async connection(): Promise<Connection> {
    this.#lastUse = Date.now();
    if (this.#shared) return this.#shared;
    if (this.#connecting) return await this.#connecting;
    if (this.#isLazy && this.#status.state === "ready") return await this.#connect();
    throw this.#notConnected();
  }

  /** Calls on the shared connection; once more where the server has forgotten our session. */
  async call(call: Call): Promise<{ id: number; text: string }> {
    const connection = this.#shared ?? await this.connection();
    this.#lastUse = Date.now();
    try {
      return await connection.call(call);
    } catch (error) {
      if (!(error instanceof LinkClosed)) throw error;
      if (error.kind !== "session" && error.kind !== "login") throw this.#explain(error);
      this.#drop(connection, error);
      if (error.kind === "login") throw this.#notConnected();
      return await (await this.#connect()).call(call);
    }
  }

  /** A connection for one client alone, so that what the server asks can only reach that client. */
  async openOwn(client: OwnClient): Promise<Connection> {
    if (this.#own.size >= MAX_OWN_CONNECTIONS) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message:
          `Server "${this.name}" has ${MAX_OWN_CONNECTIONS} clients with connections of their own`,
      });
    }
    await this.connection();
    let opened: Connection | undefined;
    const connection = await Connection.open({
      serverName: this.name,
      openLink: (events) => this.#options.openLink(this.server, events),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      ...client,
      events: {
        ...client.events,
        onLog: (line, kind) => this.#logLine(line, kind),
        onClose: (reason) => {
          if (opened) this.#own.delete(opened);
          client.events.onClose(reason);
        },
      },
    }).catch((error) => {
      throw error instanceof LinkClosed ? this.#explain(error) : error;
    });
    opened = connection;
    this.#own.add(connection);
    return connection;
  }

  async closeOwn(connection: Connection): Promise<void> {
    this.#own.delete(connection);
    await connection[Symbol.asyncDispose]();
  }

  /** Hears what the server tells everybody: that a list of its own has changed. */
  onBroadcast(listener: (text: string) => void): () => void {
    this.#broadcastListeners.add(listener);
    return () => this.#broadcastListeners.delete(listener);
  }

  /** Ends the connection and makes a new one at once. */
  async restart(): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#attempt = 0;
    const old = this.#shared;
    this.#shared = undefined;
    await this.#closeAll(old);
    await this.#connect();
  }

  /** Asks for the tools anew; calls close together are one. */
  refreshTools(): Promise<void> {
    const connection = this.#shared;
    if (!connection) return Promise.resolve();
    this.#toolRefresh = this.#toolRefresh.then(() => this.#loadTools(connection)).catch((error) => {
      this.#options.log.warn(
        { serverName: this.name, err: error },
        "Cannot list the server's tools",
      );
    });
    return this.#toolRefresh;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#retryTimer);
    clearInterval(this.#pingTimer);
    const shared = this.#shared;
    this.#shared = undefined;
    await this.#connecting?.catch(() => {});
    await this.#closeAll(shared, this.#shared);
  }

  #connect(): Promise<Connection> {
    this.#connecting ??= this.#open().finally(() => this.#connecting = undefined);
    return this.#connecting;
  }

  async #open(): Promise<Connection> {
    clearTimeout(this.#retryTimer);
    const started = performance.now();
    if (this.#status.state !== "connecting" && !(this.#isLazy && this.#status.state === "ready")) {
      this.#setState("connecting", "Connecting");
    }
    let opened: Connection | undefined;
    try {
      const connection = await Connection.open({
        serverName: this.name,
        openLink: (events) => this.#options.openLink(this.server, events),
        capabilities: {},
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        events: {
          onLog: (line, kind) => this.#logLine(line, kind),
          onMessage: (text, message) => this.#onMessage(text, message),
          onClose: (reason) => this.#drop(opened, reason),
        },
      });
      opened = connection;
      if (this.#closing.signal.aborted) {
        await connection[Symbol.asyncDispose]();
        throw new GatewayError("SERVER_DISCONNECTED");
      }
      this.#info = connection.info;
      await this.#loadTools(connection);
      this.#shared = connection;
      this.#connectedAt = Date.now();
      this.#status = { ...this.#status, latencyMs: performance.now() - started };
      this.#setState("ready", "Connected");
      this.#keepAlive();
      return connection;
    } catch (error) {
      await opened?.[Symbol.asyncDispose]();
      if (this.#status.toolCount === 0) await this.#recallTools().catch(() => {});
      this.#failed(error);
      throw this.#notConnected();
    }
  }

  async #loadTools(connection: Connection): Promise<void> {
    const tools = await listToolTexts(connection, this.name);
    await this.#options.onTools(this.name, tools);
    if (tools.length !== this.#status.toolCount) {
      this.#status = { ...this.#status, toolCount: tools.length };
      if (this.#shared) this.#options.onStatus(this.#status);
    }
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const words = error instanceof Error ? error.message : String(error);
    if (error instanceof LinkClosed && error.kind === "login") {
      return this.#setState("needs_login", `The server asks for a login: ${words}`, words);
    }
    this.#retryLater("failed", words);
  }

  #retryLater(state: ServerState, words: string): void {
    this.#attempt++;
    const wait = backoffMs(this.#attempt);
    const seconds = Math.max(1, Math.round(wait / 1000));
    this.#setState(state, `${words}; trying again in ${seconds} s`, words);
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#connect().catch(() => {}), wait);
  }

  /** The connection is of no more use; another one is made, sooner if this one was a good one. */
  #drop(connection: Connection | undefined, reason: Error): void {
    if (!connection || this.#shared !== connection || this.#closing.signal.aborted) return;
    this.#shared = undefined;
    clearInterval(this.#pingTimer);
    void connection[Symbol.asyncDispose]();
    if (reason instanceof LinkClosed && reason.kind === "login") return this.#failed(reason);
    if (Date.now() - this.#connectedAt > STEADY_MS) this.#attempt = 0;
    this.#retryLater("degraded", reason.message);
  }

  #keepAlive(): void {
    clearInterval(this.#pingTimer);
    this.#pingTimer = setInterval(() => void this.#check(), PING_EVERY_MS);
    Deno.unrefTimer(this.#pingTimer as unknown as number);
  }

  async #check(): Promise<void> {
    const connection = this.#shared;
    if (!connection) return;
    if (this.#isLazy && connection.inFlight === 0 && Date.now() - this.#lastUse > LAZY_IDLE_MS) {
      this.#shared = undefined;
      clearInterval(this.#pingTimer);
      await connection[Symbol.asyncDispose]();
      return this.#setState("ready", ASLEEP);
    }
    const started = performance.now();
    try {
      await connection.call({ method: "ping", timeoutMs: PING_TIMEOUT_MS, streams: false });
      this.#status = { ...this.#status, latencyMs: performance.now() - started };
    } catch (error) {
      this.#drop(connection, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #onMessage(text: string, message: RpcMessage): void {
    if (message.kind === "notification" && message.method === "notifications/tools/list_changed") {
      void this.refreshTools();
      return;
    }
    if (message.kind === "request") return this.#answerOwn(message.id, message.method);
    // Log lines may speak of any client's call; a change of a list concerns all alike.
    if (message.kind === "notification" && message.method.endsWith("/list_changed")) {
      for (const listener of this.#broadcastListeners) listener(text);
    }
  }

  /** The shared connection offers no client features: a ping is all a server may ask of it. */
  #answerOwn(id: string | number, method: string): void {
    const answer = method === "ping"
      ? { result: {} }
      : { error: { code: -32601, message: "Method not found" } };
    void this.#shared?.answer(JSON.stringify({ jsonrpc: "2.0", id, ...answer })).catch(() => {});
  }

  #logLine(line: string, kind: "stderr" | "warning"): void {
    this.log.add(line);
    if (kind === "warning") this.#options.log.warn({ serverName: this.name }, line);
    else this.#options.log.debug({ serverName: this.name, line }, "stderr");
  }

  #setState(state: ServerState, reason: string, lastError?: string): void {
    const changed = state !== this.#status.state;
    this.#status = {
      ...this.#status,
      state,
      reason,
      since: changed ? Date.now() : this.#status.since,
      ...(lastError === undefined ? {} : { lastError }),
    };
    const level = state === "failed" || state === "degraded" || state === "needs_login"
      ? "warn"
      : "info";
    this.#options.log[level](
      { serverName: this.name, state, reason, tools: this.#status.toolCount },
      `Server ${state.replace("_", " ")}`,
    );
    this.#options.onStatus(this.#status);
  }

  #notConnected(): GatewayError {
    const { state, reason } = this.#status;
    return new GatewayError("SERVER_DISCONNECTED", {
      message: `Server "${this.name}" is ${state.replace("_", " ")}: ${reason}`,
      recoverySteps: state === "needs_login"
        ? ["Log in to the server in the console, then try again"]
        : [
          "Wait a moment: the gateway tries to reconnect by itself",
          `Look at the server's log (\`deno task cli server logs ${this.name}\`, or its page in the console)`,
          `Restart it (\`deno task cli server restart ${this.name}\`)`,
        ],
      suggestedTools: ["list_servers", "restart_server"],
    });
  }

  #explain(error: LinkClosed): GatewayError {
    return new GatewayError("SERVER_DISCONNECTED", {
      message: `Server "${this.name}": ${error.message}`,
      recoverySteps: [
        "Try again: the gateway reconnects by itself",
        `If it happens again, restart "${this.name}"`,
      ],
      suggestedTools: ["list_servers", "restart_server"],
      cause: error,
    });
  }

  async #closeAll(...shared: (Connection | undefined)[]): Promise<void> {
    const own = [...this.#own];
    this.#own.clear();
    await Promise.all([...shared, ...own].map((connection) => connection?.[Symbol.asyncDispose]()));
  }
}
