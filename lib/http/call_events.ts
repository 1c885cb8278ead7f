import type { ActivityRecord } from "../storage/activity_repository.ts";
import type { ActivityLog } from "../telemetry/activity_log.ts";
import type { EventHub } from "./event_hub.ts";

const EVERY_MS = 250;
const MOST_AT_ONCE = 200;

/** What an open page hears of calls. */
export interface HeardCalls {
  /** The oldest first. */
  calls: ActivityRecord[];
  /** How many more there were: whoever wants them asks. */
  skipped: number;
}

/** Tells open pages of calls as they are answered, some at a time and only while there is a page. */
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
    const heard: HeardCalls = { calls: this.#calls, skipped: this.#skipped };
    this.#calls = [];
    this.#skipped = 0;
    this.#events.tell("activity", heard);
  }
}
