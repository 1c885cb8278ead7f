import { GatewayError } from "../core/errors.ts";

/** A whole minute, and the second that is under way. */
const SLOTS = 61;
/** Beyond this many counts, those of nobody who called within the last minute are dropped. */
const KEPT_COUNTS = 2_000;

export interface Bound {
  key: string;
  /** As a refusal names it: `Server "git"`. */
  whose: string;
  perMinute?: number | undefined;
  concurrent?: number | undefined;
}

/** Counts calls in memory, and refuses those over a limit; a call costs the same however many there were. */
export class CallLimits {
  readonly #now: () => number;
  readonly #minutes = new Map<string, Minute>();
  readonly #running = new Map<string, number>();
  readonly #held = new WeakMap<object, string[]>();

  /** `now` is in ms, by a clock that is never set back. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#minutes.size;
  }

  /** Counts a call by all bounds until it ends, or by none and throws LIMIT_EXCEEDED. */
  begin(call: object, bounds: readonly Bound[]): void {
    const second = this.#second();
    for (const bound of bounds) this.#check(bound, second);
    const held: string[] = [];
    for (const { key, perMinute, concurrent } of bounds) {
      if (perMinute !== undefined) this.#minuteOf(key).add(second);
      if (concurrent === undefined) continue;
      this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
      held.push(key);
    }
    if (held.length > 0) this.#held.set(call, held);
  }

  /** Also for a call that was never counted, and more than once. */
  end(call: object): void {
    const held = this.#held.get(call);
    if (!held) return;
    this.#held.delete(call);
    for (const key of held) {
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left > 0) this.#running.set(key, left);
      else this.#running.delete(key);
    }
  }

  /** Ends a call that was not made, and uncounts it. */
  undo(call: object, bounds: readonly Bound[]): void {
    this.end(call);
    for (const { key, perMinute } of bounds) {
      if (perMinute !== undefined) this.#minutes.get(key)?.takeBack();
    }
  }

  #check({ key, whose, perMinute, concurrent }: Bound, second: number): void {
    if (concurrent !== undefined && (this.#running.get(key) ?? 0) >= concurrent) {
      throw concurrentExceeded(whose, concurrent);
    }
    const minute = perMinute === undefined ? undefined : this.#minutes.get(key);
    if (perMinute === undefined || !minute) return;
    const wait = minute.wait(second, perMinute - 1);
    if (wait > 0) throw minuteExceeded(whose, perMinute, wait);
  }

  #minuteOf(key: string): Minute {
    let minute = this.#minutes.get(key);
    if (!minute) {
      if (this.#minutes.size >= KEPT_COUNTS) this.#dropIdle();
      this.#minutes.set(key, minute = new Minute());
    }
    return minute;
  }

  #dropIdle(): void {
    const second = this.#second();
    for (const [key, minute] of this.#minutes) {
      if (minute.wait(second, 0) === 0) this.#minutes.delete(key);
    }
  }

  /** Never below a minute, so that there is one to look back on. */
  #second(): number {
    return Math.floor(this.#now() / 1000) + SLOTS;
  }
}

/** How often something happened within the last minute, second by second. */
class Minute {
  readonly #counts = new Uint32Array(SLOTS);
  #last = 0;
  #total = 0;

  add(second: number): void {
    this.#advance(second);
    this.#counts[second % SLOTS]! += 1;
    this.#total++;
  }

  /** One fewer in the latest second that has any. */
  takeBack(): void {
    for (let age = 0; age < SLOTS; age++) {
      const slot = (this.#last - age + SLOTS) % SLOTS;
      if (this.#counts[slot] === 0) continue;
      this.#counts[slot]! -= 1;
      this.#total--;
      return;
    }
  }

  /** Seconds until no more than `most` are left; 0 if that is so. */
  wait(second: number, most: number): number {
    this.#advance(second);
    let left = this.#total;
    for (let age = SLOTS - 1; left > most && age >= 0; age--) {
      left -= this.#counts[(second - age) % SLOTS]!;
      if (left <= most) return SLOTS - age;
    }
    return 0;
  }

  #advance(second: number): void {
    const passed = second - this.#last;
    if (passed >= SLOTS) {
      this.#counts.fill(0);
      this.#total = 0;
    } else {
      for (let at = this.#last + 1; at <= second; at++) {
        this.#total -= this.#counts[at % SLOTS]!;
        this.#counts[at % SLOTS] = 0;
      }
    }
    this.#last = Math.max(this.#last, second);
  }
}

export function minuteExceeded(whose: string, perMinute: number, seconds: number): GatewayError {
  return exceeded(`${whose} is limited to ${perMinute} per minute`, seconds);
}

export function concurrentExceeded(whose: string, concurrent: number): GatewayError {
  return exceeded(`${whose} has reached its limit of ${concurrent} concurrent calls`, 1);
}

/** Nobody knows whether the call is within its limit: other gateways keep counting theirs first. */
export function contended(whose: string): GatewayError {
  return exceeded(`${whose} is busy: too many gateways are counting its calls at once`, 1);
}

function exceeded(reason: string, seconds: number): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message: `${reason}: try again in ${seconds} s`,
    recoveryAction: `Wait ${seconds} s, then try again`,
    recoverySteps: [`Wait ${seconds} s`, "Try again with fewer concurrent calls"],
    retryAfterSeconds: seconds,
  });
}
