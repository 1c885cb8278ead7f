/** Told for each event that carries data; `name` is what its `event` field said. */
export type SseListener = (data: string, name: string | undefined) => void;

/** One event of a stream is larger than a message may be. */
export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";
}

/** Reads a `text/event-stream` piece by piece, in the pieces it comes in. */
export class SseParser {
  /** The id of the last complete event that had one: where a cut stream can be resumed. */
  lastEventId: string | undefined;
  /** How long the server wants us to wait before we open the stream again. */
  retryMs: number | undefined;
  readonly #onEvent: SseListener;
  readonly #limit: number;
  /** The pieces of a line whose end has not come; joined once, or a long line costs its square. */
  #line: string[] = [];
  #held = 0;
  #endsInCr = false;
  #data: string | undefined;
  #name: string | undefined;
  #id: string | undefined;

  /** `limit` is in characters: of one event, its fields and all. */
  constructor(limit: number, onEvent: SseListener) {
    this.#limit = limit;
    this.#onEvent = onEvent;
  }

  push(chunk: string): void {
    let start = this.#endsInCr && chunk.startsWith("\n") ? 1 : 0;
    if (chunk !== "") this.#endsInCr = false;
    let lf = chunk.indexOf("\n", start);
    let cr = chunk.indexOf("\r", start);
    while (lf !== -1 || cr !== -1) {
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      this.#endLine(chunk.slice(start, end));
      start = end + 1;
      if (end === cr) {
        if (start === chunk.length) this.#endsInCr = true;
        else if (start === lf) start++;
        cr = chunk.indexOf("\r", start);
      }
      if (lf !== -1 && lf < start) lf = chunk.indexOf("\n", start);
    }
    if (start === chunk.length) return;
    this.#hold(chunk.length - start);
    this.#line.push(start === 0 ? chunk : chunk.slice(start));
  }

  #hold(length: number): void {
    this.#held += length;
    if (this.#held > this.#limit) {
      throw new EventTooLarge(`One event has more than ${this.#limit} characters`);
    }
  }

  #endLine(rest: string): void {
    this.#hold(rest.length);
    if (this.#line.length === 0) return this.#readLine(rest);
    const line = this.#line.join("") + rest;
    this.#line = [];
    this.#readLine(line);
  }

  #readLine(line: string): void {
    if (line === "") return this.#dispatch();
    if (line.startsWith("data:")) {
      const value = line.slice(line.charAt(5) === " " ? 6 : 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) {
      this.#held -= line.length;
      return;
    }
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line.charAt(colon + 1) === " " ? 2 : 1));
    if (field === "event") this.#name = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
    else if (field === "data") this.#data = this.#data === undefined ? "" : `${this.#data}\n`;
  }

  #dispatch(): void {
    const [data, name] = [this.#data, this.#name];
    if (this.#id !== undefined) this.lastEventId = this.#id;
    this.#data = this.#name = this.#id = undefined;
    this.#held = 0;
    // An event that primes a stream has an id and no data: it says where to resume, and nothing else.
    if (data) this.#onEvent(data, name);
  }
}
