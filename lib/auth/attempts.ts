import { GatewayError } from "../core/errors.ts";

const WINDOW_MS = 60_000;
const PER_PLACE = 5;
/** From all places together: whoever has many addresses gets no more tries for it. */
const IN_ALL = 50;
const EVERYWHERE = "";

/** Counts failed logins, and refuses more after too many of them. */
export class Attempts {
  readonly #failed = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Throws LIMIT_EXCEEDED. */
  check(place: string): void {
    const wait = Math.max(this.#wait(place, PER_PLACE), this.#wait(EVERYWHERE, IN_ALL));
    if (wait <= 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `Too many attempts to log in: try again in ${seconds} s`,
      retryAfterSeconds: seconds,
    });
  }

  failed(place: string): void {
    for (const key of [place, EVERYWHERE]) {
      this.#failed.set(key, [...this.#recent(key), this.#now()].slice(-IN_ALL));
    }
    for (const key of this.#failed.keys()) {
      if (this.#recent(key).length === 0) this.#failed.delete(key);
    }
  }

  #wait(key: string, most: number): number {
    const recent = this.#recent(key);
    const first = recent.at(-most);
    return first === undefined ? 0 : first + WINDOW_MS - this.#now();
  }

  #recent(key: string): number[] {
    const since = this.#now() - WINDOW_MS;
    return (this.#failed.get(key) ?? []).filter((time) => time > since);
  }
}
