/** One wait in a queue. */
export interface Timeout {
  at: number;
  /** Undefined once it is over. */
  onTimeout: (() => void) | undefined;
  before: Timeout | undefined;
  after: Timeout | undefined;
}

/**
 * Many waits of the same length behind one timer: most are over long before their time, and a timer
 * for each would be a good part of what a relayed call costs.
 *
 * Linked, and emptied when they are over: a set that often grows and shrinks leaves tables behind
 * which, until the next full collection, hold on to what was in them, and with that to whole calls.
 */
export class TimeoutQueue implements Disposable {
  readonly #ms: number;
  /** In the order of their time, because all last the same. */
  #first: Timeout | undefined;
  #last: Timeout | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  add(onTimeout: () => void): Timeout {
    const before = this.#last;
    const wait = { at: performance.now() + this.#ms, onTimeout, before, after: undefined };
    if (before) before.after = wait;
    else this.#first = wait;
    this.#last = wait;
    this.#timer ??= setTimeout(() => this.#expire(), this.#ms);
    return wait;
  }

  delete(wait: Timeout): void {
    if (!wait.onTimeout) return;
    const { before, after } = wait;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    wait.onTimeout = wait.before = wait.after = undefined;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    while (this.#first) this.delete(this.#first);
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let wait = this.#first; wait; wait = this.#first) {
      if (wait.at > now) {
        // One that was added meanwhile has set it for itself, and its time is later.
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#expire(), wait.at - now);
        return;
      }
      const { onTimeout } = wait;
      this.delete(wait);
      onTimeout?.();
    }
  }
}
