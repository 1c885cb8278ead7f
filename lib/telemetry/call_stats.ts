import type { ActivityEntry } from "../storage/activity_repository.ts";
import { Durations } from "./durations.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MINUTES = 24 * 60;
const HOURS = 24;
/** Servers come and go under any name; those called longest ago are forgotten first. */
const MAX_SERVERS = 1_000;

/** What was called in a stretch of time. */
export interface CallBucket {
  /** When it begins, in ms since the epoch. */
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

type Call = Pick<ActivityEntry, "at" | "server" | "ms" | "ok">;

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

  constructor({ now = Date.now }: { now?: () => number } = {}) {
    this.#now = now;
  }

  /** Counts a call, in any order of time. */
  add({ at, server, ms, ok }: Call): void {
    if (at <= this.#now() - MINUTES * MINUTE_MS) return;
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

  /** Those with calls, the most called first. */
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
