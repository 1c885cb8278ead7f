import { setTimeout as sleep } from "node:timers/promises";

/** A server that announces a change with every list must not be listed without end. */
const GAP_MS = 500;

/** Loads a server's tools anew when asked to: never twice at once, and requests meanwhile are one. */
export class ToolRefresher {
  readonly #load: () => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #gapMs: number;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;

  /** `load` must not throw. */
  constructor(load: () => Promise<void>, signal: AbortSignal, gapMs = GAP_MS) {
    this.#load = load;
    this.#signal = signal;
    this.#gapMs = gapMs;
  }

  /** Resolves when a list that was asked for after this request has come. */
  request(): Promise<void> {
    this.#isAskedAgain = this.#running !== undefined;
    return this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // Begun later, or a server in this process could ask again before this run is known.
    await Promise.resolve();
    do {
      this.#isAskedAgain = false;
      await this.#load();
      if (!this.#isAskedAgain) break;
      await sleep(this.#gapMs, undefined, { signal: this.#signal }).catch(() => {});
    } while (!this.#signal.aborted);
    // In the same breath as the last look, or a request in between would be lost.
    this.#running = undefined;
  }
}
