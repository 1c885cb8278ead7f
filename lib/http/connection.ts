import {
  BadRequest,
  HeadReader,
  JsonResponse,
  type Output,
  type ReadHead,
  textMessage,
  writeAll,
  writeJson,
  type WriteOptions,
  writeResponse,
} from "./exchange.ts";
import { IncomingBody, IncomingRequest } from "./incoming_request.ts";
import type { HttpHandler } from "./listener.ts";

/** Counters instead of timestamps, which cost more to read. */
export interface ConnectionClock {
  /** Grows with every request on any connection. */
  requests: number;
  /** The number of checks so far. */
  checks: number;
}

export interface HttpConnectionOptions {
  conn: Deno.TcpConn;
  clock: ConnectionClock;
  handler: HttpHandler;
  /** The idle timeout to announce to clients. */
  idleMs: number;
  onClose(): void;
}

const START_BYTES = 4 * 1024;
const LINGER_MS = 1_000;
const LINGER_BYTES = 64 * 1024;
const encoder = new TextEncoder();

/** A client's connection: reads requests one after another, and sends responses. */
export class HttpConnection {
  readonly #options: HttpConnectionOptions;
  readonly #heads = new HeadReader();
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(START_BYTES);
  /** How much of the buffer is filled. */
  #size = 0;
  /** A read that began while a request was being answered. */
  #reading: Promise<number | null> | undefined;
  #body: IncomingBody | undefined;
  #onLeave: (() => void)[] = [];
  #isClosed = false;
  #isClosing = false;
  #isAnswering = false;
  isIdle = true;
  /** Whether a request is expected: part of it has arrived, or it is the first. */
  isWaiting = true;
  /** The number of its last request; the smallest number has been idle longest. */
  turn: number;
  /** The last check before its state (waiting, busy or idle) changed. */
  since: number;
  /** The check before the write that is under way; undefined if there is none. */
  writingSince: number | undefined;
  #isTimedOut = false;
  /** The time for a write starts over whenever the client has taken a part. */
  readonly #output: Output = {
    write: (bytes) => {
      const { conn, clock } = this.#options;
      this.writingSince = clock.checks;
      return conn.write(bytes);
    },
    onTaken: () => this.writingSince = undefined,
  };

  readonly #info: Deno.ServeHandlerInfo<Deno.NetAddr>;

  constructor(options: HttpConnectionOptions) {
    const { conn } = options;
    this.#options = options;
    this.#info = {
      completed: Promise.resolve(),
      get remoteAddr() {
        return conn.remoteAddr;
      },
    };
    this.turn = options.clock.requests;
    this.since = options.clock.checks;
  }

  /** Whether the body of the current request has not fully arrived. */
  get isReceiving(): boolean {
    return this.#body !== undefined && !this.#body.isComplete;
  }

  async serve(): Promise<void> {
    let isRefused = false;
    try {
      while (await this.#next()) { /* the next request */ }
    } catch (error) {
      // The handler reports what went wrong; all that is left to do is to end the connection.
      isRefused = error instanceof BadRequest;
      if (error instanceof BadRequest) await this.#refuse(error);
    }
    if ((isRefused || this.isReceiving) && !this.#isClosed) await this.#linger();
    this.close();
  }

  /**
   * Reads on for a moment after the answer to a request that was not wanted whole. To close while
   * more arrives would reset the connection, and the client might never see its answer.
   */
  async #linger(): Promise<void> {
    const { conn } = this.#options;
    const timer = setTimeout(() => this.close(), LINGER_MS);
    try {
      await conn.closeWrite();
      const ignored = new Uint8Array(LINGER_BYTES);
      while (await conn.read(ignored) !== null) { /* until the client has seen it */ }
    } catch {
      /* it has gone */
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells the client that it took too long. */
  timeOut(): void {
    // It does not even read that, or it would take the text for a part of its answer.
    if (this.#isTimedOut || this.#isAnswering) return this.close();
    this.#isTimedOut = true;
    void this.#refuse(new BadRequest(408, "The request took too long")).then(() => this.close());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeQuietly(this.#options.conn);
    this.#options.onClose();
    for (const leave of this.#onLeave) leave();
  }

  /** Closes as soon as nothing is being answered. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    if (this.isIdle) this.close();
  }

  /** Answers one request; false if there will be no other. */
  async #next(): Promise<boolean> {
    const read = await this.#readHead();
    if (!read) return false;
    const { handler, clock } = this.#options;
    this.turn = ++clock.requests;
    this.since = clock.checks;
    this.isWaiting = this.isIdle = false;
    const request = this.#requestOf(read);
    const response = await handler(request, this.#info);
    const keepsAlive = read.head.keepsAlive && !this.#isClosing && !this.isReceiving;
    const idleMs = keepsAlive ? this.#options.idleMs : undefined;
    this.#isAnswering = true;
    if (response instanceof JsonResponse && response.isPlain && read.head.method !== "HEAD") {
      await writeJson(this.#output, response, idleMs);
    } else {
      await this.#send(response, { head: read.head, idleMs });
    }
    this.#isAnswering = false;
    // It has its answer, so the end of the connection aborts nothing.
    this.#onLeave = [];
    if (!keepsAlive || this.#isClosed) return false;
    this.#takeRest();
    this.isIdle = true;
    this.since = clock.checks;
    return !this.#isClosing;
  }

  async #readHead(): Promise<ReadHead | undefined> {
    for (;;) {
      if (this.#size > 0) {
        const read = this.#heads.read(this.#buffer.subarray(0, this.#size));
        if (read) return read;
        this.#wait();
      }
      if (this.#size === this.#buffer.byteLength) this.#enlarge();
      const count = await (this.#reading ?? this.#read());
      this.#reading = undefined;
      if (count === null) return undefined;
      this.#size += count;
    }
  }

  #read(): Promise<number | null> {
    return this.#options.conn.read(this.#buffer.subarray(this.#size));
  }

  /** The time limit for a head starts with its first byte, however slowly the rest arrives. */
  #wait(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.since = this.#options.clock.checks;
  }

  #requestOf({ head, size, rest }: ReadHead): IncomingRequest {
    const watch = () => this.#watch();
    const filled = this.#buffer.subarray(0, this.#size);
    // A long head must not cost memory for as long as the connection lasts.
    if (this.#buffer.byteLength > START_BYTES) this.#buffer = new Uint8Array(START_BYTES);
    if (head.length !== "chunked" && filled.byteLength === size + head.length) {
      this.#body = undefined;
      this.#size = 0;
      // A file's bytes are not all characters.
      const body = rest === undefined || rest.includes("\ufffd") ? filled.slice(size) : rest;
      return new IncomingRequest({ head, body, watch });
    }
    const body = this.#body = new IncomingBody({
      source: this.#options.conn,
      head,
      // A copy: the buffer is read into again while the request is being answered.
      rest: filled.slice(size),
      onComplete: () => this.#onLeave.length > 0 && this.#readAhead(),
    });
    this.#size = 0;
    return new IncomingRequest({ head, body, watch });
  }

  /** What came after a body belongs to the next request. */
  #takeRest(): void {
    const rest = this.#body?.rest;
    this.#body = undefined;
    if (!rest || rest.byteLength === 0) return;
    while (this.#buffer.byteLength < rest.byteLength) this.#enlarge();
    this.#buffer.set(rest);
    this.#size = rest.byteLength;
  }

  #enlarge(): void {
    const larger = new Uint8Array(this.#buffer.byteLength * 2);
    larger.set(this.#buffer);
    this.#buffer = larger;
  }

  /** Fires if the client disconnects before it has its response. */
  #watch(): AbortSignal {
    const gone = new AbortController();
    this.#onLeave.push(() => gone.abort(new DOMException("The client disconnected", "AbortError")));
    this.#readAhead();
    return gone.signal;
  }

  /** Only reading reveals that a client disconnects; data read here belongs to the next request. */
  #readAhead(): void {
    const hasRest = this.#body !== undefined &&
      (!this.#body.isComplete || this.#body.rest.byteLength > 0);
    if (this.#reading || hasRest) return;
    this.#reading = this.#read();
    this.#reading.then((count) => count === null && this.close(), () => this.close());
  }

  async #send(response: Response, options: WriteOptions): Promise<void> {
    if (!response.body || options.head.method === "HEAD") {
      await response.body?.cancel();
      return await writeResponse(this.#output, response, options);
    }
    if (this.#isClosed) return await response.body.cancel();
    const reader = response.body.getReader();
    this.#onLeave.push(() => void reader.cancel().catch(() => {}));
    this.#readAhead();
    try {
      await writeResponse(this.#output, response, { ...options, reader });
    } catch (error) {
      reader.cancel().catch(() => {});
      throw error;
    }
  }

  async #refuse({ status, message }: BadRequest): Promise<void> {
    try {
      await writeAll(this.#output, encoder.encode(textMessage(status, message)));
    } catch { /* it has gone */ }
  }
}

/** Does nothing if it is already closed. */
export function closeQuietly(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch { /* it is closed */ }
}
