import { Buffer } from "node:buffer";
import { BadRequest, type HttpRequest, type RequestHead } from "./exchange.ts";

const PIECE_BYTES = 64 * 1024;
const MOST_CHUNK_LINE = 256;
// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");
const decoder = new TextDecoder();

/** The parts of a connection that a request's body is read from. */
type BodySource = Pick<Deno.Conn, "read" | "write">;

interface IncomingBodyOptions {
  source: BodySource;
  head: RequestHead;
  /** Bytes that arrived with the head. */
  rest: Uint8Array;
  onComplete(): void;
}

/** A body that has not come whole with the head. */
export class IncomingBody {
  readonly #source: BodySource;
  readonly #isChunked: boolean;
  readonly #onComplete: () => void;
  /** Bytes that were read, and not used yet. After the body they are the next request's. */
  rest: Uint8Array;
  isComplete: boolean;
  /** Of the body, or of the chunk that is being read. */
  #left: number;
  #isWaited: boolean;
  #buffer: Uint8Array | undefined;

  constructor({ source, head: { length, headers }, rest, onComplete }: IncomingBodyOptions) {
    this.#source = source;
    this.#onComplete = onComplete;
    this.#isChunked = length === "chunked";
    this.#left = length === "chunked" ? 0 : length;
    this.isComplete = length === 0;
    this.rest = rest;
    this.#isWaited = headers.get("expect")?.toLowerCase() === "100-continue";
  }

  /** The next piece, or null at the end. */
  async read(): Promise<Uint8Array | null> {
    if (this.isComplete) return null;
    if (this.#isChunked && this.#left === 0 && !await this.#nextChunk()) return null;
    if (this.rest.byteLength === 0) await this.#fill();
    const piece = this.#take(Math.min(this.#left, this.rest.byteLength));
    this.#left -= piece.byteLength;
    if (this.#left > 0) return piece;
    if (!this.#isChunked) this.#complete();
    else if (await this.#line() !== "") throw new BadRequest(400, "A chunk is too long");
    return piece;
  }

  /** False after the last. */
  async #nextChunk(): Promise<boolean> {
    const size = /^([0-9a-f]{1,8})[ \t]*(;.*)?$/i.exec(await this.#line())?.[1];
    if (size === undefined) throw new BadRequest(400, "A chunk has an invalid length");
    this.#left = parseInt(size, 16);
    if (this.#left > 0) return true;
    // Trailers after the last chunk are ignored.
    for (let lines = 0; await this.#line() !== ""; lines++) {
      if (lines > 100) throw new BadRequest(431, "The body has too many trailers");
    }
    this.#complete();
    return false;
  }

  #complete(): void {
    this.isComplete = true;
    this.#onComplete();
  }

  async #line(): Promise<string> {
    for (;;) {
      // Only the line is copied: `rest` may hold thousands of tiny chunks.
      const text = Buffer.from(this.rest.subarray(0, MOST_CHUNK_LINE)).toString("latin1");
      const end = text.indexOf("\r\n");
      if (end !== -1) {
        this.#take(end + 2);
        const line = text.slice(0, end);
        if (CONTROL.test(line)) throw new BadRequest(400, "A chunk is invalid");
        return line;
      }
      if (text.length === MOST_CHUNK_LINE) {
        throw new BadRequest(400, "A chunk's size line is too long");
      }
      await this.#fill();
    }
  }

  #take(count: number): Uint8Array {
    const taken = this.rest.subarray(0, count);
    this.rest = this.rest.subarray(count);
    return taken;
  }

  async #fill(): Promise<void> {
    if (this.#isWaited) await this.#source.write(CONTINUE);
    this.#isWaited = false;
    const buffer = this.#buffer ??= new Uint8Array(PIECE_BYTES);
    const count = await this.#source.read(buffer).catch(() => null);
    if (count === null) throw new BadRequest(400, "The body ended early");
    // A copy: pieces are kept until the body is whole, and may be a byte each.
    const piece = buffer.slice(0, count);
    this.rest = this.rest.byteLength === 0 ? piece : Buffer.concat([this.rest, piece]);
  }
}

interface IncomingRequestOptions {
  head: RequestHead;
  /** One that came whole is a text if every byte of it is a character. */
  body: IncomingBody | Uint8Array<ArrayBuffer> | string;
  /** Begins to watch whether the client leaves. */
  watch(): AbortSignal;
}

/**
 * A request as read from a connection. MCP endpoints use it directly: building a Request takes
 * longer than everything else the listener does for a call.
 */
export class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, "get" | "keys">;
  readonly wholeText: string | undefined;
  readonly #options: IncomingRequestOptions;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined;

  constructor(options: IncomingRequestOptions) {
    this.#options = options;
    const { method, url, headers } = options.head;
    this.method = method;
    this.url = url;
    this.headers = new IncomingHeaders(headers);
    this.wholeText = typeof options.body === "string" ? options.body : undefined;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#stream !== undefined) return this.#stream;
    const { body } = this.#options;
    if (body instanceof IncomingBody) return this.#stream = streamOf(body);
    return this.#stream = body.length === 0 ? null : new Response(body).body;
  }

  async text(): Promise<string> {
    const { body } = this.#options;
    if (typeof body === "string") return body;
    if (body instanceof Uint8Array) return decoder.decode(body);
    const pieces: Uint8Array[] = [];
    for (let piece; (piece = await body.read());) pieces.push(piece);
    return decoder.decode(Buffer.concat(pieces));
  }

  /** The same as a Request. Its signal fires only if the client disconnects before the response. */
  toRequest(): Request {
    const { head: { headers, method, url }, watch } = this.#options;
    const body = method === "GET" || method === "HEAD" ? null : this.body;
    return new Request(url, { method, headers: [...headers], body, signal: watch() });
  }
}

class IncomingHeaders {
  readonly #values: Map<string, string>;

  constructor(values: Map<string, string>) {
    this.#values = values;
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  keys(): MapIterator<string> {
    return this.#values.keys();
  }
}

/** Read as fast as it is consumed. Canceling leaves the connection open for the answer. */
function streamOf(body: IncomingBody): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const piece = await body.read();
      if (piece) controller.enqueue(new Uint8Array(piece));
      else controller.close();
    },
  }, { highWaterMark: 0 });
}
