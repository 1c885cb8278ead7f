const KEPT_LINES = 1_000;

/** The last lines a server wrote, for a person who wants to know what is wrong. */
export class LineLog {
  readonly #lines: { time: number; line: string }[] = [];

  add(line: string): void {
    this.#lines.push({ time: Date.now(), line });
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }

  /** Oldest first. */
  last(count = KEPT_LINES): { time: number; line: string }[] {
    return this.#lines.slice(-count);
  }
}
