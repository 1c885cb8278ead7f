/** Each place holds durations up to a tenth longer than the one before. */
const GROWTH = 1.1;
const SHORTEST_MS = 0.1;
/** The last place begins after about 20 minutes. */
const PLACES = 172;

/** Durations counted in places that grow with them: small, and good for quantiles. */
export class Durations {
  readonly #counts = new Uint32Array(PLACES);
  #total = 0;

  add(ms: number): void {
    const place = Math.ceil(Math.log(Math.max(ms, SHORTEST_MS) / SHORTEST_MS) / Math.log(GROWTH));
    this.#counts[Math.min(place, PLACES - 1)]!++;
    this.#total++;
  }

  addAll(others: Durations): void {
    for (let place = 0; place < PLACES; place++) {
      this.#counts[place]! += others.#counts[place]!;
    }
    this.#total += others.#total;
  }

  /** What that share of them did not exceed, in ms, within a tenth; 0 where there are none. */
  quantile(share: number): number {
    let left = Math.ceil(this.#total * share);
    if (left === 0) return 0;
    for (let place = 0; place < PLACES; place++) {
      left -= this.#counts[place]!;
      // The middle of a place is wrong by half of its width at most.
      if (left <= 0) return SHORTEST_MS * GROWTH ** Math.max(0, place - 0.5);
    }
    return SHORTEST_MS * GROWTH ** PLACES;
  }
}
