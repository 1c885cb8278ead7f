import { backoffMs } from "../shared_connection.ts";
import { BodyReader, type HttpResponse } from "./http_response.ts";
import { END_CHARS } from "../../core/rpc.ts";
import { MAX_SKIPPED, SLICE, type StreamBudget, StreamFlooded } from "./stream_budget.ts";

/** Told for each event that carries data; `name` is what its `event` field said. */
type SseListener = (data: string, name: string | undefined) => void;

/** Told of an event that was too large to keep, with the two ends of its data. */
type TooLargeListener = (head: string, tail: string) => void;

export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";
}

/** Maximum characters between two events: comments that keep a connection open need far fewer. */
const MAX_IDLE = 1024 * 1024;

/** Reads a `text/event-stream` piece by piece, in the pieces it comes in. */
export class SseParser {
  /** The id of the last complete event that had one: where a cut stream can be resumed. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  readonly #onEvent: SseListener;
  readonly #onTooLarge: TooLargeListener | undefined;
  readonly #limit: number;
  /** The pieces of a line whose end has not come; joined once, or a long line costs its square. */
  #line: string[] = [];
  #held = 0;
  #endsInCr = false;
  #data: string | undefined;
  #name: string | undefined;
  #id: string | undefined;
  /** All that is kept of an event that is too large, until its end has come. */
  #skipped: { head: string; tail: string } | undefined;
  /** Characters other than data since the last event with data. */
  #idle = 0;

  /**
   * `limit` is the maximum number of characters of one event, including its fields. A larger event is
   * skipped and reported to `onTooLarge`; without that, it throws EventTooLarge. Endless comments throw
   * StreamFlooded.
   */
  constructor(limit: number, onEvent: SseListener, onTooLarge?: TooLargeListener) {
    this.#limit = limit;
    this.#onEvent = onEvent;
    this.#onTooLarge = onTooLarge;
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
    const piece = start === 0 ? chunk : chunk.slice(start);
    this.#hold(piece);
    // Of a line that is skipped it counts that there is one: only an empty line ends an event.
    if (this.#skipped) this.#line = [""];
    else this.#line.push(piece);
  }

  #hold(piece: string): void {
    this.#held += piece.length;
    if (this.#skipped) {
      if (this.#held > MAX_SKIPPED) throw new StreamFlooded("an endless message");
      this.#skipped.tail = (this.#skipped.tail + piece).slice(-END_CHARS);
    } else if (this.#held > this.#limit) {
      if (!this.#onTooLarge) {
        throw new EventTooLarge(`One event has more than ${this.#limit} characters`);
      }
      const line = this.#line.join("") + piece;
      const earlier = this.#data === undefined ? "" : `${this.#data}\n`;
      const head = (earlier + withoutField(line)).slice(0, END_CHARS);
      this.#skipped = { head, tail: line.slice(-END_CHARS) };
      this.#data = undefined;
    }
  }

  #endLine(rest: string): void {
    const isEmpty = rest === "" && this.#line.length === 0;
    this.#hold(rest);
    if (this.#skipped) {
      this.#skipped.tail += "\n";
      this.#line = [];
      if (isEmpty) this.#dispatch();
      return;
    }
    if (this.#line.length === 0) return this.#readLine(rest);
    const line = this.#line.join("") + rest;
    this.#line = [];
    this.#readLine(line);
  }

  #readLine(line: string): void {
    const isData = line.startsWith("data:");
    if (!isData) this.#countIdle(line);
    if (line === "") return this.#dispatch();
    if (isData) {
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

  #countIdle(line: string): void {
    this.#idle += line.length + 1;
    if (this.#idle > MAX_IDLE) throw new StreamFlooded("endless comments");
  }

  #dispatch(): void {
    const [data, name] = [this.#data, this.#name];
    if (this.#id !== undefined) this.lastEventId = this.#id;
    const skipped = this.#skipped;
    this.#data =
      this.#name =
      this.#id =
      this.#skipped =
        undefined;
    this.#held = 0;
    if (data) this.#idle = 0;
    if (skipped) return this.#onTooLarge?.(skipped.head, dataIn(skipped.tail));
    // An event that primes a stream has an id and no data: it says where to resume, and nothing else.
    if (data) this.#onEvent(data, name);
  }
}

function withoutField(line: string): string {
  return line.replace(/^data: ?/, "");
}

/** The data of an event's last lines, of which the first may be cut off. */
function dataIn(lines: string): string {
  const [first = "", ...rest] = lines.split("\n");
  const data = rest.filter((line) => line.startsWith("data:"));
  return [first, ...data].map(withoutField).join("\n");
}

/** A server may ask us to wait, but not for so long that the stream is as good as dead. */
const LONGEST_WAIT_MS = 10 * 60_000;

export function isEventStream(response: HttpResponse): boolean {
  return response.status === 200 && hasType(response, "text/event-stream");
}

export function hasType(response: HttpResponse, type: string): boolean {
  const actual = response.headers.get("content-type");
  return actual !== null && (actual.startsWith(type) || actual.toLowerCase().startsWith(type));
}

export function isTransient(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/** A stream of messages that may take several responses, each going on where the last was cut. */
export class ResumableStream {
  lastEventId: string | undefined;
  /** Tries to open it since something last came. */
  failures = 0;
  /** In characters, of one event. */
  readonly #limit: number;
  readonly #budget: StreamBudget;
  readonly #onMessage: (text: string) => void;
  #retryMs: number | undefined;

  constructor(limit: number, budget: StreamBudget, onMessage: (text: string) => void) {
    this.#limit = limit;
    this.#budget = budget;
    this.#onMessage = onMessage;
  }

  /** Reads until the end, or until `isDone`: then there is a reader for what may follow. */
  async read(response: HttpResponse, isDone: () => boolean): Promise<BodyReader | undefined> {
    const reader = new BodyReader(response);
    const parser = new SseParser(this.#limit, (data, name) => {
      if (name === undefined || name === "message") this.#onMessage(data);
      // A large answer does not strain the stream.
      if (!isDone()) this.#budget.count(data);
    });
    try {
      for (;;) {
        const text = await reader.read();
        if (text === undefined) return undefined;
        this.failures = 0;
        if (text.length > SLICE || this.#budget.isStrained) {
          await this.#budget.pass(text, (piece) => parser.push(piece));
        } else parser.push(text);
        // An empty id says that there is nowhere to resume.
        if (parser.lastEventId !== undefined) this.lastEventId = parser.lastEventId || undefined;
        this.#retryMs = parser.retryMs ?? this.#retryMs;
        if (isDone()) return reader;
      }
    } catch (error) {
      await reader.cancel();
      throw error;
    }
  }

  /** How long to wait before it is opened again: as the server said, longer where that fails. */
  waitMs(): number {
    const tries = Math.max(1, this.failures);
    const wait = this.#retryMs === undefined ? backoffMs(tries) : this.#retryMs * 2 ** (tries - 1);
    return Math.min(wait, LONGEST_WAIT_MS);
  }
}
