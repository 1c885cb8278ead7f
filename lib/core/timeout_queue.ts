/** One wait in a queue. */
export interface Timeout {
  at: number;
  onTimeout: () => void;
}

/**
 * What a wait that is over calls. A set that often grows and shrinks leaves tables behind which, until
 * the next full collection, hold on to what was in them: the rest of a call must not hang on that.
 */
const nothing = () => {};

/**
 * Many waits of the same length behind one timer: most are over long before their time, and a timer
 * for each would be a good part of what a relayed call costs.
 */
export class TimeoutQueue implements Disposable {
  readonly #ms: number;
  /** In the order of their time, because all last the same. */
  readonly #waits = new Set<Timeout>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  add(onTimeout: () => void): Timeout {
    const wait = { at: performance.now() + this.#ms, onTimeout };
    this.#waits.add(wait);
    this.#timer ??= setTimeout(() => this.#expire(), this.#ms);
    return wait;
  }

  delete(wait: Timeout): void {
    this.#waits.delete(wait);
    wait.onTimeout = nothing;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#waits.clear();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const wait of this.#waits) {
      if (wait.at > now) {
        this.#timer = setTimeout(() => this.#expire(), wait.at - now);
        return;
      }
      this.#waits.delete(wait);
      wait.onTimeout();
    }
  }
}
