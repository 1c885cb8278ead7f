import type { SemanticScores } from "../ranking.ts";

/** What a standard deviation of nearness to the tool itself is worth, and to its server. */
const TOOL_WEIGHT = 0.6;
const SERVER_WEIGHT = 0.25;

export interface Nearness {
  keys: string[];
  /** Cosines in the order of keys; NaN where there is no vector. */
  tool: Float64Array;
  server: Float64Array;
}

/**
 * Nearness in standard deviations above the average tool: cosines of one model lie elsewhere than
 * those of another, and of one query elsewhere than of the next.
 */
export class VectorScores implements SemanticScores {
  readonly #keys: string[];
  readonly #values: Float64Array;
  #positions: Map<string, number> | undefined;

  constructor({ keys, tool, server }: Nearness) {
    this.#keys = keys;
    this.#values = new Float64Array(keys.length);
    addSpread(this.#values, tool, TOOL_WEIGHT);
    addSpread(this.#values, server, SERVER_WEIGHT);
  }

  of(key: string): number {
    this.#positions ??= new Map(this.#keys.map((each, position) => [each, position]));
    return this.#values[this.#positions.get(key) ?? -1] ?? 0;
  }

  nearest(limit: number): string[] {
    const least = this.#values.toSorted().at(-Math.max(1, limit)) ?? -Infinity;
    const near: number[] = [];
    this.#values.forEach((value, position) => {
      if (value >= least) near.push(position);
    });
    return near.sort((one, other) => this.#values[other]! - this.#values[one]!)
      .slice(0, limit).map((position) => this.#keys[position]!);
  }
}

/** Adds by how many standard deviations each value lies above the average; nothing for none. */
function addSpread(sums: Float64Array, values: Float64Array, weight: number): void {
  let [count, sum, squares] = [0, 0, 0];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
    squares += value * value;
  }
  const mean = sum / Math.max(1, count);
  const deviation = Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean));
  if (deviation < 1e-6) return;
  values.forEach((value, position) => {
    if (!Number.isNaN(value)) sums[position]! += weight * (value - mean) / deviation;
  });
}
