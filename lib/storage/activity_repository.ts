import * as z from "zod";
import { TrialArm } from "../core/live_trial.ts";
import { ContentFinding } from "../core/content_finding.ts";
import { deleteFound, formerly, Repository } from "./collection.ts";
import { keys, type RecordKey, timeOfId } from "./keys.ts";

/** A search for tools, in the record of calls. */
export const ActivitySearch = z.strictObject({
  query: z.string(),
  /** The best tools that were returned, best first. */
  found: z.array(z.strictObject({ server: z.string(), tool: z.string(), relevance: z.number() })),
  /** How many were returned in all. */
  count: z.int(),
  /** Whether one of them fits. */
  isHit: z.boolean(),
  /** What the answer cost the model, if known. */
  tokens: z.int().optional(),
  /** Calls of found tools that followed in the same session; known when it is read, never stored. */
  picks: z.array(z.strictObject({
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    ok: z.boolean(),
  })).optional(),
});
export type ActivitySearch = z.infer<typeof ActivitySearch>;

export const ActivityEntry = z.strictObject({
  /** When it was answered, in ms since the epoch. */
  at: z.number(),
  endpoint: z.string(),
  session: z.string(),
  principal: z.string(),
  server: z.string(),
  tool: z.string(),
  ms: z.number(),
  ok: z.boolean(),
  /** Begins with the time of the call in base 36; records of earlier versions have none. */
  id: z.string().optional(),
  client: z.string().optional(),
  requestBytes: z.number().optional(),
  responseBytes: z.number().optional(),
  /** What went wrong, as a code or in a few words; without secrets. */
  error: z.string().optional(),
  /** How long the gateway had the call before the server did. */
  beforeMs: z.number().optional(),
  serverMs: z.number().optional(),
  /** For a search; `server` and `tool` are then the gateway's own. */
  search: ActivitySearch.optional(),
  /** The id of the search that led to this call. */
  searchId: z.string().optional(),
  /** The live A/B that decided which description its session was shown. */
  trial: z.strictObject({ trialId: z.string(), unit: z.string(), arm: TrialArm }).optional(),
  /** What the content guard found. */
  findings: z.array(ContentFinding).optional(),
});
export type ActivityEntry = z.infer<typeof ActivityEntry>;
/** As it is read: with an id, whoever wrote it. */
export type ActivityRecord = ActivityEntry & { id: string };

export const ActivityDay = z.strictObject({
  day: z.string(),
  calls: z.int(),
  errors: z.int(),
  searches: z.int(),
  /** What listing all tools would have cost, once for each session that was listed less. */
  baselineTokens: z.number(),
  /** Of the lists that were sent instead; days of earlier versions have none. */
  listedTokens: z.number().default(0),
  /** Of the answers of the gateway's own tools. */
  returnedTokens: z.number(),
});
export type ActivityDay = z.infer<typeof ActivityDay>;

const COUNTS = [
  "calls",
  "errors",
  "searches",
  "baselineTokens",
  "listedTokens",
  "returnedTokens",
] as const;
const Batch = z.array(formerly("door", "endpoint", ActivityEntry));
/** A batch spans no more time than this, however slow the store was. */
const BATCH_MS = 60_000;

/** The record of calls: news for pages alone, so never announced. */
export class ActivityRepository extends Repository {
  async append(batch: ActivityEntry[], day: ActivityDay, processId: string): Promise<void> {
    const days = { key: keys.activityDays(day.day, processId), value: day };
    const [first] = batch;
    const calls = first
      ? [{ key: keys.activity(first.at, crypto.randomUUID()), value: batch }]
      : [];
    const sets = [days, ...calls];
    await this.store.commit({ sets, announce: false, ...(first ? { news: "calls" } : {}) });
  }

  /** Calls as they were written together, those that began last first. */
  async *batches(since: number): AsyncGenerator<{ id: string; calls: ActivityRecord[] }> {
    const prefix = keys.activity();
    const selector = { prefix, start: [...prefix, since] };
    for await (const { key, value } of this.store.list(selector, { reverse: true })) {
      yield { id: String(key.at(-1)), calls: readBatch(key, value) };
    }
  }

  /** The newest calls first; `before` leaves out a call and all that are newer. */
  async *recent(limit: number, before?: string): AsyncGenerator<ActivityRecord> {
    let left = limit;
    const time = before === undefined ? undefined : timeOfId(before);
    let isPast = time === undefined;
    const records = this.store.list({
      prefix: keys.activity(),
      ...(time === undefined ? {} : { end: keys.activity(time + 1) }),
    }, { reverse: true });
    for await (const { key, value } of records) {
      for (const entry of readBatch(key, value).reverse()) {
        // The call may have been cleared away: older ones still follow it.
        if (!isPast && entry.at < time! - BATCH_MS) isPast = true;
        if (!isPast) isPast = entry.id === before;
        else if (left-- > 0) yield entry;
        else return;
      }
    }
  }

  async find(id: string): Promise<ActivityRecord | undefined> {
    const time = timeOfId(id);
    if (time === undefined) return undefined;
    const start = keys.activity(time - BATCH_MS);
    const records = this.store.list(
      { start, end: keys.activity(time + 1) },
      { reverse: true },
    );
    for await (const { key, value } of records) {
      const found = readBatch(key, value).find((entry) => entry.id === id);
      if (found) return found;
    }
  }

  /** Entries from one time to another, in batches that began in between or shortly before. */
  async *between(from: number, to: number): AsyncGenerator<ActivityRecord> {
    const selector = { start: keys.activity(from - BATCH_MS), end: keys.activity(to) };
    for await (const { key, value } of this.store.list(selector)) yield* readBatch(key, value);
  }

  async days(): Promise<ActivityDay[]> {
    const byDay = new Map<string, ActivityDay>();
    const records = this.store.list({ prefix: keys.activityDays() }, { reverse: true });
    for await (const { value } of records) {
      const parsed = ActivityDay.safeParse(value);
      if (!parsed.success) continue;
      const sum = byDay.get(parsed.data.day) ?? emptyDay(parsed.data.day);
      for (const count of COUNTS) sum[count] += parsed.data[count];
      byDay.set(sum.day, sum);
    }
    return [...byDay.values()];
  }

  /** Removes what is older than that, and of the calls all but about the newest so many. */
  async prune(before: number, mostCalls: number): Promise<void> {
    const day = new Date(before).toISOString().slice(0, 10);
    await deleteFound(this.store, { prefix: keys.activityDays(), end: keys.activityDays(day) });
    await deleteFound(this.store, { prefix: keys.activity(), end: keys.activity(before) });
    const last = await this.#lastKept(mostCalls);
    if (last) await deleteFound(this.store, { prefix: keys.activity(), end: last });
  }

  /** Removes all calls up to a time; what was counted by the day stays. */
  async clear(until: number): Promise<void> {
    await deleteFound(this.store, { prefix: keys.activity(), end: keys.activity(until + 1) });
    // After all are gone: pages that hear of it read the calls again at once.
    await this.store.commit({ announce: false, news: "cleared" });
  }

  /** The key of the batch with the oldest of the newest calls; undefined if there are no more. */
  async #lastKept(mostCalls: number): Promise<RecordKey | undefined> {
    // Few records say whether the many have to be looked at.
    const counted = (await this.days()).reduce(
      (sum, { calls, searches }) => sum + calls + searches,
      0,
    );
    if (counted <= mostCalls) return undefined;
    let calls = 0;
    const records = this.store.list({ prefix: keys.activity() }, { reverse: true });
    for await (const { key, value } of records) {
      calls += Array.isArray(value) ? value.length : 1;
      if (calls >= mostCalls) return key;
    }
  }
}

function readBatch(key: RecordKey, value: unknown): ActivityRecord[] {
  const batch = Batch.safeParse(value);
  if (!batch.success) return [];
  return batch.data.map((entry, index) => ({
    ...entry,
    id: entry.id ?? `${entry.at.toString(36)}-${String(key.at(-1)).slice(0, 8)}-${index}`,
  }));
}

export function emptyDay(day: string): ActivityDay {
  const tokens = { baselineTokens: 0, listedTokens: 0, returnedTokens: 0 };
  return { day, calls: 0, errors: 0, searches: 0, ...tokens };
}
