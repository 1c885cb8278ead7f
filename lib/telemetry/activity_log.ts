import type { SentTokens } from "../core/client.ts";
import {
  type ActivityDay,
  type ActivityEntry,
  type ActivityRecord,
  type ActivityRepository,
  emptyDay,
} from "../storage/activity_repository.ts";

const FLUSH_MS = 2_000;
/** As many calls as wait for the store at most; beyond that the oldest are counted, not kept. */
const MAX_WAITING = 2_000;
/** One record of the store holds no more calls, and none that are further apart. */
const BATCH_SIZE = 500;
const BATCH_MS = 60_000;
const WARN_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
const KEEP_DAYS = 30;
const MAX_CALLS = 100_000;
const PRUNE_MS = 60 * 60_000;

interface ActivityLogOptions {
  repository: ActivityRepository;
  processId: string;
  onWarning(message: string, details?: object): void;
  /** How long calls and counts are kept. Default: 30 days. */
  keepDays?: number;
  /** About how many calls are kept, the newest. Default: 100,000. */
  maxCalls?: number;
  now?: () => number;
}

/** Keeps what was called, some calls at a time and never while somebody waits. */
export class ActivityLog implements AsyncDisposable {
  readonly #options: ActivityLogOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<(entry: ActivityRecord) => void>();
  /** Tells this process's calls from those of others at the same time. */
  readonly #tag = crypto.randomUUID().slice(0, 8);
  #recorded = 0;
  #waiting: ActivityRecord[] = [];
  #leaving: readonly ActivityRecord[] = [];
  #day: ActivityDay;
  #dayEnds: number;
  #unwritten = new Set<ActivityDay>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #prunedAt = 0;
  #writtenSincePrune = 0;
  /** Calls that will not be in the log, and that nobody was told of. */
  #lost = 0;
  #warnedAt = -Infinity;
  #isOver = false;

  constructor(options: ActivityLogOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#day = emptyDay(dayOf(this.#now()));
    this.#dayEnds = endOfDay(this.#now());
  }

  /** Calls back with every call as it becomes known, also with those that another process had. */
  onEntry(listener: (entry: ActivityRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  isOwn({ id }: Pick<ActivityRecord, "id">): boolean {
    return id.split("-", 2)[1] === this.#tag;
  }

  /** Passes on a call that another process has recorded and counted. */
  hear(entry: ActivityRecord): void {
    for (const listener of this.#listeners) listener(entry);
  }

  record(entry: Omit<ActivityEntry, "at" | "id">): ActivityRecord {
    const at = this.#now();
    const id = `${at.toString(36)}-${this.#tag}-${(++this.#recorded).toString(36)}`;
    const kept = { at, id, ...entry };
    const day = this.#today(at);
    if (entry.search !== undefined) day.searches++;
    else {
      day.calls++;
      if (!entry.ok) day.errors++;
    }
    this.#waiting.push(kept);
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift();
      this.#lost++;
    }
    this.hear(kept);
    this.#schedule();
    return kept;
  }

  /** Calls that may not be in the store yet, the newest first. */
  unwritten(): ActivityRecord[] {
    return [...this.#leaving, ...this.#waiting].reverse();
  }

  /** What models were sent of tool lists and answers, and what listing everything would cost. */
  recordTokens({ baseline, listed, answered }: SentTokens): void {
    const day = this.#today(this.#now());
    day.baselineTokens += baseline;
    day.listedTokens += listed;
    day.returnedTokens += answered;
    this.#schedule();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    await this.#flushing;
  }

  /** Forgets every call up to here; what was counted by the day stays. */
  async clear(): Promise<void> {
    const until = this.#now();
    this.#waiting = [];
    // What is on its way to the store has to be there to be removed.
    await this.flush();
    await this.#options.repository.clear(until);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#flushing;
    const isLeft = this.#waiting.length > 0 || this.#unwritten.size > 0;
    if (this.#timer !== undefined || isLeft) await this.flush();
    this.#lost += this.#waiting.length;
    this.#warnedAt = -Infinity;
    if (this.#lost > 0) this.#warn({});
  }

  #today(now: number): ActivityDay {
    if (now >= this.#dayEnds) {
      this.#day = emptyDay(dayOf(now));
      this.#dayEnds = endOfDay(now);
    }
    this.#unwritten.add(this.#day);
    return this.#day;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    this.#timer = setTimeout(() => void this.flush(), FLUSH_MS);
  }

  async #write(): Promise<void> {
    const { repository, processId } = this.#options;
    const { keepDays = KEEP_DAYS, maxCalls = MAX_CALLS } = this.#options;
    const calls = this.#leaving = this.#waiting;
    this.#waiting = [];
    const days = this.#unwritten;
    this.#unwritten = new Set();
    const batches = inBatches(calls);
    try {
      while (batches.length > 0 || days.size > 0) {
        // Counts are written whole each time: those of a day may go with several batches.
        const [day = this.#day] = days;
        await repository.append(batches[0] ?? [], { ...day }, `${processId}-${day.day}`);
        days.delete(day);
        batches.shift();
      }
      this.#writtenSincePrune += calls.length;
      // A busy hour could bring many times what is to be kept.
      const isMuch = this.#writtenSincePrune > Math.max(MAX_WAITING, maxCalls / 4);
      // Not while it ends: what is left waits for the next process.
      if (!this.#isOver && (isMuch || this.#now() - this.#prunedAt > PRUNE_MS)) {
        this.#prunedAt = this.#now();
        this.#writtenSincePrune = 0;
        await repository.prune(this.#now() - keepDays * DAY_MS, maxCalls);
      }
    } catch (error) {
      for (const day of days) this.#unwritten.add(day);
      const waiting = [...batches.flat(), ...this.#waiting];
      this.#waiting = waiting.slice(-MAX_WAITING);
      this.#lost += waiting.length - this.#waiting.length;
      this.#warn({ error });
      this.#schedule();
    } finally {
      this.#leaving = [];
      if (this.#lost > 0) this.#warn({});
    }
  }

  /** Says what is wrong at most once a minute, and then of all calls that were lost since. */
  #warn(details: { error?: unknown }): void {
    if (this.#now() - this.#warnedAt < WARN_MS) return;
    this.#warnedAt = this.#now();
    const message = "error" in details
      ? "Cannot write calls to the activity log: retrying"
      : "Calls are missing from the activity log: they came faster than they could be stored";
    const counts = { waiting: this.#waiting.length, lost: this.#lost };
    this.#lost = 0;
    this.#options.onWarning(message, { ...details, ...counts });
  }
}

function inBatches(calls: readonly ActivityRecord[]): ActivityRecord[][] {
  const batches: ActivityRecord[][] = [];
  for (const call of calls) {
    const batch = batches.at(-1);
    const isNear = batch && batch.length < BATCH_SIZE && call.at - batch[0]!.at < BATCH_MS;
    if (isNear) batch.push(call);
    else batches.push([call]);
  }
  return batches;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function endOfDay(time: number): number {
  return (Math.floor(time / DAY_MS) + 1) * DAY_MS;
}
