import { ownerOf } from "../core/access.ts";
import type { SearchPick } from "../core/tool.ts";
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
const MAX_TOOLS = 10_000;
const MAX_SESSIONS = 1_000;

export interface CallBucket {
  at: number;
  calls: number;
  errors: number;
}

/** How often something was called in the last 24 hours, and when last, as far as the log goes back. */
export interface CallUse {
  calls: number;
  errors: number;
  lastAt?: number;
}

/** How one server did in the last 24 hours; durations in ms, within a tenth. */
export interface ServerTimes extends CallUse {
  server: string;
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

type Call = Pick<ActivityEntry, "at" | "server" | "tool" | "ms" | "ok" | "search"> & {
  /** If missing, it was made over MCP. */
  endpoint?: string;
};

/** Stand for an endpoint in records of searches that people made. */
const PEOPLES_ENDPOINTS = ["api", "cli", "console"];

/** Calls, errors and durations by server and tool over the last 24 hours, in plain counters. */
export class CallStats {
  readonly #now: () => number;
  /** A ring: which minute each place stands for, and what was counted in it. */
  readonly #minutes = new Float64Array(MINUTES).fill(-1);
  readonly #calls = new Uint32Array(MINUTES);
  readonly #errors = new Uint32Array(MINUTES);
  readonly #servers = new Map<string, ServerCounts>();
  readonly #tools = new Map<string, HourCounts>();
  #oldest = Infinity;
  #missed: { query: string; at: number; isOverMcp: boolean }[] = [];

  constructor({ now = Date.now }: { now?: () => number } = {}) {
    this.#now = now;
  }

  /** When the oldest call that is known was made; undefined if none is. */
  get oldest(): number | undefined {
    return this.#oldest === Infinity ? undefined : this.#oldest;
  }

  /** Counts a call, in any order of time; of one that is older than a day only the time is kept. */
  add({ at, server, tool, ms, ok, search, endpoint = "mcp" }: Call): void {
    if (search) {
      if (at <= this.#dayAgo) return;
      if (!search.isHit) this.#miss(search.query, at, !PEOPLES_ENDPOINTS.includes(endpoint));
      return;
    }
    if (at < this.#oldest) this.#oldest = at;
    const ofServer = touched(this.#servers, server, MAX_SERVERS, () => new ServerCounts());
    const ofTool = touched(this.#tools, `${server}\n${tool}`, MAX_TOOLS, () => new HourCounts());
    ofServer.see(at);
    ofTool.see(at);
    if (at <= this.#dayAgo) return;
    const minute = Math.floor(at / MINUTE_MS);
    const place = minute % MINUTES;
    if ((this.#minutes[place] ?? 0) > minute) return;
    if (this.#minutes[place] !== minute) {
      this.#minutes[place] = minute;
      this.#calls[place] = this.#errors[place] = 0;
    }
    this.#calls[place]!++;
    if (!ok) this.#errors[place]!++;
    const hour = Math.floor(at / HOUR_MS);
    ofServer.add(hour, ok, ms);
    ofTool.add(hour, ok);
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

  /** Those with calls in the last 24 hours, most calls first. */
  servers(): ServerTimes[] {
    return Array.from(this.#servers, ([server, counts]) => counts.times(server, this.#hour))
      .filter(({ calls }) => calls > 0).sort((a, b) => b.calls - a.calls);
  }

  /** One server, with its calls by the hour, oldest first. */
  server(name: string): ServerTimes & { hours: CallBucket[] } {
    const counts = this.#servers.get(name) ?? new ServerCounts();
    return { ...counts.times(name, this.#hour), hours: counts.hours(this.#hour) };
  }

  /** The use of a server, or of one of its tools. */
  use(server: string, tool?: string): CallUse {
    const counts = tool === undefined
      ? this.#servers.get(server)
      : this.#tools.get(`${server}\n${tool}`);
    return counts?.use(this.#hour) ?? { calls: 0, errors: 0 };
  }

  /** Queries of searches that found nothing, most frequent first; of all, or of those over MCP. */
  missed(by: "all" | "mcp" = "all"): MissedQuery[] {
    const recent = this.#missed.filter(({ at, isOverMcp }) =>
      at > this.#dayAgo && (by === "all" || isOverMcp)
    );
    const groups = Map.groupBy(recent, ({ query }) => query.toLowerCase().trim());
    return Array.from(groups.values(), (searches) => ({
      query: searches[0]!.query,
      count: searches.length,
      at: Math.max(...searches.map(({ at }) => at)),
    })).sort((a, b) => b.count - a.count || b.at - a.at);
  }

  #miss(query: string, at: number, isOverMcp: boolean): void {
    this.#missed.push({ query, at, isOverMcp });
    if (this.#missed.length <= MOST_MISSED) return;
    this.#missed = this.#missed.toSorted((a, b) => b.at - a.at).slice(0, MOST_MISSED / 2);
  }

  get #hour(): number {
    return Math.floor(this.#now() / HOUR_MS);
  }

  get #dayAgo(): number {
    return this.#now() - MINUTES * MINUTE_MS;
  }
}

/** The entry of a key, made if it is missing; beyond `most`, the one touched longest ago is dropped. */
function touched<T>(map: Map<string, T>, key: string, most: number, make: () => T): T {
  const found = map.get(key);
  // Reordering costs time, and matters only if one has to go.
  if (found !== undefined && map.size < most) return found;
  const value = found ?? make();
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
  return value;
}

/** A ring of 24 hours. */
class HourCounts {
  readonly #hours = new Float64Array(HOURS).fill(-1);
  readonly #calls = new Uint32Array(HOURS);
  readonly #errors = new Uint32Array(HOURS);
  #lastAt = 0;

  see(at: number): void {
    if (at > this.#lastAt) this.#lastAt = at;
  }

  /** The place of the hour in the ring; undefined if a later one has it. */
  add(hour: number, ok: boolean): number | undefined {
    const place = hour % HOURS;
    if (this.#hours[place]! > hour) return undefined;
    if (this.#hours[place] !== hour) {
      this.#hours[place] = hour;
      this.#calls[place] = this.#errors[place] = 0;
    }
    this.#calls[place]!++;
    if (!ok) this.#errors[place]!++;
    return place;
  }

  isWithinDay(place: number, now: number): boolean {
    return this.#hours[place]! > now - HOURS;
  }

  hours(now: number): CallBucket[] {
    return Array.from({ length: HOURS }, (_, index) => {
      const hour = now - HOURS + 1 + index;
      const place = hour % HOURS;
      const isKnown = this.#hours[place] === hour;
      return {
        at: hour * HOUR_MS,
        calls: isKnown ? this.#calls[place]! : 0,
        errors: isKnown ? this.#errors[place]! : 0,
      };
    });
  }

  use(now: number): CallUse {
    let [calls, errors] = [0, 0];
    for (let place = 0; place < HOURS; place++) {
      if (!this.isWithinDay(place, now)) continue;
      calls += this.#calls[place]!;
      errors += this.#errors[place]!;
    }
    return { calls, errors, ...(this.#lastAt === 0 ? {} : { lastAt: this.#lastAt }) };
  }
}

class ServerCounts extends HourCounts {
  readonly #durations: { hour: number; durations: Durations }[] = [];

  override add(hour: number, ok: boolean, ms = 0): number | undefined {
    const place = super.add(hour, ok);
    if (place === undefined) return undefined;
    const counted = this.#durations[place];
    if (counted?.hour === hour) counted.durations.add(ms);
    else {
      const durations = new Durations();
      durations.add(ms);
      this.#durations[place] = { hour, durations };
    }
    return place;
  }

  times(server: string, now: number): ServerTimes {
    const durations = new Durations();
    this.#durations.forEach((counted, place) => {
      if (this.isWithinDay(place, now)) durations.addAll(counted.durations);
    });
    const [p50, p95] = [durations.quantile(0.5), durations.quantile(0.95)];
    return { server, ...this.use(now), p50, p95 };
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

  /** What that share of them did not exceed, in ms, within a tenth; 0 if there are none. */
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

/** How many calls of the record are read at first; a busy gateway's day may hold more. */
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
  /** Resolves once the last day's calls from before it was first asked for are counted. */
  loaded: Promise<void>;
  /** Resolves once older calls are read too, which say when a tool was last used. */
  complete: Promise<void>;
}

/** Counts calls as they are recorded, and those that the record has. */
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
  const day = Promise.withResolvers<void>();
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
      if (entry.at < since - DAY_MS) day.resolve();
      if (entry.at >= since - LATE_MS) addOnce(entry);
      else if (!seen.has(entry.id)) stats.add(entry);
    }
  };
  const complete = load()
    .catch((error) => onWarning("Cannot read the calls of the last 24 hours", { error }))
    .finally(() => {
      isLoading = false;
      day.resolve();
    });
  return { stats, loaded: day.promise, complete };
}

/** Calls of one session that are further apart belong to different work. */
const APART_MS = 10 * 60_000;

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

const MAX_OWNERS = 500;
const MAX_PICKS = 200;
const MAX_SEARCHES = 2_000;

/** Which tools each caller called after which searches; the newest, counted from the activity log. */
export class SearchPicks {
  readonly #searches = new Map<string, { owner: string; query: string }>();
  readonly #owners = new Map<string, Map<string, SearchPick>>();

  add(entry: ActivityRecord): void {
    const { id, principal, search, searchId, ok } = entry;
    const owner = ownerOf(principal);
    if (search) {
      touched(this.#searches, id, MAX_SEARCHES, () => ({ owner, query: search.query }));
    }
    const asked = searchId === undefined ? undefined : this.#searches.get(searchId);
    if (!ok || asked?.owner !== owner) return;
    const picks = touched(this.#owners, owner, MAX_OWNERS, () => new Map<string, SearchPick>());
    const { query } = asked;
    const key = keyOf(entry);
    const pick = touched(picks, `${query}\n${key}`, MAX_PICKS, () => ({ query, key, times: 0 }));
    pick.times++;
  }

  of(owner: string): SearchPick[] {
    return [...this.#owners.get(owner)?.values() ?? []];
  }

  clear(): void {
    this.#searches.clear();
    this.#owners.clear();
  }
}

/** How many past calls are read to learn which tools are used together, and after which searches. */
const PAST_CALLS = 5_000;

/** Counts uses in calls as they are recorded or told by other processes, and in those of the record. */
export function countUses({ activity, repository, onWarning }: CountedCallsOptions) {
  const together = new CoUse();
  const picks = new SearchPicks();
  const since = Date.now();
  /** The record may have them, and another process tell them as well. */
  const seen = new Set<string>();
  let isLoading = true;
  let isCleared = false;
  const add = (entry: ActivityRecord) => {
    if (seen.has(entry.id)) return;
    if (isLoading || entry.at < since) seen.add(entry.id);
    together.add(entry);
    picks.add(entry);
  };
  activity.onEntry(add);
  const loaded = Array.fromAsync(repository.recent(PAST_CALLS))
    .then((entries) => {
      if (!isCleared) entries.reverse().forEach(add);
    })
    .catch((error) =>
      onWarning("Cannot read past calls to find tools that are used together", { error })
    )
    .finally(() => {
      isLoading = false;
    });
  return {
    together,
    picks,
    loaded,
    /** The record was cleared, perhaps while it was read. */
    forgetPicks(): void {
      isCleared = true;
      picks.clear();
    },
  };
}
