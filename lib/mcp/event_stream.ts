import { EventBody, isProgress } from "./event_body.ts";

const KEPT_EVENTS = 500;
const KEPT_CHARACTERS = 4 * 1024 * 1024;
const LARGE_CHARACTERS = 256 * 1024;

/** How soon a client that lost a stream should come back; a call waits a little longer for it. */
export const RETRY_MS = 100;

interface KeptEvent {
  number: number;
  text: string;
}

/** Outlives its HTTP response: a client that returns with its last event's id gets the rest. */
export class EventStream {
  readonly id: number;
  /** Who opened it: what comes on it is for nobody else. */
  readonly principal: string;
  readonly #life: string;
  /** Whether an empty event with an id comes first, so that a client can resume after an early loss. */
  readonly #primes: boolean;
  readonly #kept: KeptEvent[] = [];
  #keptCharacters = 0;
  #lastNumber = 0;
  #body: EventBody | undefined;
  finishedAt: number | undefined;
  /** Called once, when everything that belongs on the stream has been sent. */
  onFinish: () => void = () => {};
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
    return this.#body !== undefined;
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
      // Progress is the first to go: its answer tells more.
      const old = this.#kept.findIndex(({ text }) => isProgress(text));
      const [dropped] = this.#kept.splice(Math.max(0, old), 1);
      this.#keptCharacters -= dropped!.text.length;
    }
    this.#write(event);
  }

  finish(): void {
    this.#close();
    if (this.isFinished) return;
    this.finishedAt = Date.now();
    this.onFinish();
  }

  /** Whether so much is kept for a client that lost the response that it is not kept for long. */
  get isLarge(): boolean {
    return this.#keptCharacters > LARGE_CHARACTERS;
  }

  /** Events that wait for somebody to listen. */
  get waiting(): readonly Readonly<KeptEvent>[] {
    return this.isAttached ? [] : this.#kept.filter(({ number }) => number > this.#delivered);
  }

  /** Events up to this one have reached the client another way. */
  skip(number: number): void {
    this.#delivered = Math.max(this.#delivered, number);
  }

  /** Drops the listener; further events wait until it returns. */
  release(): void {
    if (!this.#body) return;
    this.#close();
    this.onDetach();
  }

  heartbeat(): void {
    this.#body?.comment("still here");
  }

  /** The stream as a response's body, from behind the event the client saw last. */
  attach(lastSeen?: number): ReadableStream<Uint8Array> {
    this.#close();
    const body = this.#body = new EventBody(() => {
      // A client that came back has another response by now; the old one's end is no news.
      if (this.#body !== body) return;
      this.#body = undefined;
      this.onDetach();
    });
    if (lastSeen === undefined && this.#primes) {
      body.prime(`id: ${this.#eventId(this.#delivered)}\nretry: ${RETRY_MS}\n`);
    }
    const from = lastSeen ?? this.#delivered;
    for (const event of this.#kept.filter(({ number }) => number > from)) this.#write(event);
    if (this.isFinished) this.#close();
    return body.stream;
  }

  #delivered = 0;

  #write({ number, text }: KeptEvent): void {
    if (!this.#body) return;
    this.#delivered = number;
    this.#body.send(text, `id: ${this.#eventId(number)}\n`);
  }

  #eventId(event: number): string {
    return `${this.#life}-${this.id}-${event}`;
  }

  #close(): void {
    const body = this.#body;
    this.#body = undefined;
    body?.close();
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
