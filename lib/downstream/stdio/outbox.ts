import { GatewayError } from "../../core/errors.ts";

interface Batch {
  lines: string[];
  written: PromiseWithResolvers<void>;
}

const BUFFER_BYTES = 16 * 1024;

export interface OutboxOptions {
  /** How many characters may wait; a single message may be larger. */
  limit: number;
  /** What to tell a caller for whose message there is no room. */
  full: string;
  /** Called once, when the other side takes nothing more. */
  onFail: (error: unknown) => void;
}

/**
 * Writes messages one line each, in order, at the reader's pace. What comes while a write is under
 * way goes out together in the next one. Past the limit a message is refused and the rest is kept:
 * a server that merely works hard must not be lost for it, and one that hangs is found by its pings.
 */
export class Outbox {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #options: OutboxOptions;
  readonly #encoder = new TextEncoder();
  /** For what fits in: a buffer for each message costs more than to fill it. */
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #size = 0;
  #waiting: Batch | undefined;
  #current: Batch | undefined;
  #isDraining = false;
  #isClosing = false;
  #hasFailed = false;

  constructor(stream: WritableStream<Uint8Array>, options: OutboxOptions) {
    this.#writer = stream.getWriter();
    // Each write reports its own failure.
    this.#writer.closed.catch(() => {});
    this.#options = options;
  }

  /** Resolves when the message was handed to the reader; need not be awaited. */
  push(text: string): Promise<void> {
    if (this.#size > 0 && this.#size + text.length > this.#options.limit) {
      throw new GatewayError("LIMIT_EXCEEDED", { message: this.#options.full });
    }
    this.#size += text.length;
    this.#waiting ??= newBatch();
    this.#waiting.lines.push(oneLine(text));
    const { promise } = this.#waiting.written;
    if (!this.#isDraining) {
      this.#isDraining = true;
      // Once the caller has nothing more to say in this turn.
      queueMicrotask(() => this.#drain());
    }
    return promise;
  }

  /** Tells the reader that nothing more will come, after what waits. */
  close(): void {
    this.#isClosing = true;
    if (!this.#isDraining) this.#closeNow();
  }

  /** Gives up on what waits. */
  abort(reason: Error): void {
    this.#fail(reason);
    this.#writer.abort(reason).catch(() => {});
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting !== undefined && !this.#hasFailed) {
        const { lines, written } = this.#current = this.#waiting;
        this.#waiting = undefined;
        const text = lines.join("\n") + "\n";
        await this.#writer.write(this.#encode(text));
        this.#size -= text.length - lines.length;
        written.resolve();
      }
      this.#isDraining = false;
      if (this.#isClosing) this.#closeNow();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Good until the next one: a write is over before another is begun. */
  #encode(text: string): Uint8Array {
    // No character takes more than three bytes.
    if (text.length * 3 > BUFFER_BYTES) return this.#encoder.encode(text);
    const { written } = this.#encoder.encodeInto(text, this.#buffer);
    return this.#buffer.subarray(0, written);
  }

  #closeNow(): void {
    this.#writer.close().catch(() => {});
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#current?.written.reject(error);
    this.#waiting?.written.reject(error);
    this.#options.onFail(error);
  }
}

function newBatch(): Batch {
  const written = Promise.withResolvers<void>();
  // Whoever does not wait for it hears of the failure by the link's end.
  written.promise.catch(() => {});
  return { lines: [], written };
}

/** A line break in JSON is white space outside of strings, so that a blank means the same. */
function oneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}
