const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** A larger buffer is given back once its line is complete. */
const SPARE_BYTES = 64 * 1024;
/** What is kept of a longer line's end. */
const TAIL_BYTES = 64;

export interface LineSplitterOptions {
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
  /** What came of the line that is not complete yet: `#kept` bytes here, of `#seen` in all. */
  #buffer = new Uint8Array(0);
  #kept = 0;
  #seen = 0;
  #tail = new Uint8Array(0);

  constructor(options: LineSplitterOptions) {
    this.#options = options;
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
    let line = rest;
    let bytes = rest.length;
    if (this.#seen > 0) {
      this.#hold(rest);
      line = this.#buffer.subarray(0, this.#kept);
      bytes = this.#seen;
      this.#kept = this.#seen = 0;
      if (this.#buffer.length > SPARE_BYTES) this.#buffer = new Uint8Array(0);
    }
    if (bytes > maxBytes) {
      const tail = this.#decoder.decode(this.#tail.length > 0 ? this.#tail : lastOf(line));
      this.#tail = new Uint8Array(0);
      return onLongLine(this.#decoder.decode(line.subarray(0, headBytes)), bytes, tail);
    }
    onLine(this.#decoder.decode(line.at(-1) === RETURN ? line.subarray(0, -1) : line));
  }

  #hold(part: Uint8Array): void {
    const { maxBytes, headBytes } = this.#options;
    this.#seen += part.length;
    const limit = this.#seen > maxBytes ? headBytes : maxBytes;
    if (this.#seen > maxBytes) this.#keepTail(part);
    if (this.#kept > limit) {
      this.#buffer = this.#buffer.slice(0, limit);
      this.#kept = limit;
    }
    const taken = part.subarray(0, limit - this.#kept);
    this.#reserve(this.#kept + taken.length, limit);
    this.#buffer.set(taken, this.#kept);
    this.#kept += taken.length;
  }

  #keepTail(part: Uint8Array): void {
    const before = this.#tail.length > 0
      ? this.#tail
      : lastOf(this.#buffer.subarray(0, this.#kept));
    const last = lastOf(part);
    const tail = new Uint8Array(before.length + last.length);
    tail.set(before);
    tail.set(last, before.length);
    this.#tail = tail.slice(-TAIL_BYTES);
  }

  // Copied into one buffer: a chunk of a few bytes would hold on to the whole block it was read in.
  #reserve(bytes: number, limit: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.min(limit, Math.max(bytes, 2 * this.#buffer.length)));
    larger.set(this.#buffer.subarray(0, this.#kept));
    this.#buffer = larger;
  }
}

function lastOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
}
