const WAIT_MS = 20;
/** When so many wait they are done at once, so that it never takes long. */
const MOST = 64;

/**
 * Work that nobody waits for, done some at a time: an answer leaves only when its turn is over, so
 * that what is done right behind it would make its client wait.
 */
export class Later implements Disposable {
  readonly #onError: (error: unknown) => void;
  #waiting: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** `onError` gets what a piece of work throws; the others are done all the same. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(work: () => void): void {
    const count = this.#waiting.push(work);
    if (count >= MOST || this.#isOver) this.run();
    else this.#timer ??= setTimeout(() => this.run(), WAIT_MS);
  }

  /** Does what waits, for whoever is about to look at what comes of it. */
  run(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) {
      try {
        work();
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Does what waits, and what comes from now on at once. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.run();
  }
}
