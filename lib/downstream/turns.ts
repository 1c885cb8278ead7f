/** Lets a few through in each turn of the event loop, so that what comes in meanwhile is heard too. */
export class Turns implements Disposable {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(perTurn: number) {
    this.#perTurn = this.#left = perTurn;
  }

  /** Resolves at once while few ask, else in one of the next turns, in the order of asking. */
  take(): Promise<void> {
    this.#timer ??= setTimeout(() => this.#next(), 0);
    if (this.#left > 0) {
      this.#left--;
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return promise;
  }

  /** Nobody waits any more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = this.#perTurn;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #next(): void {
    const next = this.#waiting.splice(0, this.#perTurn);
    this.#left = this.#perTurn - next.length;
    this.#timer = next.length > 0 ? setTimeout(() => this.#next(), 0) : undefined;
    for (const resolve of next) resolve();
  }
}
