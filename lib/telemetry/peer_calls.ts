import type { ActivityRecord, ActivityRepository } from "../storage/activity_repository.ts";
import type { ActivityLog } from "./activity_log.ts";

/** Calls are written some seconds after they were made; a slow store or a wrong clock takes longer. */
const SOON_MS = 10_000;
const LATE_MS = 3 * 60_000;
/** More are not worth telling one by one. */
const MOST_CALLS = 20_000;

interface PeerCallsOptions {
  repository: ActivityRepository;
  log: Pick<ActivityLog, "isOwn">;
  now?: () => number;
}

/** Finds the calls that other processes on the same store have written since the last look. */
export class PeerCalls {
  readonly #options: PeerCallsOptions;
  readonly #now: () => number;
  /** Batches that were seen, with when they began. */
  readonly #seen = new Map<string, number>();
  #lookedAt: number;

  constructor(options: PeerCallsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#lookedAt = this.#now();
  }

  /** The oldest first; at least so many batches are known to have come. */
  async look(batches: number): Promise<ActivityRecord[]> {
    const before = this.#lookedAt;
    const now = this.#now();
    const calls: ActivityRecord[] = [];
    const fresh = new Map<string, number>();
    const found = await this.#collect(before - SOON_MS, calls, fresh);
    if (found < batches && calls.length < MOST_CALLS) {
      await this.#collect(before - LATE_MS, calls, fresh);
    }
    // Not before: what was read of a store that failed midway is read again.
    for (const [id, at] of fresh) this.#seen.set(id, at);
    this.#lookedAt = now;
    for (const [id, at] of this.#seen) if (at < now - 2 * LATE_MS) this.#seen.delete(id);
    return calls.sort((a, b) => a.at - b.at);
  }

  async #collect(
    since: number,
    into: ActivityRecord[],
    fresh: Map<string, number>,
  ): Promise<number> {
    const { repository, log } = this.#options;
    let found = 0;
    for await (const { id, calls } of repository.batches(since)) {
      const [first] = calls;
      if (first === undefined || this.#seen.has(id) || fresh.has(id)) continue;
      fresh.set(id, first.at);
      if (log.isOwn(first)) continue;
      found++;
      into.push(...calls);
      if (into.length >= MOST_CALLS) break;
    }
    return found;
  }
}
