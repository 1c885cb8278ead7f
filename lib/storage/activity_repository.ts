import { z } from "zod";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

/** One call of a tool at a door. */
export const ActivityEntry = z.strictObject({
  /** When it was answered, in ms since the epoch. */
  at: z.number(),
  door: z.string(),
  session: z.string(),
  principal: z.string(),
  server: z.string(),
  tool: z.string(),
  ms: z.number(),
  ok: z.boolean(),
});
export type ActivityEntry = z.infer<typeof ActivityEntry>;

/** What was counted in a day. */
export const ActivityDay = z.strictObject({
  day: z.string(),
  calls: z.int(),
  errors: z.int(),
  searches: z.int(),
  /** What all tools would have cost in place of what was found. */
  baselineTokens: z.number(),
  returnedTokens: z.number(),
});
export type ActivityDay = z.infer<typeof ActivityDay>;

const Batch = z.array(ActivityEntry);

/** The record of calls; nobody's news, so never announced. */
export class ActivityRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async append(batch: ActivityEntry[], day: ActivityDay, processId: string): Promise<void> {
    const sets: { key: readonly (string | number)[]; value: unknown }[] = [
      { key: keys.activityDay(day.day, processId), value: day },
    ];
    const [first] = batch;
    if (first) sets.push({ key: keys.activityBatch(first.at, crypto.randomUUID()), value: batch });
    await this.#store.commit({ sets, announce: false });
  }

  /** The newest calls first. */
  async *recent(limit: number): AsyncGenerator<ActivityEntry> {
    let left = limit;
    const records = this.#store.list({ prefix: [...keys.activity()] }, { reverse: true });
    for await (const { value } of records) {
      const batch = Batch.safeParse(value);
      for (const entry of batch.success ? batch.data.toReversed() : []) {
        if (left-- <= 0) return;
        yield entry;
      }
    }
  }

  /** Each day's counts over all processes, newest first. */
  async days(): Promise<ActivityDay[]> {
    const byDay = new Map<string, ActivityDay>();
    const records = this.#store.list({ prefix: [...keys.activityDays()] }, { reverse: true });
    for await (const { value } of records) {
      const parsed = ActivityDay.safeParse(value);
      if (!parsed.success) continue;
      const sum = byDay.get(parsed.data.day) ?? emptyDay(parsed.data.day);
      byDay.set(sum.day, addDays(sum, parsed.data));
    }
    return [...byDay.values()];
  }

  /** Removes what is older than that. */
  async prune(before: number): Promise<void> {
    const day = new Date(before).toISOString().slice(0, 10);
    const old = [
      { prefix: [...keys.activity()], end: [...keys.activity(), before] },
      { prefix: [...keys.activityDays()], end: [...keys.activityDays(), day] },
    ];
    for (const selector of old) {
      const found = (await Array.fromAsync(this.#store.list(selector, { limit: 10_000 })))
        .map(({ key }) => key);
      for (let start = 0; start < found.length; start += 200) {
        await this.#store.commit({ deletes: found.slice(start, start + 200), announce: false });
      }
    }
  }
}

export function emptyDay(day: string): ActivityDay {
  return { day, calls: 0, errors: 0, searches: 0, baselineTokens: 0, returnedTokens: 0 };
}

function addDays(a: ActivityDay, b: ActivityDay): ActivityDay {
  return {
    day: a.day,
    calls: a.calls + b.calls,
    errors: a.errors + b.errors,
    searches: a.searches + b.searches,
    baselineTokens: a.baselineTokens + b.baselineTokens,
    returnedTokens: a.returnedTokens + b.returnedTokens,
  };
}
