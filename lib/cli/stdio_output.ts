import { type Sink, WriteQueue } from "../servers/transports/stdio_streams.ts";

/** What may wait for a client that reads slowly before nothing more is taken from anybody. */
const WAITING_CHARACTERS = 4 * 1024 * 1024;
/** A client that leaves this much unread does not read at all. */
const MAX_WAITING_CHARACTERS = 256 * 1024 * 1024;

/** The way to the client: whole lines, in order, at its pace. */
export class StdioOutput {
  readonly #outbox: WriteQueue;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #room = Promise.withResolvers<void>();
  #isOver = false;

  /** `onEnd` is called once, when the client takes nothing more. */
  constructor(stream: WritableStream<Uint8Array>, onEnd: () => void) {
    const writer = stream.getWriter();
    // Each write reports its own failure.
    writer.closed.catch(() => {});
    const sink: Sink = {
      write: (bytes, onWritten) => writer.write(bytes).then(() => onWritten(), onWritten),
      end: () => writer.close().catch(() => {}),
      destroy: (reason) => writer.abort(reason).catch(() => {}),
    };
    this.#outbox = new WriteQueue(sink, {
      limit: Infinity,
      full: "",
      onFail: () => {
        this.#isOver = true;
        this.#room.resolve();
        onEnd();
      },
    });
  }

  readonly write = (text: string): void => {
    if (this.#isOver) return;
    this.#waiting += text.length;
    if (this.#waiting > MAX_WAITING_CHARACTERS) {
      return this.#outbox.abort(new Error("The client does not read"));
    }
    this.#last = this.#outbox.send(text).then(() => {
      this.#waiting -= text.length;
      if (this.#waiting > WAITING_CHARACTERS) return;
      this.#room.resolve();
      this.#room = Promise.withResolvers();
    }).catch(() => {});
  };

  /** Waits while the client has too much left to read. */
  readonly ready = async (): Promise<void> => {
    while (this.#waiting > WAITING_CHARACTERS && !this.#isOver) await this.#room.promise;
  };

  /** Resolves once all was handed over. */
  flushed(): Promise<void> {
    return this.#last;
  }
}
