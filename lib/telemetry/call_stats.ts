import type {
  ActivityEntry,
  ActivityRecord,
  ActivityRepository,
} from "../storage/activity_repository.ts";
import type { ActivityLog } from "./activity_log.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MINUTES = 24 * 60;
const HOURS = 24;
/** Servers come and go under any name; those called longest ago are forgotten first. */
const MAX_SERVERS = 1_000;

export interface CallBucket {
  at: number;
  calls: number;
  errors: number;
}

/** How one server did in the last 24 hours; durations in ms, within a tenth. */
export interface ServerTimes {
  server: string;
  calls: number;
  errors: number;
  p50: number;
  p95: number;
}

/** Searches that found nothing, with the same words. */
export interface MissedQuery {
  query: string;
  count: number;
  /** When it was last searched for. */
  at: number;
}

const MOST_MISSED = 1_000;

type Call = Pick<ActivityEntry, "at" | "server" | "ms" | "ok" | "search">;

interface ServerHour {
  calls: number;
  errors: number;
  durations: Durations;
}

/** Calls and errors by the minute, and durations by server, over the last 24 hours. */
export class CallStats {
  readonly #now: () => number;
  /** A ring: which minute each place stands for, and what was counted in it. */
  readonly #minutes = new Float64Array(MINUTES).fill(-1);
  readonly #calls = new Uint32Array(MINUTES);
  readonly #errors = new Uint32Array(MINUTES);
  /** By server and hour; the server called last stands last. */
  readonly #servers = new Map<string, Map<number, ServerHour>>();

  #missed: { query: string; at: number }[] = [];

  constructor({ now = Date.now }: { now?: () => number } = {}) {
    this.#now = now;
  }

  /** Counts a call, in any order of time. */
  add({ at, server, ms, ok, search }: Call): void {
    if (at <= this.#oldest) return;
    if (search) {
      if (!search.isHit) this.#miss(search.query, at);
      return;
    }
    const minute = Math.floor(at / MINUTE_MS);
    const place = minute % MINUTES;
    if ((this.#minutes[place] ?? 0) > minute) return;
    if (this.#minutes[place] !== minute) {
      this.#minutes[place] = minute;
      this.#calls[place] = this.#errors[place] = 0;
    }
    this.#calls[place]!++;
    if (!ok) this.#errors[place]!++;
    this.#addToServer(server, Math.floor(at / HOUR_MS), ms, ok);
  }

  /** The last so many stretches of so many minutes, oldest first, those without calls too. */
  timeline(count: number, minutesEach: number): CallBucket[] {
    const last = Math.floor(this.#now() / (minutesEach * MINUTE_MS));
    return Array.from({ length: count }, (_, index) => {
      const first = (last - count + 1 + index) * minutesEach;
      const bucket = { at: first * MINUTE_MS, calls: 0, errors: 0 };
      for (let minute = first; minute < first + minutesEach; minute++) {
        const place = minute % MINUTES;
        if (this.#minutes[place] !== minute) continue;
        bucket.calls += this.#calls[place]!;
        bucket.errors += this.#errors[place]!;
      }
      return bucket;
    });
  }

  /** What was searched for and not found, most often first. */
  missed(): MissedQuery[] {
    const recent = this.#missed.filter(({ at }) => at > this.#oldest);
    const groups = Map.groupBy(recent, ({ query }) => query.toLowerCase().trim());
    return Array.from(groups.values(), (searches) => ({
      query: searches[0]!.query,
      count: searches.length,
      at: Math.max(...searches.map(({ at }) => at)),
    })).sort((a, b) => b.count - a.count || b.at - a.at);
  }

  servers(): ServerTimes[] {
    const oldest = Math.floor(this.#now() / HOUR_MS) - HOURS;
    return Array.from(this.#servers, ([server, hours]) => {
      const times = { server, calls: 0, errors: 0, p50: 0, p95: 0 };
      const durations = new Durations();
      for (const [hour, counted] of hours) {
        if (hour <= oldest) continue;
        times.calls += counted.calls;
        times.errors += counted.errors;
        durations.addAll(counted.durations);
      }
      return { ...times, p50: durations.quantile(0.5), p95: durations.quantile(0.95) };
    }).filter(({ calls }) => calls > 0).sort((a, b) => b.calls - a.calls);
  }

  get #oldest(): number {
    return this.#now() - MINUTES * MINUTE_MS;
  }

  #miss(query: string, at: number): void {
    this.#missed.push({ query, at });
    if (this.#missed.length <= MOST_MISSED) return;
    this.#missed = this.#missed.toSorted((a, b) => b.at - a.at).slice(0, MOST_MISSED / 2);
  }

  #addToServer(server: string, hour: number, ms: number, ok: boolean): void {
    const hours = this.#servers.get(server) ?? new Map<number, ServerHour>();
    this.#servers.delete(server);
    this.#servers.set(server, hours);
    if (this.#servers.size > MAX_SERVERS) {
      this.#servers.delete(this.#servers.keys().next().value!);
    }
    const counted = hours.get(hour) ?? { calls: 0, errors: 0, durations: new Durations() };
    hours.set(hour, counted);
    if (hours.size > HOURS) hours.delete(Math.min(...hours.keys()));
    counted.calls++;
    if (!ok) counted.errors++;
    counted.durations.add(ms);
  }
}

/** Each place holds durations up to a tenth longer than the one before. */
const GROWTH = 1.1;
const SHORTEST_MS = 0.1;
/** The last place begins after about 20 minutes. */
const PLACES = 172;

/** Durations counted in places that grow with them: small, and good for quantiles. */
export class Durations {
  readonly #counts = new Uint32Array(PLACES);
  #total = 0;

  add(ms: number): void {
    const place = Math.ceil(Math.log(Math.max(ms, SHORTEST_MS) / SHORTEST_MS) / Math.log(GROWTH));
    this.#counts[Math.min(place, PLACES - 1)]!++;
    this.#total++;
  }

  addAll(others: Durations): void {
    for (let place = 0; place < PLACES; place++) {
      this.#counts[place]! += others.#counts[place]!;
    }
    this.#total += others.#total;
  }

  /** What that share of them did not exceed, in ms, within a tenth; 0 where there are none. */
  quantile(share: number): number {
    let left = Math.ceil(this.#total * share);
    if (left === 0) return 0;
    for (let place = 0; place < PLACES; place++) {
      left -= this.#counts[place]!;
      // The middle of a place is wrong by half of its width at most.
      if (left <= 0) return SHORTEST_MS * GROWTH ** Math.max(0, place - 0.5);
    }
    return SHORTEST_MS * GROWTH ** PLACES;
  }
}

/** How far back the record is read at first; a busy gateway's day may hold more. */
const MOST_CALLS = 50_000;
const DAY_MS = 24 * 60 * 60_000;
/** Another process may write a call so long after it was made. */
const LATE_MS = 5 * 60_000;

interface CountedCallsOptions {
  activity: ActivityLog;
  repository: ActivityRepository;
  onWarning(message: string, details?: object): void;
}

export interface CountedCalls {
  stats: CallStats;
  /** When the calls from before it was first asked for are in it; never rejects. */
  loaded: Promise<void>;
}

/** Counts calls as they are recorded, and those of the last day that the record has. */
export function countCalls({ activity, repository, onWarning }: CountedCallsOptions): CountedCalls {
  const stats = new CallStats();
  const since = Date.now();
  /** Calls around that time: the record may have them, or another process tell them later. */
  const seen = new Set<string>();
  const addOnce = (entry: ActivityRecord) => {
    if (seen.has(entry.id)) return;
    seen.add(entry.id);
    stats.add(entry);
  };
  let isLoading = true;
  activity.onEntry((entry) => {
    if (entry.at < since - LATE_MS || seen.has(entry.id)) return;
    if (isLoading || entry.at < since) addOnce(entry);
    else stats.add(entry);
  });
  // Called before we listened, perhaps in this millisecond, and not in the record yet.
  for (const entry of activity.unwritten()) addOnce(entry);
  const load = async () => {
    for await (const entry of repository.recent(MOST_CALLS)) {
      if (entry.at < since - DAY_MS) break;
      if (entry.at >= since - LATE_MS) addOnce(entry);
      else if (!seen.has(entry.id)) stats.add(entry);
    }
  };
  const loaded = load()
    .catch((error) => onWarning("Cannot read the calls of the last day", { error }))
    .finally(() => isLoading = false);
  return { stats, loaded };
}

/** Calls of one session that are further apart belong to different work. */
const APART_MS = 10 * 60_000;
const MAX_SESSIONS = 1_000;

type Used = Pick<ActivityEntry, "server" | "tool">;
type UsedCall = Used & Pick<ActivityEntry, "at" | "session" | "search">;

/** Which tools are called one after the other, counted from the activity log. */
export class CoUse {
  readonly #last = new Map<string, UsedCall>();
  readonly #counts = new Map<string, Map<string, { other: Used; times: number }>>();

  add(call: UsedCall): void {
    const { at, session, search } = call;
    if (search) return;
    const before = this.#last.get(session);
    // Deleted first, so that the map stays in the order of the last use; where there is room for
    // all, that would only make work.
    if (this.#last.size >= MAX_SESSIONS) this.#last.delete(session);
    this.#last.set(session, call);
    if (this.#last.size > MAX_SESSIONS) this.#last.delete(this.#last.keys().next().value!);
    if (!before || keyOf(before) === keyOf(call) || at - before.at > APART_MS) return;
    this.#count(before, call);
    this.#count(call, before);
  }

  with(server: string, tool: string): Used[] {
    const counts = [...this.#counts.get(keyOf({ server, tool })) ?? []];
    return counts.sort(([a, left], [b, right]) => right.times - left.times || (a < b ? -1 : 1))
      .map(([, { other }]) => other);
  }

  #count(used: Used, { server, tool }: Used): void {
    const counts = this.#counts.get(keyOf(used)) ?? new Map();
    const other = { server, tool };
    const times = (counts.get(keyOf(other))?.times ?? 0) + 1;
    this.#counts.set(keyOf(used), counts.set(keyOf(other), { other, times }));
  }
}

function keyOf({ server, tool }: Used): string {
  return `${server}.${tool}`;
}
