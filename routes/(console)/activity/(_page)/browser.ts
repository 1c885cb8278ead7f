import { signal } from "@preact/signals";
import * as z from "zod/mini";
import { readApi } from "../../../../lib/console/ui/api.ts";
import type { CallBucket } from "../../../../lib/telemetry/call_stats.ts";

const ListedCall = z.object({
  id: z.string(),
  at: z.number(),
  endpoint: z.string(),
  server: z.string(),
  tool: z.string(),
  client: z.optional(z.string()),
  ms: z.number(),
  ok: z.boolean(),
  error: z.optional(z.string()),
  requestBytes: z.optional(z.number()),
  responseBytes: z.optional(z.number()),
  session: z.optional(z.string()),
  search: z.optional(z.object({
    query: z.string(),
    count: z.number(),
    isHit: z.boolean(),
    picks: z.optional(z.array(z.object({ server: z.string(), tool: z.string() }))),
  })),
  searchId: z.optional(z.string()),
});
export type ListedCall = z.infer<typeof ListedCall>;

const Heard = z.object({
  calls: z.array(ListedCall),
  skipped: z._default(z.number(), 0),
});

/** Calls as the gateway lists them, the newest first. */
export const CallsAnswer = z.object({ calls: z.array(ListedCall), hasOlder: z.boolean() });
type CallsAnswer = z.infer<typeof CallsAnswer>;

/** Calls as the live channel tells them, the newest first; undefined where it tells no calls. */
export function readHeard(data: unknown): z.infer<typeof Heard> | undefined {
  const heard = Heard.safeParse(data).data;
  return heard && { ...heard, calls: heard.calls.toReversed() };
}

type Rows = readonly ListedCall[];

export interface CallFeedInput {
  rows: Rows;
  hasOlder: boolean;
  query: Record<string, string>;
  /** Shows calls before one: what is new has no place there. */
  isOlder: boolean;
}

const AT_ONCE = 500;
/** The gateway is not asked more often for what it did not tell by itself. */
const ASK_MS = 1_000;

/** The calls of one list in the browser: what was loaded, what came live, and what waits to be shown. */
export class CallFeed {
  readonly rows = signal<Rows>([]);
  readonly waiting = signal<Rows>([]);
  readonly hasOlder = signal(false);
  readonly older = signal<"idle" | "loading" | "failed">("idle");
  readonly #query: Record<string, string>;
  readonly #isOlder: boolean;
  readonly #ask: typeof askCalls;
  /** Whether those that wait do not join what is shown. */
  #isWaitingAnew = false;
  #askedAt = -Infinity;
  #asking: ReturnType<typeof setTimeout> | undefined;

  constructor({ rows, hasOlder, query, isOlder }: CallFeedInput, ask = askCalls) {
    this.rows.value = rows;
    this.hasOlder.value = hasOlder;
    this.#query = query;
    this.#isOlder = isOlder;
    this.#ask = ask;
  }

  /** Takes what the live channel tells; `holds` says whether it is held back at that moment. */
  hear(data: unknown, holds: () => boolean): void {
    const heard = readHeard(data);
    if (heard === undefined || this.#isOlder) return;
    // What is said in calls only the gateway can search.
    if (heard.skipped > 0 || this.#query.q !== undefined) return this.askSoon(holds);
    // What is older than the last row comes when older ones are asked for.
    const last = this.hasOlder.value ? this.rows.value.at(-1)?.at ?? -Infinity : -Infinity;
    const calls = heard.calls.filter((call) => call.at >= last && passes(call, this.#query));
    if (calls.length === 0) return;
    if (holds()) this.waiting.value = withHeard(this.waiting.value, calls);
    else this.rows.value = withHeard(this.rows.value, calls);
  }

  /** Adds calls to the searches that led to them, whether they are shown themselves or not. */
  hearPicks(data: unknown): void {
    const picks = readHeard(data)?.calls.filter(({ searchId }) => searchId !== undefined) ?? [];
    if (picks.length === 0) return;
    const bySearch = Map.groupBy(picks.toReversed(), ({ searchId }) => searchId);
    this.rows.value = this.rows.value.map((row) => {
      const added = row.search && bySearch.get(row.id);
      if (!row.search || !added) return row;
      return { ...row, search: { ...row.search, picks: [...row.search.picks ?? [], ...added] } };
    });
  }

  askSoon(holds: () => boolean): void {
    if (this.#isOlder || this.#asking !== undefined) return;
    const wait = Math.max(0, this.#askedAt + ASK_MS - Date.now());
    this.#asking = setTimeout(async () => {
      this.#asking = undefined;
      this.#askedAt = Date.now();
      try {
        this.refresh(await this.#ask({ ...this.#query, limit: String(AT_ONCE) }), holds());
      } catch { /* the live indicator says that the gateway is away */ }
    }, wait);
  }

  refresh({ calls, hasOlder }: CallsAnswer, isHeld: boolean): void {
    const all = this.#isWaitingAnew
      ? this.waiting.value
      : withHeard(this.rows.value, this.waiting.value);
    const { rows, isAnew } = withNewest(all, calls);
    if (!isHeld || this.rows.value.length === 0) {
      this.rows.value = rows;
      this.waiting.value = [];
      if (isHeld || isAnew) this.hasOlder.value = hasOlder;
      else if (this.#isWaitingAnew) this.hasOlder.value = true;
      if (!isHeld) this.#isWaitingAnew = false;
      return;
    }
    this.#isWaitingAnew ||= isAnew;
    const shown = new Set(this.rows.value.slice(0, AT_ONCE * 4).map(({ id }) => id));
    const end = rows.findIndex(({ id }) => shown.has(id));
    this.waiting.value = this.#isWaitingAnew ? rows : rows.slice(0, Math.max(0, end));
  }

  showWaiting(): void {
    if (this.waiting.value.length === 0) return;
    if (this.#isWaitingAnew) this.hasOlder.value = true;
    this.rows.value = this.#isWaitingAnew
      ? this.waiting.value
      : withHeard(this.rows.value, this.waiting.value);
    this.#isWaitingAnew = false;
    this.waiting.value = [];
  }

  async loadOlder(): Promise<void> {
    const last = this.rows.value.at(-1);
    const isFull = this.rows.value.length >= MOST_ROWS;
    if (!last || isFull || !this.hasOlder.value || this.older.value === "loading") return;
    this.older.value = "loading";
    try {
      const query = { ...this.#query, limit: String(AT_ONCE), before: last.id };
      const { calls, hasOlder } = await this.#ask(query);
      this.older.value = "idle";
      // The list has started over meanwhile: there would be a gap between its end and these.
      if (this.rows.value.at(-1)?.id !== last.id) return;
      this.rows.value = withOlder(this.rows.value, calls);
      this.hasOlder.value = hasOlder;
    } catch {
      this.older.value = "failed";
    }
  }

  close(): void {
    clearTimeout(this.#asking);
  }
}

const ASK_LIMIT_MS = 20_000;

async function askCalls(query: Record<string, string>): Promise<CallsAnswer> {
  const path = `/api/activity?${new URLSearchParams(query)}`;
  return CallsAnswer.parse(await readApi(path, AbortSignal.timeout(ASK_LIMIT_MS)));
}

export const MOST_ROWS = 100_000;
/** Rows are nearly in the order of time: so many are looked at before that is relied on. */
const LOOKED_AT = 1_000;

/**
 * The list with the newest calls as they are now. Where these do not reach back to what is there,
 * calls in between are unknown: then the list starts over, and the older ones are fetched again.
 */
export function withNewest(rows: Rows, newest: Rows): { rows: Rows; isAnew: boolean } {
  if (rows.length === 0 || newest.length === 0) {
    return { rows: newest.length === 0 ? rows : newest, isAnew: true };
  }
  const ids = new Set(newest.map(({ id }) => id));
  const first = rows.findIndex(({ id }) => ids.has(id));
  if (first < 0) return { rows: newest, isAnew: true };
  const last = rows.findLastIndex(({ id }) => ids.has(id));
  // What is not among them has come since they were asked for.
  const missing = rows.slice(first, last).filter(({ id }) => !ids.has(id));
  const joined = [...rows.slice(0, first), ...newest, ...rows.slice(last + 1)];
  return { rows: missing.length > 0 ? withHeard(joined, missing) : cut(joined), isAnew: false };
}

/** The list with calls that were heard of: those of other gateways come late, and go to their place. */
export function withHeard(rows: Rows, heard: Rows): Rows {
  const oldest = heard.reduce((least, { at }) => Math.min(least, at), Infinity);
  const older = rows.findIndex(({ at }, index) => index >= LOOKED_AT && at < oldest);
  const head = older < 0 ? rows : rows.slice(0, older);
  const known = new Set(head.map(({ id }) => id));
  const added = [...heard.filter(({ id }) => !known.has(id)), ...head];
  const isLate = oldest < (rows[0]?.at ?? 0);
  return cut([
    ...(isLate ? added.sort((a, b) => b.at - a.at) : added),
    ...rows.slice(head.length),
  ]);
}

export function withOlder(rows: Rows, older: Rows): Rows {
  const known = new Set(rows.slice(-older.length - 1_000).map(({ id }) => id));
  return cut([...rows, ...older.filter(({ id }) => !known.has(id))]);
}

/** What calls can be filtered by, besides their text, their kind and how they ended. */
export const NAMES = ["server", "tool", "client", "endpoint", "session"] as const;

/** Whether a call passes the filter as the address says it, its text aside. */
export function passes(call: ListedCall, query: Record<string, string>): boolean {
  const { status, kind } = query;
  return (kind === undefined || (kind === "call") === (call.search === undefined)) &&
    (kind !== "missed" || call.search?.isHit === false) &&
    NAMES.every((name) => query[name] === undefined || call[name] === query[name]) &&
    (status === undefined || call.ok === (status === "ok"));
}

function cut(rows: ListedCall[]): Rows {
  return rows.length > MOST_ROWS ? rows.slice(0, MOST_ROWS) : rows;
}

const BARS = 60;

/** How many calls came when, the oldest first, over the time that the rows span. */
export function histogram(rows: Rows): CallBucket[] {
  const to = rows[0]?.at ?? 0;
  const from = rows.at(-1)?.at ?? 0;
  const each = Math.max(1, (to - from + 1) / BARS);
  const bars = Array.from({ length: BARS }, (_, index) => ({
    at: from + index * each,
    calls: 0,
    errors: 0,
  }));
  for (const { at, ok } of rows) {
    const bar = bars[Math.min(BARS - 1, Math.max(0, Math.floor((at - from) / each)))]!;
    bar.calls++;
    if (!ok) bar.errors++;
  }
  return bars;
}
