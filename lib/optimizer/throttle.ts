/** Acts at once when asked after a rest, else once when the rest is over. */
export class Throttle implements Disposable {
  readonly #restMs: number;
  readonly #act: () => void;
  #lastAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(restMs: number, act: () => void) {
    this.#restMs = restMs;
    this.#act = act;
  }

  ask(): void {
    if (this.#timer !== undefined) return;
    const left = this.#lastAt + this.#restMs - performance.now();
    if (left <= 0) return this.now();
    this.#timer = setTimeout(() => this.now(), left);
  }

  /** Whatever was asked before is done with this. */
  now(): void {
    this[Symbol.dispose]();
    this.#lastAt = performance.now();
    this.#act();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
