/** How many events a client that dropped off can catch up on. */
const KEPT_EVENTS = 1_000;
/** A client that stops reading is let go once so much waits for it. */
const MAX_QUEUED_BYTES = 1_000_000;
const HEARTBEAT_MS = 15_000;

interface LiveEvent {
  /** Undefined where nobody can catch up on it. */
  id?: number | undefined;
  type: string;
  data: unknown;
}

type Listener = (event: LiveEvent) => void;

/**
 * The live channel: what changes in the gateway, as server-sent events with ids, so that a client
 * that lost its connection gets what it missed, or `reset` where that is no longer known.
 */
export class EventHub {
  /** Tells this run's ids from those of an earlier one. */
  readonly #run = crypto.randomUUID().slice(0, 8);
  readonly #kept: (LiveEvent & { id: number })[] = [];
  readonly #listeners = new Set<Listener>();
  #lastId = 0;

  get listenerCount(): number {
    return this.#listeners.size;
  }

  publish(type: string, data: unknown): void {
    const event = { id: ++this.#lastId, type, data };
    this.#kept.push(event);
    if (this.#kept.length > KEPT_EVENTS) this.#kept.shift();
    for (const listener of this.#listeners) listener(event);
  }

  /** Says what is not worth keeping: whoever missed it has to ask. */
  tell(type: string, data: unknown): void {
    for (const listener of this.#listeners) listener({ type, data });
  }

  /** A server-sent event stream: what was missed since `lastEventId`, then everything new. */
  stream(
    lastEventId: string | null,
    signal: AbortSignal,
    first: () => [string, unknown][],
  ): Response {
    const encoder = new TextEncoder();
    let close = () => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const add = (text: string) => controller.enqueue(encoder.encode(text));
        const send = (text: string) => {
          if ((controller.desiredSize ?? 0) <= 0) close();
          else add(text);
        };
        const listener: Listener = (event) => send(this.#format(event));
        const heartbeat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS);
        close = () => {
          if (!this.#listeners.delete(listener)) return;
          clearInterval(heartbeat);
          signal.removeEventListener("abort", close);
          try {
            controller.close();
          } catch { /* the client was faster */ }
        };
        signal.addEventListener("abort", close);
        add("retry: 1000\n\n");
        const missed = this.#missedText(lastEventId);
        if (missed !== "") add(missed);
        for (const [type, data] of first()) {
          add(this.#format({ id: this.#lastId, type, data }));
        }
        this.#listeners.add(listener);
        if (signal.aborted) close();
      },
      cancel: () => close(),
    }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_BYTES }));
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  }

  /** Much is not caught up on: to ask anew is less, and leaves room for what comes meanwhile. */
  #missedText(lastEventId: string | null): string {
    let text = "";
    for (const event of this.#missed(lastEventId)) {
      text += this.#format(event);
      if (text.length > MAX_QUEUED_BYTES / 2) return this.#format(this.#reset());
    }
    return text;
  }

  #missed(lastEventId: string | null): LiveEvent[] {
    if (!lastEventId) return [];
    const [run, number] = lastEventId.split("-");
    const last = Number(number);
    const oldest = this.#kept[0]?.id ?? this.#lastId + 1;
    const known = run === this.#run && Number.isInteger(last) && last <= this.#lastId;
    if (!known || last + 1 < oldest) return [this.#reset()];
    return this.#kept.filter((event) => event.id > last);
  }

  #reset(): LiveEvent {
    return { id: this.#lastId, type: "reset", data: {} };
  }

  #format({ id, type, data }: LiveEvent): string {
    const line = id === undefined ? "" : `id: ${this.#run}-${id}\n`;
    return `${line}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
