import {
  type ActivityDay,
  type ActivityEntry,
  type ActivityRepository,
  emptyDay,
} from "../storage/activity_repository.ts";

const FLUSH_MS = 2_000;
/** As many calls as wait for the store at most; beyond that they are counted, not kept. */
const MAX_WAITING = 5_000;
const DAY_MS = 24 * 60 * 60_000;
const KEEP_MS = 30 * DAY_MS;
const PRUNE_MS = 60 * 60_000;

export interface ActivityLogOptions {
  repository: ActivityRepository;
  /** Tells this process from others on the same store. */
  processId: string;
  onWarning(message: string, details?: object): void;
  now?: () => number;
}

/** Keeps what was called, some calls at a time and never while somebody waits. */
export class ActivityLog implements AsyncDisposable {
  readonly #options: ActivityLogOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<(entry: ActivityEntry) => void>();
  #waiting: ActivityEntry[] = [];
  #day: ActivityDay;
  #dayEnds: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #prunedAt = 0;

  constructor(options: ActivityLogOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#day = emptyDay(dayOf(this.#now()));
    this.#dayEnds = endOfDay(this.#now());
  }

  onEntry(listener: (entry: ActivityEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  record(entry: Omit<ActivityEntry, "at">): void {
    const kept = { at: this.#now(), ...entry };
    const day = this.#today(kept.at);
    day.calls++;
    if (!entry.ok) day.errors++;
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(kept);
    for (const listener of this.#listeners) listener(kept);
    this.#schedule();
  }

  /** A search, and what it cost against listing everything. */
  recordSearch(baselineTokens: number, returnedTokens: number): void {
    const day = this.#today(this.#now());
    day.searches++;
    day.baselineTokens += baselineTokens;
    day.returnedTokens += returnedTokens;
    this.#schedule();
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    await this.#flushing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== undefined) await this.flush();
    await this.#flushing;
  }

  #today(now: number): ActivityDay {
    if (now >= this.#dayEnds) {
      this.#day = emptyDay(dayOf(now));
      this.#dayEnds = endOfDay(now);
    }
    return this.#day;
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), FLUSH_MS);
  }

  async #write(): Promise<void> {
    const { repository, processId, onWarning } = this.#options;
    const batch = this.#waiting;
    this.#waiting = [];
    const id = `${processId}-${this.#day.day}`;
    try {
      await repository.append(batch, { ...this.#day }, id);
      if (this.#now() - this.#prunedAt > PRUNE_MS) {
        this.#prunedAt = this.#now();
        await repository.prune(this.#now() - KEEP_MS);
      }
    } catch (error) {
      onWarning("Calls could not be kept in the activity log", { error, calls: batch.length });
    }
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function endOfDay(time: number): number {
  return (Math.floor(time / DAY_MS) + 1) * DAY_MS;
}
