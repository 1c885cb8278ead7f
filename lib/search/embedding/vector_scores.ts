import type { SemanticScores } from "../ranking.ts";

/** What a standard deviation of nearness to the tool itself is worth, and to its server. */
const TOOL_WEIGHT = 0.5;
const SERVER_WEIGHT = 0.3;

export interface Nearness {
  key: string;
  /** Cosines; undefined where there is no vector. */
  tool: number | undefined;
  server: number | undefined;
}

/**
 * Nearness in standard deviations above the average tool: cosines of one model lie elsewhere than
 * those of another, and of one query elsewhere than of the next.
 */
export class VectorScores implements SemanticScores {
  readonly #scores = new Map<string, number>();

  constructor(found: Nearness[]) {
    const tool = spreadOf(found.map(({ tool }) => tool));
    const server = spreadOf(found.map(({ server }) => server));
    for (const each of found) {
      this.#scores.set(
        each.key,
        TOOL_WEIGHT * tool(each.tool) + SERVER_WEIGHT * server(each.server),
      );
    }
  }

  of(key: string): number {
    return this.#scores.get(key) ?? 0;
  }

  nearest(limit: number): string[] {
    return [...this.#scores].sort(([, one], [, other]) => other - one).slice(0, limit)
      .map(([key]) => key);
  }
}

/** How many standard deviations a value lies above the average of all; 0 where there is none. */
function spreadOf(values: (number | undefined)[]): (value: number | undefined) => number {
  const known = values.filter((value) => value !== undefined);
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) /
    Math.max(1, known.length);
  const deviation = Math.sqrt(variance);
  return (value) => value === undefined || deviation < 1e-9 ? 0 : (value - mean) / deviation;
}
