import type { HttpResponse } from "./http_response.ts";
import { StreamFlooded } from "./stream_budget.ts";

/** A connection is given up this long before the server says that it closes it. */
const EARLY_MS = 1_000;
const BUFFER_BYTES = 16 * 1024;
/** Enough for the beginning of a response. */
const ROOM_BYTES = 1024;
/** Where the end of a head is looked for first. */
const HEAD_BYTES = 1024;
const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size with its extensions. */
const MAX_LINE_BYTES = 4 * 1024;
const CR = 13;
const LF = 10;
const MAX_SIZE_DIGITS = 12;
const START = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\0\r\n]*)?\r\n/;
const HEADER_LINE = /([!#$%&'*+.^_`|~\w-]+):([^\0\r\n]*)\r\n/y;
const CHUNK_SIZE = /^[0-9a-f]{1,12}(?=[ \t]*(?:;|$))/i;
const latin1 = new TextDecoder("latin1");
const utf8 = new TextDecoder();

export class Http1Connection {
  /** How long the server keeps it open while it is idle. */
  keepAliveMs = Infinity;
  /** Until when it may be reused, by `performance.now()`. */
  idleUntil = Infinity;
  readonly #conn: Deno.Conn;
  #buffer = new Uint8Array(BUFFER_BYTES);
  #start = 0;
  #end = 0;
  /** A read that was begun while the connection was idle. */
  #ahead: Promise<number | null> | undefined;
  /** Servers repeat their heads, except for the date: the last is parsed once. */
  #lastHead: { bytes: Uint8Array; head: Head } | undefined;
  #isClosed = false;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /**
   * Resolves with the head of the response. `onEnd` is called once, when the body was read or
   * canceled, with whether the connection can be reused.
   */
  async send(
    parts: readonly Uint8Array[],
    onEnd: (isReusable: boolean) => void,
  ): Promise<HttpResponse> {
    let isWritten = false;
    // Not awaited: a server may respond before it has read everything.
    const writing = this.#write(parts).then(() => isWritten = true, (error) => error);
    try {
      const head = await this.#readHead();
      if (head.keepAliveMs !== undefined) this.keepAliveMs = head.keepAliveMs;
      return responseOf(this, head, (isWhole) => {
        const isReusable = isWhole && head.isKeptAlive && isWritten && this.#start === this.#end;
        if (!isReusable) this.close();
        onEnd(isReusable);
      });
    } catch (error) {
      this.close();
      onEnd(false);
      const failure = await writing;
      throw failure instanceof Error && !isWritten ? failure : error;
    }
  }

  /** Notices if the server closes it while it is idle, or sends what was not requested. */
  watch(onGone: () => void): void {
    // Behind the bytes handed out last, which may not have been decoded yet.
    this.#makeRoom();
    const ahead = this.#ahead = this.#conn.read(this.#buffer.subarray(this.#end));
    const check = () => {
      if (this.#ahead === ahead) onGone();
    };
    ahead.then(check, check);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ahead?.catch(() => {});
    this.#ahead = undefined;
    try {
      this.#conn.close();
    } catch {
      // It had failed before.
    }
  }

  async take(most: number): Promise<Uint8Array | undefined> {
    return this.takeRead(most) ?? (await this.#fill() ? this.takeRead(most) : undefined);
  }

  /** Undefined if none of the bytes that were read are left. */
  takeRead(most: number): Uint8Array | undefined {
    if (this.#start === this.#end) return undefined;
    const end = Math.min(this.#end, this.#start + most);
    const piece = this.#buffer.subarray(this.#start, end);
    this.#start = end;
    return piece;
  }

  async #readLine(): Promise<string> {
    for (;;) {
      const at = this.#buffer.subarray(0, this.#end).indexOf(LF, this.#start);
      if (at !== -1) {
        const line = latin1.decode(this.#buffer.subarray(this.#start, at));
        this.#start = at + 1;
        if (!line.endsWith("\r")) throw invalidHttp("a line without CRLF");
        return line.slice(0, -1);
      }
      if (this.#end - this.#start > MAX_LINE_BYTES) throw invalidHttp("a line is too long");
      if (!await this.#fill()) throw cutOff();
    }
  }

  /**
   * The size of the next chunk if its line was read, and is nothing but the size; 0 if the body ends
   * with it, without trailers. Undefined means "not certain", and takes nothing.
   */
  plainChunk(isInChunks: boolean): number | undefined {
    const buffer = this.#buffer;
    let at = this.#start;
    if (isInChunks && (buffer[at++] !== CR || buffer[at++] !== LF)) return undefined;
    const first = at;
    let size = 0;
    for (let digit = hexDigit(buffer[at]); digit !== -1; digit = hexDigit(buffer[++at])) {
      size = size * 16 + digit;
    }
    if (at === first || at - first > MAX_SIZE_DIGITS) return undefined;
    if (buffer[at++] !== CR || buffer[at++] !== LF) return undefined;
    if (size === 0 && (buffer[at++] !== CR || buffer[at++] !== LF)) return undefined;
    // Behind the end are bytes of before.
    if (at > this.#end) return undefined;
    this.#start = at;
    return size;
  }

  /** The size of the next chunk; 0 after the last one, with its trailers read. */
  async nextChunk(isInChunks: boolean): Promise<number> {
    if (isInChunks && await this.#readLine() !== "") throw invalidHttp("a chunk's end");
    const size = CHUNK_SIZE.exec(await this.#readLine())?.[0];
    if (size === undefined) throw invalidHttp("a chunk's size");
    const bytes = Number.parseInt(size, 16);
    let left = MAX_HEAD_BYTES;
    while (bytes === 0) {
      const trailer = await this.#readLine();
      if (trailer === "") break;
      if ((left -= trailer.length) < 0) throw invalidHttp("the trailers are too long");
    }
    return bytes;
  }

  async #write(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      let rest = part;
      while (rest.length > 0) rest = rest.subarray(await this.#conn.write(rest));
    }
  }

  #repeatedHead(): Head | undefined {
    const last = this.#lastHead;
    if (!last || this.#end - this.#start < last.bytes.length) return undefined;
    for (let at = 0; at < last.bytes.length; at++) {
      if (this.#buffer[this.#start + at] !== last.bytes[at]) return undefined;
    }
    this.#start += last.bytes.length;
    return last.head;
  }

  async #readHead(): Promise<Head> {
    if (this.#start === this.#end && !await this.#fill()) throw cutOff();
    const repeated = this.#repeatedHead();
    if (repeated) return repeated;
    for (let [bytes, window] = [0, HEAD_BYTES];;) {
      const end = Math.min(this.#end, this.#start + window);
      const text = latin1.decode(this.#buffer.subarray(this.#start, end));
      const length = text.indexOf("\r\n\r\n") + 4;
      if (length > 3) {
        const head = parseHead(text.slice(0, length - 2));
        const start = this.#start;
        this.#start += length;
        if (head.status >= 200) {
          this.#lastHead = { bytes: this.#buffer.slice(start, this.#start), head };
          return head;
        }
        if (head.status === 101) throw invalidHttp("another protocol");
        // Interim responses, such as 100 Continue.
        bytes += length;
        if (bytes > MAX_HEAD_BYTES) throw new StreamFlooded("endless interim responses");
        continue;
      }
      // At once: a server that speaks another protocol may wait for more from us.
      if (!START.startsWith(text.slice(0, START.length))) throw invalidHttp("no status line");
      if (bytes + text.length > MAX_HEAD_BYTES) throw invalidHttp("the head is too long");
      if (end < this.#end) window *= 2;
      else if (!await this.#fill()) throw cutOff();
    }
  }

  async #fill(): Promise<boolean> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (!ahead) {
      if (this.#start === this.#end) this.#start = this.#end = 0;
      this.#makeRoom();
    }
    const count = await (ahead ?? this.#conn.read(this.#buffer.subarray(this.#end)));
    if (count === null) return false;
    this.#end += count;
    return true;
  }

  #makeRoom(): void {
    if (this.#buffer.length - this.#end >= ROOM_BYTES) return;
    const rest = this.#buffer.subarray(this.#start, this.#end);
    this.#buffer = new Uint8Array(Math.max(BUFFER_BYTES, rest.length * 2));
    this.#buffer.set(rest);
    this.#start = 0;
    this.#end = rest.length;
  }
}

function responseOf(
  connection: Http1Connection,
  { status, headers, body }: Head,
  onEnd: (isWhole: boolean) => void,
): HttpResponse {
  /** Unread bytes of the body, or of the chunk. */
  let left = body === "chunked" ? 0 : body;
  let isInChunks = false;
  let isOver = false;
  const finish = (isWhole: boolean): undefined => {
    if (isOver) return;
    isOver = true;
    onEnd(isWhole);
  };
  if (body === 0) finish(true);

  async function read(): Promise<Uint8Array | undefined> {
    if (isOver) return undefined;
    try {
      if (left === 0) {
        left = connection.plainChunk(isInChunks) ?? await connection.nextChunk(isInChunks);
        isInChunks = true;
        if (left === 0) return finish(true);
      }
      const piece = connection.takeRead(left) ?? await connection.take(left);
      if (!piece) {
        if (body !== Infinity) throw cutOff();
        return finish(false);
      }
      left -= piece.length;
      if (left === 0) {
        // At once, if that was read as well: see BodyReader.
        const next = body === "chunked" ? connection.plainChunk(true) : 0;
        if (next === 0) finish(true);
        else left = next ?? 0;
      }
      return piece;
    } catch (error) {
      finish(false);
      throw error;
    }
  }

  async function text(): Promise<string> {
    const first = await read();
    if (isOver) return utf8.decode(first);
    const decoder = new TextDecoder();
    const parts: string[] = [];
    for (let piece = first; piece; piece = await read()) {
      parts.push(decoder.decode(piece, { stream: true }));
    }
    return parts.join("") + decoder.decode();
  }

  return {
    status,
    headers: { get: (name) => headers.get(name) ?? null, has: (name) => headers.has(name) },
    get isOver() {
      return isOver;
    },
    read,
    text,
    cancel: () => Promise.resolve(finish(false)),
  };
}

interface Head {
  status: number;
  headers: ReadonlyMap<string, string>;
  /** How long the connection may be idle, if the server says so. */
  keepAliveMs: number | undefined;
  /** The body's length in bytes; Infinity if it ends with the connection. */
  body: number | "chunked";
  isKeptAlive: boolean;
}

/** Strict: what two readers could understand in two ways is an error. */
function parseHead(text: string): Head {
  const [line = "", minor, code] = STATUS_LINE.exec(text) ?? [];
  if (code === undefined) throw invalidHttp("no status line");
  const headers = new Map<string, string>();
  let at = line.length;
  while (at < text.length - 2) {
    HEADER_LINE.lastIndex = at;
    const [whole, name = "", value = ""] = HEADER_LINE.exec(text) ?? [];
    if (whole === undefined) throw invalidHttp("a header");
    at += whole.length;
    const [key, known] = [name.toLowerCase(), headers.get(name.toLowerCase())];
    headers.set(key, known === undefined ? value.trim() : `${known}, ${value.trim()}`);
  }
  const status = Number(code);
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const seconds = /\btimeout=(\d{1,6})\b/.exec(headers.get("keep-alive") ?? "")?.[1];
  return {
    status,
    headers,
    keepAliveMs: seconds === undefined ? undefined : Number(seconds) * 1000 - EARLY_MS,
    body: bodyLength(status, headers),
    isKeptAlive: minor === "1" ? !connection.includes("close") : connection.includes("keep-alive"),
  };
}

function bodyLength(status: number, headers: ReadonlyMap<string, string>): Head["body"] {
  if (status < 200 || status === 204 || status === 304) return 0;
  const length = headers.get("content-length");
  const encoding = headers.get("transfer-encoding");
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== "chunked") throw invalidHttp("a transfer encoding");
    if (length !== undefined) throw invalidHttp("a length beside a transfer encoding");
    return "chunked";
  }
  if (length === undefined) return Infinity;
  if (!/^\d{1,15}$/.test(length)) throw invalidHttp("a length");
  return Number(length);
}

/** -1 if the byte is none. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

export function invalidHttp(what: string): Error {
  return new Error(`invalid HTTP: ${what}`);
}

function cutOff(): Error {
  return new Error("The connection closed before the end of the response");
}
