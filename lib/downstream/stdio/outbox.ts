import { GatewayError } from "../../core/errors.ts";

interface Batch {
  lines: string[];
  written: PromiseWithResolvers<void>;
}

const BUFFER_BYTES = 16 * 1024;

/** Where lines go: a pipe of Node's, or what looks like one. */
export interface Sink {
  /** Calls back once it was handed to the reader, or with why that cannot be. */
  write(bytes: Uint8Array, onWritten: (error?: Error | null) => void): unknown;
  end(): unknown;
  destroy(reason: Error): unknown;
}

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
  readonly #sink: Sink;
  readonly #options: OutboxOptions;
  readonly #encoder = new TextEncoder();
  /** For what fits in: a buffer for each message costs more than to fill it. */
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #size = 0;
  #waiting: Batch | undefined;
  #current: Batch | undefined;
  #isDraining = false;
  #isClosing = false;
  #failure: { error: unknown } | undefined;

  constructor(sink: Sink, options: OutboxOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  /** Resolves when the message was handed to the reader; need not be awaited. */
  push(text: string): Promise<void> {
    if (this.#failure) return alreadyTold(Promise.reject(this.#failure.error));
    if (this.#size > 0 && this.#size + text.length > this.#options.limit) {
      throw new GatewayError("LIMIT_EXCEEDED", { message: this.#options.full });
    }
    this.#size += text.length;
    this.#waiting ??= newBatch();
    this.#waiting.lines.push(oneLine(text));
    const { promise } = this.#waiting.written;
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#drain();
    }
    return promise;
  }

  /** Tells the reader that nothing more will come, after what waits. */
  close(): void {
    this.#isClosing = true;
    if (!this.#isDraining) this.#sink.end();
  }

  /** Gives up on what waits. */
  abort(reason: Error): void {
    this.#fail(reason);
    this.#sink.destroy(reason);
  }

  #drain(): void {
    if (this.#waiting === undefined || this.#failure) {
      this.#isDraining = false;
      if (this.#isClosing) this.#sink.end();
      return;
    }
    const { lines, written } = this.#current = this.#waiting;
    this.#waiting = undefined;
    const text = lines.join("\n") + "\n";
    this.#sink.write(this.#encode(text), (error) => {
      if (error) return this.#fail(error);
      this.#size -= text.length - lines.length;
      written.resolve();
      this.#drain();
    });
  }

  /** Good until the next one: a write is over before another is begun. */
  #encode(text: string): Uint8Array {
    // No character takes more than three bytes.
    if (text.length * 3 > BUFFER_BYTES) return this.#encoder.encode(text);
    const { written } = this.#encoder.encodeInto(text, this.#buffer);
    return this.#buffer.subarray(0, written);
  }

  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = { error };
    this.#current?.written.reject(error);
    this.#waiting?.written.reject(error);
    this.#options.onFail(error);
  }
}

function newBatch(): Batch {
  const written = Promise.withResolvers<void>();
  alreadyTold(written.promise);
  return { lines: [], written };
}

/** Whoever does not wait for it hears of the failure by the link's end. */
function alreadyTold(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}

/** A line break in JSON is white space outside of strings, so that a blank means the same. */
function oneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}
