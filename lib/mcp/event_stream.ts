const KEPT_EVENTS = 500;
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/** How soon a client that lost a stream should come back; a call waits a little longer for it. */
export const RETRY_MS = 100;
/** A client that stops reading is let go before more than this waits for it; it can come back. */
const MAX_QUEUED = 1_000;

interface KeptEvent {
  number: number;
  text: string;
}

const encoder = new TextEncoder();

/** Outlives its HTTP response: a client that returns with its last event's id gets the rest. */
export class EventStream {
  readonly id: number;
  /** Who opened it: what comes on it is for nobody else. */
  readonly principal: string;
  readonly #life: string;
  /** Whether an empty event with an id comes first, so that even an early loss can be mended. */
  readonly #primes: boolean;
  readonly #kept: KeptEvent[] = [];
  #keptCharacters = 0;
  #lastNumber = 0;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  finishedAt: number | undefined;
  /** Called when the response that carried the stream was dropped by the client. */
  onDetach: () => void = () => {};

  constructor(
    id: number,
    { principal, life, primes }: { principal: string; life: string; primes: boolean },
  ) {
    this.id = id;
    this.principal = principal;
    this.#life = life;
    this.#primes = primes;
  }

  get isAttached(): boolean {
    return this.#controller !== undefined;
  }

  get isFinished(): boolean {
    return this.finishedAt !== undefined;
  }

  send(text: string): void {
    if (this.isFinished) return;
    const event = { number: ++this.#lastNumber, text };
    this.#kept.push(event);
    this.#keptCharacters += text.length;
    while (
      this.#kept.length > KEPT_EVENTS ||
      (this.#kept.length > 1 && this.#keptCharacters > KEPT_CHARACTERS)
    ) {
      this.#keptCharacters -= this.#kept.shift()!.text.length;
    }
    this.#write(this.#format(event));
  }

  finish(): void {
    this.finishedAt ??= Date.now();
    this.#close();
  }

  /** Drops the listener; further events wait until it returns. */
  release(): void {
    if (!this.#controller) return;
    this.#close();
    this.onDetach();
  }

  heartbeat(): void {
    this.#write(": still here\n\n");
  }

  /** The stream as a response's body, from behind the event the client saw last. */
  attach(lastSeen?: number): ReadableStream<Uint8Array> {
    this.#close();
    let own: ReadableStreamDefaultController<Uint8Array> | undefined;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = own = controller;
        if (lastSeen === undefined && this.#primes) {
          this.#write(`id: ${this.#eventId(this.#delivered)}\nretry: ${RETRY_MS}\ndata: \n\n`);
        }
        const from = lastSeen ?? this.#delivered;
        const missed = this.#kept.filter(({ number }) => number > from);
        for (const event of missed) this.#write(this.#format(event));
        if (this.isFinished) this.#close();
      },
      cancel: () => {
        // A client that came back has another response by now; the old one's end is no news.
        if (this.#controller !== own) return;
        this.#controller = undefined;
        this.onDetach();
      },
    });
  }

  #delivered = 0;

  #format({ number, text }: KeptEvent): string {
    if (this.#controller) this.#delivered = number;
    return `id: ${this.#eventId(number)}\nevent: message\ndata: ${text}\n\n`;
  }

  #eventId(event: number): string {
    return `${this.#life}-${this.id}-${event}`;
  }

  #write(text: string): void {
    const controller = this.#controller;
    if (!controller) return;
    try {
      if ((controller.desiredSize ?? 0) > -MAX_QUEUED) {
        controller.enqueue(encoder.encode(text));
        return;
      }
      controller.error(new Error("The client does not read its stream"));
    } catch { /* it is closed already */ }
    this.#controller = undefined;
    this.onDetach();
  }

  #close(): void {
    try {
      this.#controller?.close();
    } catch { /* the client was faster */ }
    this.#controller = undefined;
  }
}

export interface EventId {
  /** Which life of the session it was in: a revived one counts its streams from the start. */
  life: string;
  stream: number;
  event: number;
}

export function parseEventId(header: string): EventId | undefined {
  const match = /^([0-9a-f]{8})-(\d{1,9})-(\d{1,15})$/.exec(header);
  return match ? { life: match[1]!, stream: Number(match[2]), event: Number(match[3]) } : undefined;
}
