import type { RemoteAnswer } from "./remote_answer.ts";

const BUFFER_BYTES = 16 * 1024;
/** Enough for the beginning of an answer. */
const ROOM_BYTES = 1024;
const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size and what a server may say with it. */
const MAX_LINE_BYTES = 4 * 1024;
const [CR, LF] = [13, 10];
const START = "HTTP/1.";

/** How the end of a body is told. */
type Framing = "none" | "length" | "chunked" | "close";

/** One answer's head. */
interface Head {
  status: number;
  headers: Map<string, string>;
  /** Whether more can be asked on the same connection. */
  isKept: boolean;
}

/** A connection that speaks HTTP/1.1, one request after the other. */
export class PlainConnection {
  /** Until when it may be used again, by the process's clock; as the server says. */
  goodUntil = Infinity;
  readonly #conn: Deno.Conn;
  readonly #decoder = new TextDecoder("latin1");
  #buffer = new Uint8Array(BUFFER_BYTES);
  #start = 0;
  #end = 0;
  /** A read that was begun while nothing was asked. */
  #ahead: Promise<number | null> | undefined;
  #isClosed = false;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /**
   * Asks, and gives the answer once its head is there. `onEnd` is called once, when the body was
   * read or let go, with whether the connection can be used again.
   */
  async ask(
    parts: readonly Uint8Array[],
    onEnd: (isReusable: boolean) => void,
  ): Promise<PlainAnswer> {
    let isWritten = false;
    // Not waited for: a server may answer before it has read everything.
    const writing = this.#write(parts).then(() => isWritten = true, (error) => error);
    try {
      const head = await this.#readHead();
      return new PlainAnswer(this, head, (isWhole) => {
        const isReusable = isWhole && head.isKept && isWritten && this.#start === this.#end;
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

  /** Notices when the server closes it, or says what it was not asked for. */
  watch(onGone: () => void): void {
    // Behind what was handed out last, which may not have been looked at yet.
    if (this.#buffer.length - this.#end < ROOM_BYTES) {
      this.#buffer = new Uint8Array(BUFFER_BYTES);
      this.#end = 0;
    }
    this.#start = this.#end;
    const ahead = this.#ahead = this.#conn.read(this.#buffer.subarray(this.#end));
    const check = () => {
      if (this.#ahead === ahead) onGone();
    };
    ahead.then(check, check);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Nobody waits any more for a read that ends with it.
    this.#ahead?.catch(() => {});
    this.#ahead = undefined;
    try {
      this.#conn.close();
    } catch {
      // It had failed before.
    }
  }

  /** The bytes at hand, at most so many; undefined where the connection ended. */
  async take(most: number): Promise<Uint8Array | undefined> {
    if (this.#start === this.#end && !await this.#fill()) return undefined;
    const end = Math.min(this.#end, this.#start + most);
    const piece = this.#buffer.subarray(this.#start, end);
    this.#start = end;
    return piece;
  }

  /** The next line without its end. */
  async readLine(): Promise<string> {
    for (;;) {
      const at = this.#buffer.indexOf(LF, this.#start);
      if (at !== -1 && at < this.#end) {
        const line = this.#decoder.decode(this.#buffer.subarray(this.#start, at));
        this.#start = at + 1;
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      if (this.#end - this.#start > MAX_LINE_BYTES) throw new Error("invalid HTTP: a long line");
      if (!await this.#fill()) throw brokeOff();
    }
  }

  async #write(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      let rest = part;
      while (rest.length > 0) rest = rest.subarray(await this.#conn.write(rest));
    }
  }

  async #readHead(): Promise<Head> {
    for (let from = 0;;) {
      const end = this.#headEnd(from);
      if (!this.#mayBeHead()) throw new Error("invalid HTTP: no status");
      if (end === -1) {
        from = Math.max(0, this.#end - this.#start - 3);
        if (this.#end - this.#start > MAX_HEAD_BYTES) throw new Error("invalid HTTP: a long head");
        if (!await this.#fill()) throw brokeOff();
        continue;
      }
      const head = parseHead(this.#decoder.decode(this.#buffer.subarray(this.#start, end)));
      this.#start = end;
      // What comes before the answer itself, such as 100 Continue.
      if (head.status >= 200) return head;
      from = 0;
    }
  }

  /** Told from the first bytes: what speaks something else may wait for us to go on. */
  #mayBeHead(): boolean {
    const end = Math.min(this.#end, this.#start + START.length);
    return START.startsWith(this.#decoder.decode(this.#buffer.subarray(this.#start, end)));
  }

  /** Where the empty line after a head ends; -1 where that has not come. */
  #headEnd(from: number): number {
    const buffer = this.#buffer;
    for (let at = this.#start + from + 3; at < this.#end; at++) {
      if (buffer[at] !== LF || buffer[at - 2] !== LF) continue;
      if (buffer[at - 1] === CR && buffer[at - 3] === CR) return at + 1;
    }
    return -1;
  }

  /** Has more bytes at hand; false where the connection ended. */
  async #fill(): Promise<boolean> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (!ahead) this.#makeRoom();
    const count = await (ahead ?? this.#conn.read(this.#buffer.subarray(this.#end)));
    if (count === null) return false;
    this.#end += count;
    return true;
  }

  #makeRoom(): void {
    if (this.#start === this.#end) {
      this.#start = this.#end = 0;
    } else if (this.#end === this.#buffer.length) {
      const rest = this.#buffer.subarray(this.#start, this.#end);
      const isFull = rest.length > this.#buffer.length / 2;
      const buffer = isFull ? new Uint8Array(this.#buffer.length * 2) : this.#buffer;
      buffer.set(rest);
      this.#buffer = buffer;
      this.#start = 0;
      this.#end = rest.length;
    }
  }
}

/** What came on a connection of ours. */
class PlainAnswer implements RemoteAnswer {
  readonly status: number;
  readonly headers: RemoteAnswer["headers"];
  readonly #connection: PlainConnection;
  readonly #framing: Framing;
  readonly #onEnd: (isWhole: boolean) => void;
  /** Bytes of the body or of the chunk that have not been read. */
  #left = 0;
  #isInChunks = false;
  #isOver = false;

  constructor(connection: PlainConnection, head: Head, onEnd: (isWhole: boolean) => void) {
    const { status, headers } = head;
    this.status = status;
    this.headers = {
      get: (name) => headers.get(name) ?? null,
      has: (name) => headers.has(name),
    };
    this.#connection = connection;
    this.#onEnd = onEnd;
    this.#framing = framingOf(head);
    if (this.#framing === "length") this.#left = Number(headers.get("content-length"));
    if (this.#framing === "close") this.#left = Infinity;
    if (this.#framing === "none" || (this.#framing === "length" && this.#left === 0)) {
      this.#finish(true);
    }
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return undefined;
    try {
      if (this.#left === 0) await this.#nextChunk();
      if (this.#left === 0) return this.#finish(true);
      const piece = await this.#connection.take(this.#left);
      if (!piece) {
        if (this.#framing !== "close") throw brokeOff();
        return this.#finish(false);
      }
      this.#left -= piece.length;
      if (this.#left === 0 && this.#framing === "length") this.#finish(true);
      return piece;
    } catch (error) {
      this.#finish(false);
      throw error;
    }
  }

  async text(): Promise<string> {
    const first = await this.read();
    if (first === undefined) return "";
    if (this.#isOver) return utf8.decode(first);
    const decoder = new TextDecoder();
    const parts = [decoder.decode(first, { stream: true })];
    for (let piece = await this.read(); piece !== undefined; piece = await this.read()) {
      parts.push(decoder.decode(piece, { stream: true }));
    }
    return parts.join("") + decoder.decode();
  }

  cancel(): Promise<void> {
    this.#finish(false);
    return Promise.resolve();
  }

  /** Reads a chunk's size; 0 after the last one. */
  async #nextChunk(): Promise<void> {
    if (this.#isInChunks && await this.#connection.readLine() !== "") throw badChunk();
    this.#isInChunks = true;
    const size = /^[0-9a-f]{1,12}(?=[ \t]*(?:;|$))/i.exec(await this.#connection.readLine())?.[0];
    if (size === undefined) throw badChunk();
    this.#left = Number.parseInt(size, 16);
    if (this.#left > 0) return;
    while (await this.#connection.readLine() !== "");
  }

  #finish(isWhole: boolean): undefined {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd(isWhole);
  }
}

const utf8 = new TextDecoder();

function parseHead(text: string): Head {
  const lines = text.split("\r\n");
  const [, minor, status] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0]!) ?? [];
  if (status === undefined) throw new Error("invalid HTTP: no status");
  const headers = new Map<string, string>();
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at]!;
    if (line === "") continue;
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error("invalid HTTP: no header");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const isKept = minor === "1" ? !connection.includes("close") : connection.includes("keep-alive");
  return { status: Number(status), headers, isKept };
}

function framingOf({ status, headers }: Head): Framing {
  if (status === 204 || status === 304) return "none";
  const encoding = headers.get("transfer-encoding");
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== "chunked") throw new Error("invalid HTTP: a transfer encoding");
    return "chunked";
  }
  const length = headers.get("content-length");
  if (length === undefined) return "close";
  if (!/^\d{1,15}$/.test(length)) throw new Error("invalid HTTP: no length");
  return "length";
}

function brokeOff(): Error {
  return new Error("The connection closed before the end of the answer");
}

function badChunk(): Error {
  return new Error("invalid HTTP: no chunk");
}
