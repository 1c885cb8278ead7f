const FIRST = 5;
const EVERY_MS = 60_000;

export interface RepeatedWarningOptions {
  onWarning: (text: string) => void;
  /** What to say of those that were not told one by one. */
  summary: (count: number) => string;
  now?: () => number;
}

/** Tells the first few of a kind, then how many more there were, at most once a minute. */
export class RepeatedWarning {
  readonly #options: RepeatedWarningOptions;
  readonly #now: () => number;
  #told = 0;
  #untold = 0;
  #toldAt = 0;

  constructor(options: RepeatedWarningOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  report(text: string): void {
    if (this.#told < FIRST) {
      this.#told++;
      this.#toldAt = this.#now();
      this.#options.onWarning(text);
      return;
    }
    this.#untold++;
    if (this.#now() - this.#toldAt >= EVERY_MS) this.flush();
  }

  /** Tells what is left to tell. */
  flush(): void {
    if (this.#untold === 0) return;
    this.#options.onWarning(this.#options.summary(this.#untold));
    this.#untold = 0;
    this.#toldAt = this.#now();
  }
}
