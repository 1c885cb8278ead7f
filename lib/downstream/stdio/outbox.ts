import { GatewayError } from "../../core/errors.ts";

/** Lines that go out together, and those who want to know when they have. */
interface Batch {
  text: string;
  waiters: PromiseWithResolvers<void>[] | undefined;
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
  #isClosing = false;
  #failure: { error: unknown } | undefined;

  constructor(sink: Sink, options: OutboxOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  /** Writes it as soon as can be; whoever need not know when hears of a failure by `onFail`. */
  push(text: string, waiter?: PromiseWithResolvers<void>): void {
    if (this.#failure) return void waiter?.reject(this.#failure.error);
    if (this.#size > 0 && this.#size + text.length > this.#options.limit) {
      throw new GatewayError("LIMIT_EXCEEDED", { message: this.#options.full });
    }
    const line = `${oneLine(text)}\n`;
    this.#size += line.length;
    if (!this.#current) return this.#write({ text: line, waiters: waiter && [waiter] });
    const waiting = this.#waiting ??= { text: "", waiters: undefined };
    waiting.text += line;
    if (waiter) (waiting.waiters ??= []).push(waiter);
  }

  /** Resolves when the message was handed to the reader. */
  send(text: string): Promise<void> {
    const waiter = Promise.withResolvers<void>();
    this.push(text, waiter);
    return waiter.promise;
  }

  /** Tells the reader that nothing more will come, after what waits. */
  close(): void {
    this.#isClosing = true;
    if (!this.#current) this.#sink.end();
  }

  /** Gives up on what waits. */
  abort(reason: Error): void {
    this.#fail(reason);
    this.#sink.destroy(reason);
  }

  #write(batch: Batch): void {
    this.#current = batch;
    this.#sink.write(this.#encode(batch.text), this.#onWritten);
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error) return this.#fail(error);
    const { text, waiters } = this.#current!;
    this.#size -= text.length;
    const next = this.#waiting;
    this.#current = this.#waiting = undefined;
    for (const waiter of waiters ?? []) waiter.resolve();
    if (next && !this.#failure) this.#write(next);
    else if (this.#isClosing) this.#sink.end();
  };

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
    for (const { waiters = [] } of [this.#current, this.#waiting].filter((batch) => !!batch)) {
      for (const waiter of waiters) waiter.reject(error);
    }
    this.#options.onFail(error);
  }
}

/** A line break in JSON is white space outside of strings, so that a blank means the same. */
function oneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}
