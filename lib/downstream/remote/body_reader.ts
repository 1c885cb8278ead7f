const BUFFER_BYTES = 16 * 1024;

/** A body is larger than what was asked of it. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/**
 * Reads a body through one buffer of ours. The chunks a plain reader gives are allocated one by one
 * and cost twice as much.
 */
export class BodyReader {
  /** Kept because the platform forgets a fetch's signal once its response is garbage. */
  readonly response: Response;
  readonly #decoder = new TextDecoder();
  #byob: ReadableStreamBYOBReader | undefined;
  #plain: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #buffer = new ArrayBuffer(BUFFER_BYTES);
  /** How many bytes have come. */
  bytes = 0;

  constructor(response: Response) {
    this.response = response;
    if (response.body === null) return;
    try {
      this.#byob = response.body.getReader({ mode: "byob" });
    } catch {
      // A fetch that was handed in may answer with a stream that is not made of bytes.
      this.#plain = response.body.getReader();
    }
  }

  /** The next piece of text, or undefined at the end. */
  async read(): Promise<string | undefined> {
    const chunk = await this.#next();
    if (chunk === undefined) return undefined;
    this.bytes += chunk.byteLength;
    return this.#decoder.decode(chunk, { stream: true });
  }

  /** What is left of a character that was cut off. */
  end(): string {
    return this.#decoder.decode();
  }

  async cancel(): Promise<void> {
    try {
      await (this.#byob ?? this.#plain)?.cancel();
    } catch {
      // The stream failed before; there is nothing to cancel.
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#byob) {
      const { done, value } = await this.#byob.read(new Uint8Array(this.#buffer));
      if (done || value === undefined) return undefined;
      this.#buffer = value.buffer;
      return value;
    }
    return (await this.#plain?.read())?.value;
  }
}

/** A body's text, if it has at most `limit` bytes; the rest of a larger one is not read. */
export async function readText(response: Response, limit: number): Promise<string> {
  // One call into the platform, at half the cost of reading.
  if (isSurelyWithin(limit, response.headers)) return await response.text();
  const { text, isWhole } = await readStart(response, limit);
  if (!isWhole) throw new BodyTooLarge(`The body has more than ${limit} bytes`);
  return text;
}

/** A body's text up to about `limit` bytes. */
export async function readStart(
  response: Response,
  limit: number,
): Promise<{ text: string; isWhole: boolean }> {
  const reader = new BodyReader(response);
  const parts: string[] = [];
  for (;;) {
    const part = await reader.read();
    if (part === undefined) return { text: parts.join("") + reader.end(), isWhole: true };
    parts.push(part);
    if (reader.bytes > limit) {
      await reader.cancel();
      return { text: parts.join(""), isWhole: false };
    }
  }
}

/** Lets a body go; a small one is read to its end, because the connection can then be used again. */
export async function discard(response: Response): Promise<void> {
  try {
    if (isSurelyWithin(BUFFER_BYTES, response.headers)) await response.text();
    else await response.body?.cancel();
  } catch {
    // It is not wanted anyway.
  }
}

/** The platform unpacks and unchunks a body, and leaves its headers as they came. */
function isSurelyWithin(limit: number, headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= limit && !headers.has("content-encoding") &&
    !headers.has("transfer-encoding");
}
