import { GatewayError } from "../core/errors.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { Era } from "./negotiation.ts";
import { abortable, type CancelSignal } from "../core/async.ts";
import { failureCause } from "../core/failure_cause.ts";
import type { RpcMessage } from "../core/rpc.ts";
import type { ServerState } from "../core/server.ts";
import { CONNECTED, TRYING_AGAIN } from "../core/text.ts";
import {
  failureReason,
  isSessionLost,
  needsLogin,
  notConnected,
  type OutputLog,
  type StatusTracker,
} from "./status.ts";
import type { TransportEvents } from "./transports/transport.ts";

interface SharedConnectionOptions extends Pick<ConnectionOptions, "serverName" | "openTransport"> {
  startTimeoutMs(): number;
  /** What the server spoke last, if that is known. */
  era(): Promise<Era | undefined>;
  timings: Timings;
  status: StatusTracker;
  log: OutputLog;
  onLog: TransportEvents["onLog"];
  /** Done before a connection is in use; where it fails, so does the connection. */
  prepare(connection: Connection, signal: AbortSignal): Promise<void>;
  onReady(connection: Connection): void;
  /** Before a failed try is made known. */
  onFailed(signal: AbortSignal): Promise<void>;
  /** How long a server that is at work may stay silent. */
  patienceMs(): number;
  onMessage(text: string, message: RpcMessage): void;
  /** Aborts when the server is done with: nothing is waited for then. */
  signal: AbortSignal;
}

interface Attempt {
  controller: AbortController;
  connection: Promise<Connection>;
}

/** The connection of all clients that need none of their own: made, watched, and made again. */
export class SharedConnection implements AsyncDisposable {
  readonly #options: SharedConnectionOptions;
  #current: Connection | undefined;
  #attempt: Attempt | undefined;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  #pinging: Connection | undefined;
  /** In a row; past the first one callers are told at once instead of waiting. */
  #failures = 0;
  #connectedAt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** Ends with the program of the last connection, so that two never run at once. */
  #released: Promise<void> = Promise.resolve();
  /** Ends with the connections whose calls in flight have some time left. */
  #settled: Promise<unknown> = Promise.resolve();

  constructor(options: SharedConnectionOptions) {
    this.#options = options;
  }

  get current(): Connection | undefined {
    return this.#current;
  }

  /** Waits for a connection that is being made or is about to be; fails fast where hope is low. */
  acquire(signal?: CancelSignal): Promise<Connection> {
    const isAwaited = this.#attempt !== undefined || this.#retryTimer !== undefined;
    if (!this.#current && (!isAwaited || this.#failures > 1)) {
      return Promise.reject(notConnected(this.#options.status.current));
    }
    return abortable(this.connect(), signal);
  }

  connect(): Promise<Connection> {
    if (this.#current) return Promise.resolve(this.#current);
    if (this.#options.signal.aborted) {
      return Promise.reject(notConnected(this.#options.status.current));
    }
    this.#attempt ??= this.#begin();
    return this.#attempt.connection;
  }

  /** The server has done its work: what ends it next is not the same trouble again. */
  forgive(connection: Connection): void {
    if (connection === this.#current) this.#failures = 0;
  }

  /** Asks whether the server is still there, because there is reason to doubt it. */
  doubt(connection: Connection): void {
    if (connection === this.#current) this.#ping(connection);
  }

  /** The connection is of no more use; another one is made, sooner if this one was a good one. */
  drop(connection: Connection, reason: Error): void {
    if (this.#current !== connection) return;
    const wasGood = Date.now() - this.#connectedAt > this.#options.timings.steady;
    const failures = wasGood ? 0 : this.#failures;
    // Other calls on a forgotten session are yet to be refused, each for itself, and can be repeated.
    void this.disconnect("it was lost", isSessionLost(reason) ? this.#options.timings.settle : 0);
    this.#failures = failures;
    if (needsLogin(reason)) this.#fail(reason);
    else this.#retryLater("degraded", reason.message);
  }

  /**
   * Ends the connection, or the try to make one, and makes no new one. Calls in flight have
   * `settleMs` left.
   */
  disconnect(why: string, settleMs = 0): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    clearInterval(this.#pingTimer);
    this.#failures = 0;
    const attempt = this.#attempt;
    const current = this.#current;
    this.#attempt = this.#current = undefined;
    const message = `The connection to server "${this.#options.serverName}" was closed: ${why}`;
    attempt?.controller.abort(new GatewayError("SERVER_DISCONNECTED", { message }));
    const isBusy = settleMs > 0 && current !== undefined && current.inFlight > 0;
    const ended = Promise.all([
      this.#released,
      attempt?.connection.catch(() => {}),
      // However it ends, it is over, and must not keep the next one from starting.
      current?.end(settleMs, this.#options.signal).catch(() => {}),
    ]).then(() => {});
    if (isBusy) this.#settled = Promise.all([this.#settled, ended]);
    else this.#released = ended;
    return ended;
  }

  /** After its signal has aborted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect("it is being stopped");
    await this.#settled;
  }

  #begin(): Attempt {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    const controller = new AbortController();
    const connection = this.#open(controller.signal).finally(() => {
      if (this.#attempt?.controller === controller) this.#attempt = undefined;
    });
    return { controller, connection };
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { serverName, openTransport, status } = this.#options;
    let connection: Connection | undefined;
    let lost: Error | undefined;
    const stop = () => void connection?.[Symbol.asyncDispose]();
    signal.addEventListener("abort", stop);
    try {
      await abortable(this.#released, signal);
      const started = performance.now();
      connection = await Connection.open({
        serverName,
        openTransport,
        capabilities: {},
        startTimeoutMs: this.#options.startTimeoutMs(),
        era: await this.#options.era(),
        signal,
        events: {
          onLog: this.#options.onLog,
          onInstall(reason) {
            // A retry that asks again for a package that does not exist installs nothing.
            const { state, reason: failure } = status.current;
            if (state === "failed" && failureCause(failure) === "package_not_found") return;
            if (reason === undefined) status.set("starting", "Starting");
            else status.set("installing", reason);
          },
          onMessage: (text, message) => this.#onMessage(connection, text, message),
          onClose: (reason) => {
            lost = reason;
            if (connection) this.drop(connection, reason);
          },
        },
      });
      await this.#options.prepare(connection, signal);
      signal.throwIfAborted();
      // Too early for drop() to know it.
      if (lost) throw lost;
      status.note({ latencyMs: performance.now() - started });
      this.#adopt(connection);
      return connection;
    } catch (error) {
      await connection?.[Symbol.asyncDispose]();
      if (!signal.aborted) await this.#options.onFailed(signal);
      if (signal.aborted) throw signal.reason;
      this.#fail(error);
      throw notConnected(status.current);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #adopt(connection: Connection): void {
    const { timings, status } = this.#options;
    this.#current = connection;
    this.#connectedAt = Date.now();
    // First: listeners that hear "ready" read what the server said about itself.
    this.#options.onReady(connection);
    status.set("ready", CONNECTED);
    this.#pingTimer = setInterval(() => this.#ping(connection), timings.pingEvery);
    Deno.unrefTimer(Number(this.#pingTimer));
  }

  #ping(connection: Connection): void {
    if (this.#pinging === connection) return;
    this.#pinging = connection;
    void this.#check(connection).finally(() => {
      if (this.#pinging === connection) this.#pinging = undefined;
    });
  }

  /** Finds out whether the server still answers. Never throws. */
  async #check(connection: Connection): Promise<void> {
    const { timings, status, patienceMs } = this.#options;
    const asked = Date.now();
    const started = performance.now();
    try {
      await connection.session.checkAlive(timings.pingTimeout);
      if (connection !== this.#current) return;
      status.note({ latencyMs: performance.now() - started });
      if (status.current.state !== "ready") status.set("ready", CONNECTED);
    } catch (error) {
      if (connection !== this.#current) return;
      const { heardAt, inFlight } = connection;
      const isSilent = error instanceof GatewayError && error.code === "TIMEOUT";
      // It has said something else meanwhile, perhaps in the same millisecond.
      if (isSilent && heardAt >= asked) return;
      // At work on calls it may be too busy to answer.
      if (isSilent && inFlight > 0 && Date.now() - heardAt < patienceMs()) {
        status.set("degraded", "Does not answer pings while it is processing calls");
      } else this.drop(connection, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: unknown): void {
    const { log, status } = this.#options;
    const reason = failureReason(error, log);
    if (needsLogin(error)) {
      return status.set("needs_login", `The server requires a login: ${reason}`, reason);
    }
    this.#retryLater("failed", reason);
  }

  #retryLater(state: ServerState, reason: string): void {
    const wait = backoffMs(++this.#failures);
    // When is told as a time: a number of seconds in the text would be wrong a second later.
    const at = Date.now() + wait;
    this.#options.status.set(state, `${reason}; ${TRYING_AGAIN}`, reason, at);
    this.#retryTimer = setTimeout(() => void this.connect().catch(() => {}), wait);
  }

  #onMessage(connection: Connection | undefined, text: string, message: RpcMessage): void {
    if (message.kind !== "request") return this.#options.onMessage(text, message);
    if (connection?.isStateless) return;
    // A shared connection offers no client features: a ping is all a server may ask of it.
    const answer = message.method === "ping"
      ? { result: {} }
      : { error: { code: -32601, message: `The client does not support ${message.method}` } };
    const out = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer });
    void connection?.answer(out).catch(() => {});
  }
}

const FIRST_MS = 500;
const MOST_MS = 60_000;

/** How long to wait before try number `attempt` (from 1): doubling, with jitter, up to a minute. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20));
  return Math.round(full * (0.5 + random() / 2));
}

/** Time limits for a server, in ms. */
export const TIMINGS = {
  /** Default time limit for a start, up to the completed handshake. */
  start: 60_000,
  /** How long a call waits for a starting server, unless the call's own limit is shorter. */
  startWait: 30_000,
  pingEvery: 30_000,
  pingTimeout: 10_000,
  /** A connection that held this long was a good one: the next try starts without a wait. */
  steady: 30_000,
  /** After this long without a call a lazy server is stopped. */
  lazyIdle: 5 * 60_000,
  /** After this long without a word a client's own connection is ended; its next call opens another. */
  ownIdle: 10 * 60_000,
  /** Lists that no client asks for are not read more often than this. */
  minTtl: 5 * 60_000,
  /** What the calls in flight have left when a server's entry changes. */
  settle: 10_000,
};
export type Timings = typeof TIMINGS;
