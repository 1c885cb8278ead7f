import { joined } from "../../core/joined.ts";
import { isLoopback } from "../../core/loopback.ts";
import { unlessAborted } from "../unless_aborted.ts";
import type { EndpointRequest, HeaderPair } from "./endpoint.ts";
import { PlainConnection } from "./plain_connection.ts";
import { FetchedAnswer, type RemoteAnswer } from "./remote_answer.ts";

/** Connections at rest; a burst of calls may have more. */
const MAX_IDLE = 64;
const IDLE_MS = 30_000;
/** A server that says when it closes a connection is believed to be this much early. */
const EARLY_MS = 1_000;

/** What a header may hold, a byte for each character. */
const FIT = /^[\t\x20-\x7e\x80-\xff]*$/;

const encoder = new TextEncoder();

/**
 * Asks a server on the same machine, over connections that are used again. There the platform's
 * fetch is most of what a relayed call costs; over a network it is not, and is left what it can do
 * besides: TLS, proxies, names, packed bodies.
 */
export class PlainClient implements Disposable {
  readonly #hosts: readonly string[];
  readonly #port: number;
  readonly #open = new Set<PlainConnection>();
  /** Those at rest and since when, the last used first to be used again. */
  readonly #idle: { connection: PlainConnection; since: number }[] = [];
  /** Heads by the headers that they are made of, each for the address it was last used with. */
  readonly #heads = new WeakMap<HeaderPair[], { key: string; bytes: Uint8Array }>();
  #sweeping: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(url: URL) {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    // What a name means may be either; who listens tells.
    this.#hosts = host === "localhost" ? ["127.0.0.1", "::1"] : [host];
    this.#port = Number(url.port || 80);
  }

  static canReach({ protocol, hostname, username, password }: URL): boolean {
    return protocol === "http:" && isLoopback(hostname) && username === "" && password === "";
  }

  async send(url: string, request: EndpointRequest): Promise<RemoteAnswer> {
    const { signal } = request;
    signal.throwIfAborted();
    const parts = this.#partsOf(url, request);
    const connection = this.#takeIdle() ?? await this.#connect(signal);
    if (signal.aborted || this.#isClosed) {
      this.#drop(connection);
      throw signal.reason ?? new Error("The client was closed");
    }
    const abort = () => connection.close();
    signal.addEventListener("abort", abort);
    const answer = await connection.ask(parts, (isReusable) => {
      signal.removeEventListener("abort", abort);
      if (isReusable && !signal.aborted) this.#rest(connection);
      else this.#drop(connection);
    });
    const seconds = /\btimeout=(\d{1,6})\b/.exec(answer.headers.get("keep-alive") ?? "")?.[1];
    if (seconds !== undefined) {
      connection.goodUntil = performance.now() + Number(seconds) * 1000 - EARLY_MS;
    }
    return answer.headers.has("content-encoding") ? unpacked(answer) : answer;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#sweeping);
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#idle.length = 0;
  }

  /** The request as it is sent. Nearly all have the same head but for the length of the body. */
  #partsOf(url: string, { method, headers, body }: EndpointRequest): Uint8Array[] {
    const key = `${method} ${url}`;
    const known = this.#heads.get(headers);
    const head = known?.key === key
      ? known.bytes
      : bytesOf(headText(method, new URL(url), headers));
    if (known?.key !== key) this.#heads.set(headers, { key, bytes: head });
    if (body === undefined) return [joined([head, encoder.encode("\r\n")])];
    const bytes = encoder.encode(body);
    const length = encoder.encode(`content-length: ${bytes.length}\r\n\r\n`);
    // A large body is not copied to save a write.
    return bytes.length > 64 * 1024
      ? [joined([head, length]), bytes]
      : [joined([head, length, bytes])];
  }

  async #connect(signal: AbortSignal): Promise<PlainConnection> {
    let failure: unknown;
    for (const hostname of this.#hosts) {
      const connecting = Deno.connect({ hostname, port: this.#port });
      let conn: Deno.TcpConn;
      try {
        conn = await unlessAborted(connecting, signal);
      } catch (error) {
        // It may come about though nobody waits for it any more.
        connecting.then((late) => late.close(), () => {});
        if (signal.aborted) throw error;
        failure ??= error;
        continue;
      }
      conn.setNoDelay(true);
      const connection = new PlainConnection(conn);
      this.#open.add(connection);
      return connection;
    }
    throw failure;
  }

  #takeIdle(): PlainConnection | undefined {
    const now = performance.now();
    for (;;) {
      const connection = this.#idle.pop()?.connection;
      if (!connection || connection.goodUntil > now) return connection;
      this.#drop(connection);
    }
  }

  #rest(connection: PlainConnection): void {
    if (this.#isClosed || this.#idle.length >= MAX_IDLE) return this.#drop(connection);
    this.#idle.push({ connection, since: performance.now() });
    connection.watch(() => this.#drop(connection));
    this.#sweeping ??= setTimeout(() => this.#sweep(), IDLE_MS);
  }

  #sweep(): void {
    const limit = performance.now() - IDLE_MS;
    for (const { connection, since } of [...this.#idle]) {
      if (since <= limit) this.#drop(connection);
    }
    this.#sweeping = this.#idle.length > 0 ? setTimeout(() => this.#sweep(), IDLE_MS) : undefined;
  }

  #drop(connection: PlainConnection): void {
    connection.close();
    this.#open.delete(connection);
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}

function headText(method: string, { host, pathname, search }: URL, headers: HeaderPair[]): string {
  const own: HeaderPair[] = [["host", host], ["accept-encoding", "identity"], ...headers];
  for (const [name, value] of own) {
    if (!FIT.test(name + value)) throw new TypeError("A header has what HTTP cannot carry");
  }
  const lines = own.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}`;
}

/** What a server packed though it was asked not to. */
function unpacked(answer: RemoteAnswer): RemoteAnswer {
  const { status, headers } = answer;
  const packing = headers.get("content-encoding")!.toLowerCase();
  if (packing === "identity") return answer;
  if (packing !== "gzip" && packing !== "deflate") {
    void answer.cancel();
    throw new Error("invalid HTTP: a body packed in a way that was not asked for");
  }
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const piece = await answer.read();
      if (piece) controller.enqueue(piece.slice());
      else controller.close();
    },
    cancel: () => answer.cancel(),
  });
  const whole = new FetchedAnswer(
    new Response(packed.pipeThrough(new DecompressionStream(packing))),
  );
  return {
    status,
    headers,
    read: () => whole.read(),
    text: () => whole.text(),
    cancel: () => whole.cancel(),
  };
}

/** One byte for each character, as headers have it. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
