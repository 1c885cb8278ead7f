import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { ActivityLog } from "../telemetry/activity_log.ts";

/** How many subjects a client that dropped off can catch up on. */
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
 * that lost its connection gets what it missed, or `reset` if that is no longer known.
 */
export class EventHub {
  /** Tells this run's ids from those of an earlier one. */
  readonly #run = crypto.randomUUID().slice(0, 8);
  /** The last event about each subject, in the order of the ids: one before it is out of date. */
  readonly #kept = new Map<string, LiveEvent & { id: number }>();
  readonly #listeners = new Set<Listener>();
  /** Internal listeners, called after each event; not counted as clients. */
  readonly #followers = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  #lastId = 0;
  /** The last event that is not kept though nothing took its place. */
  #lastForgotten = 0;

  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** What a page says that was made at this moment, to hear what comes after. */
  get lastEventId(): string {
    return this.#nameOf(this.#lastId);
  }

  /** A later event about the same subject takes the place of an earlier one for who missed both. */
  publish(type: string, data: unknown, subject = ""): void {
    const event = { id: ++this.#lastId, type, data };
    const key = `${type} ${subject}`;
    this.#kept.delete(key);
    this.#kept.set(key, event);
    const [oldest] = this.#kept;
    if (oldest && this.#kept.size > KEPT_EVENTS) {
      this.#kept.delete(oldest[0]);
      this.#lastForgotten = oldest[1].id;
    }
    for (const listener of this.#listeners) listener(event);
    for (const follower of this.#followers) follower();
  }

  /** Calls back after each published event; returns a function that stops it. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Sends an event that is not stored: clients that miss it have to ask. */
  tell(type: string, data: unknown): void {
    for (const listener of this.#listeners) listener({ type, data });
  }

  /** Resolves as soon as there is a listener, or the signal aborts. */
  whenHeard(signal: AbortSignal): Promise<void> {
    if (this.#listeners.size > 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done);
    });
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
        for (const heard of this.#waiting) heard();
        if (signal.aborted) close();
      },
      cancel: () => close(),
    }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_BYTES }));
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
  }

  /** A long gap is not replayed: reloading is cheaper, and leaves room for new events. */
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
    const isKnown = run === this.#run && Number.isInteger(last) && last <= this.#lastId &&
      last >= this.#lastForgotten;
    if (!isKnown) return [this.#reset()];
    return [...this.#kept.values()].filter((event) => event.id > last);
  }

  #reset(): LiveEvent {
    return { id: this.#lastId, type: "reset", data: {} };
  }

  #format({ id, type, data }: LiveEvent): string {
    const line = id === undefined ? "" : `id: ${this.#nameOf(id)}\n`;
    return `${line}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #nameOf(id: number): string {
    return `${this.#run}-${id}`;
  }
}

const EVERY_MS = 250;
const MOST_AT_ONCE = 200;

/** What an open page receives about calls. */
export interface CallsEvent {
  /** The oldest first. */
  calls: ActivityRecord[];
  /** How many more there were; a page has to ask for them. */
  skipped: number;
}

/** Sends answered calls to open pages, in batches and only while a page is open. */
export class CallEvents implements Disposable {
  readonly #events: EventHub;
  readonly #unsubscribe: () => void;
  #calls: ActivityRecord[] = [];
  #skipped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(events: EventHub, activity: ActivityLog) {
    this.#events = events;
    this.#unsubscribe = activity.onEntry((call) => this.#add(call));
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  #add(call: ActivityRecord): void {
    if (this.#events.listenerCount === 0) return;
    if (this.#calls.length < MOST_AT_ONCE) this.#calls.push(call);
    else this.#skipped++;
    this.#timer ??= setTimeout(() => this.#tell(), EVERY_MS);
  }

  #tell(): void {
    this.#timer = undefined;
    const heard: CallsEvent = { calls: this.#calls, skipped: this.#skipped };
    this.#calls = [];
    this.#skipped = 0;
    this.#events.tell("activity", heard);
  }
}
