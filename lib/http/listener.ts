import {
  closeQuietly,
  type ConnectionClock,
  HttpConnection,
  type HttpConnectionOptions,
} from "./connection.ts";
import { textMessage, writeAll } from "./exchange.ts";
import type { IncomingRequest } from "./incoming_request.ts";

/** How long a client may take, in ms, and how many may be connected. */
interface ListenerLimits {
  /** For a request's headers, also those of the first on a connection. */
  headersMs: number;
  /** For a whole request; body readers may be stricter. */
  requestMs: number;
  /** For taking the next part of an answer. */
  writeMs: number;
  /** Between two requests on one connection. */
  idleMs: number;
  /** Default: what the process's limit on file descriptors leaves room for. */
  connections?: number;
}

export interface HttpListenOptions {
  hostname: string;
  port: number;
  limits?: Partial<ListenerLimits>;
  /** Called at most once a minute when connections had to be closed or refused. */
  onCrowded?: ((message: string) => void) | undefined;
}

/** Deno's own servers fit this interface. */
export interface HttpListener {
  addr: { port: number };
  /** Stops accepting connections, and resolves once the open ones have closed. */
  shutdown(): Promise<void>;
}

export type HttpHandler = (
  request: Request | IncomingRequest,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => Response | Promise<Response>;

const LIMITS: ListenerLimits = {
  headersMs: 15_000,
  requestMs: 300_000,
  writeMs: 60_000,
  idleMs: 65_000,
};
const CHECKS_PER_LIMIT = 4;
/** How long to wait when the system has no descriptor for a new connection. */
const ACCEPT_PAUSE_MS = 50;

/**
 * Listens for HTTP/1.1 (docs/adr/0017-listener.md). Not `Deno.serve`: it waits forever for a client
 * that sends half a header, and ends the process when file descriptors run out. Not Node's server:
 * it costs more per call, and under Deno it never accepts again once descriptors have run out.
 */
export function listenHttp(
  { hostname, port, limits, onCrowded }: HttpListenOptions,
  handler: HttpHandler,
): HttpListener {
  const connections = new HttpConnections({ ...LIMITS, ...limits, onCrowded, handler });
  const listener = Deno.listen({ hostname, port });
  const checking = setInterval(() => connections.check(), connections.checkMs);
  let isStopped = false;
  const accepting = accept();
  return {
    addr: listener.addr,
    async shutdown() {
      isStopped = true;
      clearInterval(checking);
      listener.close();
      await accepting;
      await connections.stop();
    },
  };

  async function accept(): Promise<void> {
    while (!isStopped) {
      try {
        const conn = await listener.accept();
        if (isPrepared(conn)) connections.add(conn);
      } catch (error) {
        if (isStopped) return;
        // The client's doing, which says nothing of how many there are.
        if (error instanceof Deno.errors.ConnectionAborted) continue;
        connections.failed(error);
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MS));
      }
    }
  }
}

/** False for one that has been reset: some systems do not set options on it any more. */
function isPrepared(conn: Deno.TcpConn): boolean {
  try {
    conn.setNoDelay(true);
    conn.setKeepAlive(true);
    return true;
  } catch {
    closeQuietly(conn);
    return false;
  }
}

interface ConnectionsOptions extends ListenerLimits, Pick<HttpConnectionOptions, "handler"> {
  onCrowded: HttpListenOptions["onCrowded"];
}

/** Below every system's limit, so most gateways never have to read theirs. */
const UNCHECKED = 48;
/** About 20 KB each, and as much again for a session with a stream. */
const MOST = 16_000;
/** Descriptors for everything but connections of clients, or half of them if there are few. */
const RESERVED = 4_000;
/** Idle connections that make room at once, as a share of all. */
const SHARE_CLOSED = 1 / 32;
const MESSAGE_EVERY_MS = 60_000;
const BUSY = "Too many connections are open: try again in a moment\n";

/**
 * The open connections of a listener. Of the process's file descriptors, some stay free for what
 * serves the clients: pipes of stdio servers, the store, logs and outgoing connections.
 */
class HttpConnections {
  /** How long from one check for those that are over their time to the next. */
  readonly checkMs: number;
  readonly #open = new Set<HttpConnection>();
  readonly #options: ConnectionsOptions;
  readonly #clock: ConnectionClock = { requests: 0, checks: 0 };
  readonly #allClosed = Promise.withResolvers<void>();
  #most: number | undefined;
  #limit: number | undefined;
  #isStopped = false;
  #closed = 0;
  #refused = 0;
  #nextMessage = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#most = options.connections;
    this.checkMs = Math.ceil(options.headersMs / CHECKS_PER_LIMIT);
  }

  /** Accepts a connection, if necessary by closing those that have been idle longest. */
  add(conn: Deno.TcpConn): void {
    if (this.#open.size >= UNCHECKED && this.#most === undefined) this.#most = this.#readMost();
    const most = this.#most ?? Infinity;
    if (this.#open.size >= most) {
      this.#makeRoom();
      this.#tell();
    }
    if (this.#open.size >= most) return this.#refuse(conn);
    const { handler, idleMs } = this.#options;
    const connection = new HttpConnection({
      conn,
      clock: this.#clock,
      handler,
      idleMs,
      onClose: () => {
        this.#open.delete(connection);
        if (this.#isStopped && this.#open.size === 0) this.#allClosed.resolve();
      },
    });
    this.#open.add(connection);
    void connection.serve();
  }

  /** The system had no descriptor left for a new connection: something else uses those that are reserved. */
  failed(error: unknown): void {
    this.#makeRoom();
    this.#tell(error instanceof Error ? error.message : String(error));
  }

  /** Ends those that take too long. */
  check(): void {
    const { headersMs, requestMs, writeMs, idleMs } = this.#options;
    const now = ++this.#clock.checks;
    const isOver = (checks: number, ms: number) => checks > Math.ceil(ms / this.checkMs);
    for (const connection of this.#open) {
      const { isIdle, isWaiting, isReceiving, since, writingSince = now } = connection;
      const checks = now - since;
      const isLate = isIdle && isWaiting
        ? isOver(checks, headersMs)
        : isReceiving && isOver(checks, requestMs);
      if (isOver(now - writingSince, writeMs)) connection.close();
      else if (isLate) connection.timeOut();
      else if (isIdle && isOver(checks, idleMs)) connection.close();
    }
  }

  /** Closes idle connections now, and the others as soon as they are idle. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#open.size === 0) return;
    for (const connection of this.#open) connection.closeWhenIdle();
    await this.#allClosed.promise;
  }

  #makeRoom(): void {
    const idle = [...this.#open].filter(({ isIdle }) => isIdle).sort((one, other) =>
      one.turn - other.turn
    );
    const ending = idle.slice(0, Math.ceil(this.#open.size * SHARE_CLOSED));
    for (const connection of ending) connection.close();
    this.#closed += ending.length;
  }

  #refuse(conn: Deno.TcpConn): void {
    this.#refused++;
    this.#tell();
    const message = textMessage(503, BUSY, ["retry-after: 5"]);
    writeAll(conn, new TextEncoder().encode(message)).catch(() => {}).finally(() =>
      closeQuietly(conn)
    );
  }

  #readMost(): number {
    this.#limit = readDescriptorLimit();
    const limit = this.#limit ?? Infinity;
    return Math.min(MOST, Math.max(1, Math.floor(limit / 2), limit - RESERVED));
  }

  #tell(reason?: string): void {
    const now = Date.now();
    const isNew = reason !== undefined || this.#closed > 0 || this.#refused > 0;
    if (!isNew || now < this.#nextMessage || this.#isStopped) return;
    this.#nextMessage = now + MESSAGE_EVERY_MS;
    const done = [
      ...reason === undefined ? [] : [`Cannot accept a connection: ${reason}`],
      ...this.#closed > 0 ? [`closed ${this.#closed} idle connections`] : [],
      ...this.#refused > 0 ? [`refused ${this.#refused} new connections`] : [],
    ].join("; ");
    this.#closed = this.#refused = 0;
    const most = this.#most === undefined ? "" : ` of at most ${this.#most}`;
    const limit = this.#limit === undefined
      ? ""
      : `, because this process may open ${this.#limit} file descriptors`;
    const isRaisable = reason !== undefined || (this.#limit !== undefined && this.#most! < MOST);
    this.#options.onCrowded?.(
      `${done[0]!.toUpperCase()}${done.slice(1)} (${this.#open.size} open${most}${limit}).` +
        (isRaisable
          ? " To allow more, raise the limit with `ulimit -n` before starting the gateway."
          : ""),
    );
  }
}

/**
 * The soft limit on open files, as a shell that inherits it reports it: Deno has no call for it,
 * and reading /proc takes all permissions.
 */
function readDescriptorLimit(): number | undefined {
  if (Deno.build.os === "windows") return undefined;
  try {
    const { stdout } = new Deno.Command("sh", {
      args: ["-c", "ulimit -n"],
      stdin: "null",
      stderr: "null",
    }).outputSync();
    const limit = Number(new TextDecoder().decode(stdout));
    return Number.isInteger(limit) && limit > 0 ? limit : undefined;
  } catch {
    // Without a shell or the permission to run one: the smallest default there is, of macOS.
    return 256;
  }
}
