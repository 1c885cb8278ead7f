import { isLoopback } from "../../config/address.ts";
import { abortable, type CancelSignal } from "../../core/async.ts";
import { FetchResponse, type HttpResponse } from "./http_response.ts";
import { Http1Connection, invalidHttp } from "./http1_connection.ts";
import type { HeaderPair, UpstreamRequest } from "./origin_client.ts";

/** Idle connections that are kept; a burst of calls may open more. */
const MAX_IDLE = 64;
const IDLE_MS = 30_000;

/** A longer body is not copied to save a write. */
const COPIED_CHARS = 64 * 1024;
/** Room for the length of a body and what stands around it. */
const LENGTH_BYTES = 64;

/** One byte per character, as HTTP/1.1 headers allow. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
const ASCII_TEXT = /^[\t\x20-\x7e]*$/;

const encoder = new TextEncoder();

/**
 * HTTP/1.1 to a server on this machine, over reused connections. There the platform's fetch is most
 * of the cost of a relayed call. Over a network it is not, and fetch also does TLS, proxies and names.
 */
export class LoopbackClient implements Disposable {
  readonly #hosts: readonly string[];
  readonly #port: number;
  readonly #open = new Set<Http1Connection>();
  /** The last used is reused first. */
  readonly #idle: Http1Connection[] = [];
  /** Encoded heads by their headers, each for the request line it was last used with. */
  readonly #heads = new WeakMap<HeaderPair[], { key: string; bytes: Uint8Array }>();
  #sweeping: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(url: URL) {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    // The server may listen on either.
    this.#hosts = host === "localhost" ? ["127.0.0.1", "::1"] : [host];
    this.#port = Number(url.port || 80);
  }

  static canReach({ protocol, hostname, username, password }: URL): boolean {
    return protocol === "http:" && isLoopback(hostname) && username === "" && password === "";
  }

  async send(url: string, request: UpstreamRequest): Promise<HttpResponse> {
    const { signal } = request;
    signal.throwIfAborted();
    const parts = this.#encode(url, request);
    const connection = this.#takeIdle() ?? await this.#acquire(signal);
    if (signal.aborted || this.#isClosed) {
      this.#release(connection);
      throw signal.reason ?? new Error("The client was closed");
    }
    const abort = () => connection.close();
    signal.addEventListener("abort", abort);
    const response = await connection.send(parts, (isReusable) => {
      signal.removeEventListener("abort", abort);
      if (isReusable && !signal.aborted) this.#release(connection);
      else this.#drop(connection);
    });
    return response.headers.has("content-encoding") ? decompressed(response) : response;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#sweeping);
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#idle.length = 0;
  }

  /** The bytes of a request. Nearly all have the same head except for the length of the body. */
  #encode(url: string, { method, headers, ownHeaders, body }: UpstreamRequest): Uint8Array[] {
    const key = `${method} ${url}`;
    let head = this.#heads.get(headers);
    if (head?.key !== key) {
      this.#heads.set(headers, head = { key, bytes: encodeHead(method, new URL(url), headers) });
    }
    const own = ownHeaders ? ownLines(ownHeaders) : "";
    if (body === undefined) return [concat(head.bytes, encoder.encode(`${own}\r\n`))];
    if (body.length <= COPIED_CHARS) return [encodeWhole(head.bytes, own, body)];
    const bytes = encoder.encode(body);
    return [concat(head.bytes, encoder.encode(lengthLine(own, bytes.length))), bytes];
  }

  #takeIdle(): Http1Connection | undefined {
    const now = performance.now();
    for (;;) {
      const connection = this.#idle.pop();
      if (!connection || connection.idleUntil > now) return connection;
      this.#drop(connection);
    }
  }

  async #acquire(signal: CancelSignal): Promise<Http1Connection> {
    if (this.#open.size > 0) {
      // An event stream that has delivered its response usually ends in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
      const idle = this.#takeIdle();
      if (idle) return idle;
    }
    return await this.#connect(signal);
  }

  async #connect(signal: CancelSignal): Promise<Http1Connection> {
    let failure: unknown;
    for (const hostname of this.#hosts) {
      const connecting = Deno.connect({ hostname, port: this.#port });
      try {
        const conn = await abortable(connecting, signal);
        conn.setNoDelay(true);
        const connection = new Http1Connection(conn);
        this.#open.add(connection);
        return connection;
      } catch (error) {
        connecting.then((late) => late.close(), () => {});
        if (signal.aborted) throw error;
        failure ??= error;
      }
    }
    throw failure;
  }

  #release(connection: Http1Connection): void {
    if (this.#isClosed || this.#idle.length >= MAX_IDLE) return this.#drop(connection);
    connection.idleUntil = performance.now() + Math.min(IDLE_MS, connection.keepAliveMs);
    this.#idle.push(connection);
    connection.watch(() => this.#drop(connection));
    this.#sweeping ??= setTimeout(() => this.#sweep(), IDLE_MS);
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of [...this.#idle]) {
      if (connection.idleUntil <= now) this.#drop(connection);
    }
    this.#sweeping = this.#idle.length > 0 ? setTimeout(() => this.#sweep(), IDLE_MS) : undefined;
  }

  #drop(connection: Http1Connection): void {
    connection.close();
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}

function encodeHead(
  method: string,
  { host, pathname, search }: URL,
  headers: HeaderPair[],
): Uint8Array {
  const all: HeaderPair[] = [["host", host], ["accept-encoding", "identity"], ...headers];
  for (const [name, value] of all) {
    if (!HEADER_TEXT.test(name + value)) throw new TypeError("HTTP cannot carry this header");
  }
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}`;
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The lines of one request's own headers. Unlike configured ones they are always ASCII. */
function ownLines(headers: readonly HeaderPair[]): string {
  let lines = "";
  for (const [name, value] of headers) lines += `${name}: ${value}\r\n`;
  if (headers.some(([name, value]) => !ASCII_TEXT.test(name) || !ASCII_TEXT.test(value))) {
    throw new TypeError("HTTP cannot carry this header");
  }
  return lines;
}

function lengthLine(own: string, length: number): string {
  return `${own}content-length: ${length}\r\n\r\n`;
}

/** A request in one piece. Its body is encoded once, behind the room for what comes before it. */
function encodeWhole(head: Uint8Array, own: string, body: string): Uint8Array {
  const room = head.length + own.length + LENGTH_BYTES;
  // Up to three bytes a character.
  const whole = new Uint8Array(room + body.length * 3);
  const { written } = encoder.encodeInto(body, whole.subarray(room));
  const line = lengthLine(own, written);
  const start = room - line.length - head.length;
  whole.set(head, start);
  encoder.encodeInto(line, whole.subarray(start + head.length, room));
  return whole.subarray(start, room + written);
}

/** A body that the server compressed although it was asked not to. */
function decompressed(response: HttpResponse): HttpResponse {
  const format = response.headers.get("content-encoding")!.toLowerCase();
  if (format === "identity") return response;
  if (format !== "gzip" && format !== "deflate") {
    void response.cancel();
    throw invalidHttp("an encoding that was not accepted");
  }
  const compressed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const piece = await response.read();
      if (piece) controller.enqueue(piece.slice());
      else controller.close();
    },
    cancel: () => response.cancel(),
  });
  const body = compressed.pipeThrough(new DecompressionStream(format));
  return new FetchResponse(new Response(body), response);
}

function concat(...pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
