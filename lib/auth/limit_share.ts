import type { GatewayError } from "../core/errors.ts";
import type { LimitUse } from "../storage/access_repositories.ts";
import type { Stored } from "../storage/records.ts";
import { type Bound, concurrentExceeded, minuteExceeded } from "./call_limits.ts";

/** A whole minute, the second under way, and the one in which what was taken ahead may be used. */
const WINDOW_S = 62;
/** A record further ahead is from before the clock was set back. */
const FUTURE_S = 60;
/** So often a minute, on average, a gateway takes calls of one limit from the store. */
const TAKES_A_MINUTE = 600;
/** How long places are kept for the next call. */
const KEEP_MS = 1_000;
/** How long places are not kept after another gateway needed one. */
const WANTED_MS = 5_000;

/** A call that a gateway cannot count with what it has. */
export interface LimitWaiter {
  bound: Bound;
  /** Whether other gateways were asked for unused places since it came. */
  hasAsked: boolean;
  /** Whether other gateways are being asked: its place is missing, not the store. */
  isLacking: boolean;
  isCounted: boolean;
  /** It has waited long enough. */
  isTimedOut: boolean;
  /** The second of the call that it got. */
  second: number;
  settle(refusal?: GatewayError): void;
}

export interface LimitPlan {
  use: LimitUse;
  isChanged: boolean;
  /** Calls and places that are taken from the record. */
  calls: number;
  places: number;
  /** Calls that are returned to it. */
  unused: ReadonlyMap<number, number>;
  second: number;
  /** Gateways whose places are no longer in it. */
  expired: readonly string[];
  refused: Map<LimitWaiter, GatewayError>;
  /** Those that other gateways may have unused places for. */
  lacking: LimitWaiter[];
}

/** What one gateway has of a limit. */
export class LimitShare {
  readonly limit: string;
  readonly waiting: LimitWaiter[] = [];
  /** Gateways whose places are free: their leases had expired when the record named them. */
  readonly expiredHolders = new Set<string>();
  /** The record as it was last read or written here; undefined if it has to be read. */
  stored: Stored<LimitUse> | undefined;
  /** False if the store cannot be used. */
  working: Promise<boolean> | undefined;
  /** How many times another gateway changed the record first. */
  conflicts = 0;
  askedAt = -Infinity;
  /** Taken ahead. */
  #spare = { second: 0, count: 0 };
  /** Not used in time, and still in the record: how many of each second. */
  readonly #unused = new Map<number, number>();
  #running = 0;
  #places = 0;
  #usedAt = 0;
  #wantedUntil = 0;

  constructor(limit: string) {
    this.limit = limit;
  }

  /** Counts a call if that takes nothing from the store. */
  takeNow({ perMinute, concurrent }: Bound, second: number): boolean {
    this.#dropStale(second);
    if (perMinute !== undefined && this.#spare.count === 0) return false;
    if (concurrent !== undefined && this.#running >= this.#places) return false;
    if (perMinute !== undefined) this.#spare.count--;
    if (concurrent !== undefined) this.#running++;
    this.#usedAt = performance.now();
    return true;
  }

  /** The second in which the latest calls were taken. */
  get second(): number {
    return this.#spare.second;
  }

  /** Uncounts a call of that second that was not made. */
  putBack({ perMinute }: Bound, second: number): void {
    if (perMinute === undefined) return;
    if (second === this.#spare.second) this.#spare.count++;
    else this.#keepUnused(second, 1);
  }

  ended(): void {
    this.#running = Math.max(0, this.#running - 1);
  }

  wanted(): void {
    this.#wantedUntil = performance.now() + WANTED_MS;
  }

  get isWanted(): boolean {
    return performance.now() < this.#wantedUntil;
  }

  /** Gives back everything: the gateway stops. */
  close(): void {
    this.wanted();
    this.#running = 0;
    this.#dropStale(Infinity);
  }

  /** Whether there is something to do in the store. */
  hasWork(second: number): boolean {
    this.#dropStale(second);
    return this.waiting.length > 0 || this.#unused.size > 0 || this.#idlePlaces > 0;
  }

  /** Whether nobody has called for so long that the record says nothing. */
  isOver(): boolean {
    const isEmpty = this.#places + this.#spare.count + this.waiting.length === 0;
    return isEmpty && !this.working && performance.now() - this.#usedAt > (WINDOW_S + 2) * 1_000;
  }

  /** The record as it has to be for those who wait, and which of them are refused. */
  plan(own: string, now: number): LimitPlan {
    const before = this.stored?.value ?? { limit: this.limit, begun: [], places: {} };
    const latest = before.begun.at(-1)?.[0] ?? 0;
    // Never before what another gateway counted, whose clock may be ahead.
    const second = latest > now + FUTURE_S ? now : Math.max(now, latest);
    this.#dropStale(second);
    const begun = new Map(before.begun.filter(([at]) => at > second - WINDOW_S && at <= second));
    const unused = new Map(this.#unused);
    let returned = 0;
    for (const [at, count] of unused) {
      const stale = begun.get(at) ?? 0;
      const back = Math.min(count, stale);
      if (back > 0) begun.set(at, stale - back);
      returned += back;
    }
    const others = Object.entries(before.places)
      .filter(([gateway]) => gateway !== own && !this.expiredHolders.has(gateway));
    const taken = others.reduce((sum, [, places]) => sum + places, 0);
    let total = begun.values().reduce((sum, count) => sum + count, 0);
    let [spare, free] = [this.#spare.count, this.#places - this.#running];
    let [calls, places] = [0, 0];
    const refused: LimitPlan["refused"] = new Map();
    const lacking: LimitWaiter[] = [];
    for (const waiter of this.waiting) {
      const { perMinute, concurrent, whose } = waiter.bound;
      if (perMinute !== undefined && spare <= 0) {
        const ahead = Math.min(Math.ceil(perMinute / TAKES_A_MINUTE), perMinute - total);
        if (ahead <= 0) {
          const wait = waitOf(begun, second, total - perMinute + 1);
          refused.set(waiter, minuteExceeded(whose, perMinute, wait));
          continue;
        }
        [spare, total, calls] = [spare + ahead, total + ahead, calls + ahead];
      }
      if (concurrent !== undefined && free <= 0) {
        if (taken + this.#places + places >= concurrent) {
          if (taken > 0 && !waiter.hasAsked) lacking.push(waiter);
          else refused.set(waiter, concurrentExceeded(whose, concurrent));
          continue;
        }
        [free, places] = [free + 1, places + 1];
      }
      if (perMinute !== undefined) spare--;
      if (concurrent !== undefined) free--;
    }
    // Those for which somebody waits are not idle.
    if (places === 0) places = -Math.min(this.#idlePlaces, Math.max(0, free));
    begun.set(second, (begun.get(second) ?? 0) + calls);
    const held = this.#places + places;
    const use: LimitUse = {
      limit: this.limit,
      begun: [...begun].filter(([, count]) => count > 0).sort(([a], [b]) => a - b),
      places: Object.fromEntries([...others, ...(held > 0 ? [[own, held] as const] : [])]),
    };
    const isChanged = calls > 0 || places !== 0 || returned > 0 ||
      others.length < Object.keys(before.places).filter((gateway) => gateway !== own).length;
    const expired = [...this.expiredHolders];
    return { use, isChanged, calls, places, unused, second, expired, refused, lacking };
  }

  /** Before the record is written: what is given back must not be used meanwhile. */
  reserve({ places }: LimitPlan): void {
    if (places < 0) this.#places += places;
  }

  /** The record could not be written. */
  restore({ places }: LimitPlan): void {
    if (places < 0) this.#places -= places;
  }

  done({ calls, places, unused, second, expired }: LimitPlan): void {
    // One that is in the record again is alive.
    for (const gateway of expired) this.expiredHolders.delete(gateway);
    for (const [at, count] of unused) this.#keepUnused(at, -count);
    if (calls > 0) this.#spare = { second, count: this.#spare.count + calls };
    if (places > 0) this.#places += places;
  }

  get #idlePlaces(): number {
    const isKept = !this.isWanted && performance.now() - this.#usedAt < KEEP_MS;
    return isKept ? 0 : Math.max(0, this.#places - this.#running);
  }

  #dropStale(second: number): void {
    if (this.#spare.count === 0 || second <= this.#spare.second + 1) return;
    this.#keepUnused(this.#spare.second, this.#spare.count);
    this.#spare = { second: 0, count: 0 };
  }

  #keepUnused(second: number, more: number): void {
    const count = (this.#unused.get(second) ?? 0) + more;
    if (count > 0) this.#unused.set(second, count);
    else this.#unused.delete(second);
  }
}

/** Seconds until so many of the calls are more than a minute ago. */
function waitOf(begun: ReadonlyMap<number, number>, second: number, excess: number): number {
  let left = excess;
  for (const [at, count] of [...begun].sort(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return at + WINDOW_S - second;
  }
  return WINDOW_S;
}
