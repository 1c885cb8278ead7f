const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** An answer that has not come by then is none. */
const LIMIT_MS = 60_000;

export interface RawAnswer {
  /** 0 where the other side ended the connection, or said nothing in time. */
  status: number;
  text: string;
}

/** HTTP as it is written, on a connection kept for many requests: fetch writes a Host of its own. */
export class RawConnection implements Disposable {
  readonly #port: number;
  #connection: Deno.TcpConn | undefined;
  #bytes = new Uint8Array(16_384);
  #length = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** The head's lines, without the length of the body. */
  async send(lines: readonly string[], body = ""): Promise<RawAnswer> {
    const connection = this.#connection ??= await this.#open();
    const limit = setTimeout(() => this[Symbol.dispose](), LIMIT_MS);
    try {
      const length = encoder.encode(body).length;
      const head = [...lines, `Content-Length: ${length}`].join("\r\n");
      await writeAll(connection, encoder.encode(`${head}\r\n\r\n${body}`));
      return await this.#answer(connection, lines[0]!.startsWith("HEAD "));
    } catch {
      this[Symbol.dispose]();
      return { status: 0, text: "" };
    } finally {
      clearTimeout(limit);
    }
  }

  [Symbol.dispose](): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  #open(): Promise<Deno.TcpConn> {
    this.#length = 0;
    return Deno.connect({ hostname: "127.0.0.1", port: this.#port });
  }

  async #answer(connection: Deno.TcpConn, isHead: boolean): Promise<RawAnswer> {
    const head = await this.#until(connection, "\r\n\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    let text = "";
    if (/^content-type: text\/event-stream/im.test(head)) {
      // It has no end.
      this[Symbol.dispose]();
    } else if (!isHead && status !== 204 && status !== 304) {
      text = /^transfer-encoding: chunked/im.test(head)
        ? await this.#chunks(connection)
        : await this.#take(connection, Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0));
    }
    if (/^connection: close/im.test(head)) this[Symbol.dispose]();
    return { status, text };
  }

  async #chunks(connection: Deno.TcpConn): Promise<string> {
    let text = "";
    for (;;) {
      const size = parseInt(await this.#until(connection, "\r\n"), 16);
      if (Number.isNaN(size)) throw new Error("Cannot read a chunk: it has no size");
      text += await this.#take(connection, size);
      await this.#until(connection, "\r\n");
      if (size === 0) return text;
    }
  }

  async #until(connection: Deno.TcpConn, end: string): Promise<string> {
    for (let from = 0;;) {
      const at = indexOf(this.#bytes.subarray(0, this.#length), end, from);
      if (at >= 0) return (await this.#take(connection, at + end.length)).slice(0, -end.length);
      from = Math.max(0, this.#length - end.length);
      await this.#more(connection);
    }
  }

  async #take(connection: Deno.TcpConn, count: number): Promise<string> {
    while (this.#length < count) await this.#more(connection);
    const text = decoder.decode(this.#bytes.subarray(0, count));
    this.#bytes.copyWithin(0, count, this.#length);
    this.#length -= count;
    return text;
  }

  async #more(connection: Deno.TcpConn): Promise<void> {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const count = await connection.read(this.#bytes.subarray(this.#length));
    if (count === null) throw new Error("Cannot read the answer: the connection was ended");
    this.#length += count;
  }
}

function indexOf(bytes: Uint8Array, text: string, from: number): number {
  const [first] = encoder.encode(text);
  for (let at = bytes.indexOf(first!, from); at >= 0; at = bytes.indexOf(first!, at + 1)) {
    if (decoder.decode(bytes.subarray(at, at + text.length)) === text) return at;
  }
  return -1;
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
