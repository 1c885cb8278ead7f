import { CANONICAL, CATEGORIES, type Evaluation, type Metrics } from "../core/optimization.ts";
import { promptsIn } from "./metrics.ts";

/** What an evaluation came to with the server's own description. */
export interface Baseline {
  evaluation: Evaluation;
  metrics: Metrics;
  /** Those that have runs. */
  prompts: number;
}

/**
 * What speaks for the server's own description of today: the newest thorough evaluation that put all
 * of its prompts to it, else the newest quick one that did. One that was cut short or stopped early
 * stands only where none asked more. Where the description is not known, an evaluation of any text
 * will do.
 */
export function baselineOf(
  /** Newest first. */
  evaluations: readonly Evaluation[],
  canonical: string | undefined,
): Baseline | undefined {
  const all = evaluations.flatMap((evaluation): Baseline[] => {
    const own = evaluation.results.find(({ candidateId }) => candidateId === CANONICAL);
    const isOlder = canonical !== undefined && own?.description !== canonical;
    if (evaluation.void !== undefined || !own || isOlder) return [];
    const { metrics } = own;
    const prompts = promptsIn(metrics.overall);
    return prompts === 0 ? [] : [{ evaluation, metrics, prompts }];
  });
  // What comes first stays first among equals.
  const byDepth = all.toSorted((one, other) => isThorough(other) - isThorough(one));
  return byDepth.find(isWhole) ?? byDepth.toSorted((one, other) => other.prompts - one.prompts)[0];
}

function isThorough({ evaluation: { depth } }: Baseline): number {
  return Number(depth === "thorough");
}

function isWhole({ evaluation, prompts }: Baseline): boolean {
  return prompts >= CATEGORIES.reduce((sum, category) => sum + evaluation.prompts[category], 0);
}
