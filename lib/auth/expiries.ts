/** Tells once of each credential that has run out; nothing is looked through before one is due. */
export class Expiries {
  #next = Infinity;
  #toldUntil = 0;

  expect(end: number | undefined): void {
    if (end !== undefined && end > this.#toldUntil) this.#next = Math.min(this.#next, end);
  }

  /** Those of the owners whose end has come since this was last asked. */
  take(
    now: number,
    ends: Iterable<readonly [owner: string, end: number | undefined]>,
  ): Set<string> {
    if (now < this.#next) return new Set();
    const since = this.#toldUntil;
    const ended = new Set<string>();
    this.#toldUntil = now;
    this.#next = Infinity;
    for (const [owner, end = Infinity] of ends) {
      if (end > since && end <= now) ended.add(owner);
      else this.expect(end);
    }
    return ended;
  }
}
