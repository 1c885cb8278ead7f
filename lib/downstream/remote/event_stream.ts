import { backoffMs } from "../backoff.ts";
import { MESSAGE_LIMIT } from "../too_large.ts";
import { BodyReader } from "./body_reader.ts";
import type { RemoteAnswer } from "./remote_answer.ts";
import { SseParser } from "./sse_parser.ts";

/** A server may ask us to wait, but not for so long that the stream is as good as dead. */
const LONGEST_WAIT_MS = 10 * 60_000;

export function isEventStream(response: RemoteAnswer): boolean {
  return response.status === 200 && hasType(response, "text/event-stream");
}

export function hasType(response: RemoteAnswer, type: string): boolean {
  const actual = response.headers.get("content-type");
  return actual !== null && (actual.startsWith(type) || actual.toLowerCase().startsWith(type));
}

/** Whether a status may be another one after a while. */
export function isPassing(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/** A stream of messages that may take several responses, each going on where the last was cut. */
export class EventStream {
  /** Where to go on, if the server has told. */
  lastEventId: string | undefined;
  /** Tries to open it since something last came. */
  failures = 0;
  readonly #onMessage: (text: string) => void;
  #retryMs: number | undefined;

  constructor(onMessage: (text: string) => void) {
    this.#onMessage = onMessage;
  }

  /** Reads until the end, or until `isDone`: then there is a reader for what may follow. */
  async read(response: RemoteAnswer, isDone: () => boolean): Promise<BodyReader | undefined> {
    const reader = new BodyReader(response);
    const parser = new SseParser(MESSAGE_LIMIT, (data, name) => {
      if (name === undefined || name === "message") this.#onMessage(data);
    });
    try {
      for (;;) {
        const text = await reader.read();
        if (text === undefined) return undefined;
        this.failures = 0;
        parser.push(text);
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
