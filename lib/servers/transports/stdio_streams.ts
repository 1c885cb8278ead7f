import { END_CHARS, messageLine } from "../../core/rpc.ts";
import type { Readable } from "node:stream";
import { GatewayError } from "../../core/errors.ts";
import { MAX_SKIPPED, StreamBudget, StreamFlooded } from "./stream_budget.ts";

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

interface OutboxOptions {
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
export class WriteQueue {
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

  push(text: string, waiter?: PromiseWithResolvers<void>): void {
    if (this.#failure) return void waiter?.reject(this.#failure.error);
    if (this.#size > 0 && this.#size + text.length > this.#options.limit) {
      throw new GatewayError("LIMIT_EXCEEDED", { message: this.#options.full });
    }
    const line = `${messageLine(text)}\n`;
    this.#size += line.length;
    if (!this.#current) return this.#write({ text: line, waiters: waiter && [waiter] });
    const waiting = this.#waiting ??= { text: "", waiters: undefined };
    waiting.text += line;
    if (waiter) (waiting.waiters ??= []).push(waiter);
  }

  send(text: string): Promise<void> {
    const waiter = Promise.withResolvers<void>();
    this.push(text, waiter);
    return waiter.promise;
  }

  close(): void {
    this.#isClosing = true;
    if (!this.#current) this.#sink.end();
  }

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

const NEWLINE = 0x0a;
/** A long line is kept in blocks of this size: one buffer that grows would be copied again and again. */
const BLOCK_BYTES = 256 * 1024;
/** A larger buffer is given back once its line is complete. */
const SPARE_BYTES = 64 * 1024;
/** What is kept of a longer line's end. */
const TAIL_BYTES = END_CHARS;

interface LineSplitterOptions {
  /** What a line may take; longer ones are not kept. */
  maxBytes: number;
  /** How much of a longer line is kept; at most `maxBytes`. */
  headBytes: number;
  onLine: (line: string) => void;
  onLongLine: (head: string, bytes: number, tail: string) => void;
}

/** Cuts a stream of bytes into lines of text, in bounded memory whatever comes. */
export class LineSplitter {
  readonly #options: LineSplitterOptions;
  readonly #decoder = new TextDecoder();
  /** What came of the line that is not complete yet: full blocks, then `#used` bytes of the buffer. */
  #blocks: Uint8Array[] = [];
  #buffer = new Uint8Array(0);
  #used = 0;
  #seen = 0;
  #tail = new Uint8Array(0);

  constructor(options: LineSplitterOptions) {
    this.#options = options;
  }

  /** Whether the line that is not complete yet is too long, so that most of it is not kept. */
  get isSkipping(): boolean {
    return this.#seen > this.#options.maxBytes;
  }

  /** Keeps nothing of `chunk` itself, which the caller may use again. */
  push(chunk: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#complete(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** What came last counts as a line even without its end. */
  end(): void {
    if (this.#seen > 0) this.#complete(new Uint8Array(0));
  }

  #complete(rest: Uint8Array): void {
    const { maxBytes, headBytes, onLine, onLongLine } = this.#options;
    let line = [rest];
    let bytes = rest.length;
    if (this.#seen > 0) {
      this.#hold(rest);
      line = this.#parts();
      bytes = this.#seen;
      this.#blocks = [];
      this.#used = this.#seen = 0;
      if (this.#buffer.length > SPARE_BYTES) this.#buffer = new Uint8Array(0);
    }
    if (bytes > maxBytes) {
      const tail = this.#decode([this.#tail.length > 0 ? this.#tail : lastOf(line)]);
      this.#tail = new Uint8Array(0);
      return onLongLine(this.#decode([firstOf(line, headBytes)]), bytes, tail);
    }
    const text = this.#decode(line);
    onLine(text.endsWith("\r") ? text.slice(0, -1) : text);
  }

  #parts(): Uint8Array[] {
    return [...this.#blocks, this.#buffer.subarray(0, this.#used)];
  }

  #decode(parts: readonly Uint8Array[]): string {
    if (parts.length === 1) return this.#decoder.decode(parts[0]);
    return parts.map((part) => this.#decoder.decode(part, { stream: true })).join("") +
      this.#decoder.decode();
  }

  #hold(part: Uint8Array): void {
    const { headBytes } = this.#options;
    const wasSkipping = this.isSkipping;
    this.#seen += part.length;
    if (this.isSkipping) {
      this.#keepTail(part);
      if (this.#seen > MAX_SKIPPED) throw new StreamFlooded("an endless message");
      if (wasSkipping) return;
      const head = firstOf([...this.#parts(), part], headBytes);
      this.#blocks = [];
      this.#buffer = head;
      this.#used = head.length;
      return;
    }
    for (let rest = part; rest.length > 0;) {
      if (this.#used === BLOCK_BYTES) {
        this.#blocks.push(this.#buffer);
        this.#buffer = new Uint8Array(BLOCK_BYTES);
        this.#used = 0;
      }
      const taken = rest.subarray(0, BLOCK_BYTES - this.#used);
      this.#reserve(this.#used + taken.length);
      this.#buffer.set(taken, this.#used);
      this.#used += taken.length;
      rest = rest.subarray(taken.length);
    }
  }

  #keepTail(part: Uint8Array): void {
    this.#tail = lastOf(this.#tail.length > 0 ? [this.#tail, part] : [...this.#parts(), part]);
  }

  // Copied into one buffer: a chunk of a few bytes would hold on to the whole block it was read in.
  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const { maxBytes } = this.#options;
    const size = Math.min(maxBytes, BLOCK_BYTES, Math.max(bytes, 2 * this.#buffer.length));
    const larger = new Uint8Array(size);
    larger.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = larger;
  }
}

/** A copy of the first bytes of all parts together. */
function firstOf(parts: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const first: Uint8Array[] = [];
  let missing = bytes;
  for (const part of parts) {
    first.push(part.subarray(0, missing));
    missing = Math.max(0, missing - part.length);
  }
  return joined(first);
}

/** A copy of the last bytes of all parts together. */
function lastOf(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return joined(parts.map((part) => part.subarray(-TAIL_BYTES))).slice(-TAIL_BYTES);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export interface LineReader {
  /** Never rejects; resolves with the error, or undefined if the stream has ended. */
  ended: Promise<unknown>;
  /** Stops reading, even if the other side stays open. */
  cancel(): void;
}

/** Bytes of one stream to read before other work gets a turn. */
const TURN_BYTES = 64 * 1024;
/** If the lines of one turn take longer than this, the stream then pauses for as long as they took. */
const LONG_TURN_MS = 2;

/**
 * Reads a stream line by line to its end. Its writer waits only if it floods the stream: the lines
 * use at most half of the CPU time, and far less once `budget` is strained.
 */
export function readLines(
  stream: Readable,
  options: LineSplitterOptions,
  budget = new StreamBudget(),
): LineReader {
  const splitter = new LineSplitter(options);
  const turn = { bytes: 0, ms: 0 };
  function read(bytes: Uint8Array, isRest = false): void {
    const started = performance.now();
    let length = 0;
    do {
      const end = Math.min(
        bytes.length,
        length + (splitter.isSkipping ? TURN_BYTES : budget.slice),
      );
      splitter.push(bytes.subarray(length, end));
      if (splitter.isSkipping) budget.skip(end - length);
      length = end;
    } while (length < bytes.length && !budget.isTurnOver(started));
    turn.bytes += length;
    turn.ms += performance.now() - started;
    if (length === bytes.length && turn.bytes <= TURN_BYTES && !budget.isStrained) {
      if (isRest) stream.resume();
      return;
    }
    const rest = isRest ? bytes.subarray(length) : bytes.slice(length);
    const pause = budget.pauseAfter(turn.ms) || (turn.ms > LONG_TURN_MS ? turn.ms : 0);
    turn.bytes = turn.ms = 0;
    stream.pause();
    const next = () => rest.length > 0 ? safely(() => read(rest, true)) : stream.resume();
    if (pause > 0) setTimeout(next, pause);
    else setImmediate(next);
  }
  const { promise, resolve } = Promise.withResolvers<unknown>();
  /** An error thrown in an event handler would end the process; this ends only the stream. */
  function safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      resolve(error);
      stream.destroy();
    }
  }
  stream.on("data", ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>) => {
    // A plain Uint8Array: slicing Node's Buffer is slow.
    safely(() => read(new Uint8Array(buffer, byteOffset, length)));
  });
  stream.on("end", () => safely(() => splitter.end()));
  stream.on("error", resolve);
  stream.on("close", () => resolve(undefined));
  return { ended: promise, cancel: () => void stream.destroy() };
}
