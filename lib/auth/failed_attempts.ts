import { GatewayError } from "../core/errors.ts";

const WINDOW_MS = 60_000;
const EVERYWHERE = "";

interface FailedAttemptsOptions {
  /** What is tried too often, for the error: "login attempts". */
  what: string;
  /** How many fail within a minute before more are refused. */
  perPlace: number;
  /** From all addresses together: many addresses give no more tries. */
  inAll: number;
  /** Tells the other gateways on the store. */
  tell?: ((place: string) => void) | undefined;
  now?(): number;
}

/** Counts failed attempts by where they come from, and refuses more after too many of them. */
export class FailedAttempts {
  readonly #options: FailedAttemptsOptions;
  readonly #now: () => number;
  readonly #failed = new Map<string, number[]>();

  constructor(options: FailedAttemptsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Throws LIMIT_EXCEEDED. */
  check(place: string): void {
    const { what, perPlace, inAll } = this.#options;
    const wait = Math.max(this.#wait(place, perPlace), this.#wait(EVERYWHERE, inAll));
    if (wait <= 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `Too many ${what}: try again in ${seconds} s`,
      retryAfterSeconds: seconds,
    });
  }

  failed(place: string): void {
    this.note(place);
    this.#options.tell?.(place);
  }

  /** Counts one that failed here or at another gateway. */
  note(place: string): void {
    for (const key of [place, EVERYWHERE]) {
      this.#failed.set(key, [...this.#recent(key), this.#now()].slice(-this.#options.inAll));
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
