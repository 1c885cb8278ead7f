import { CATEGORIES, type Metrics, type Score } from "../core/optimization.ts";
import { percent, rateOf, scoreText, shortScore, wilson } from "../optimizer/metrics.ts";
import { pointsText } from "../optimizer/promotion_rules.ts";

/** One number with what it rests on, ready to be drawn from 0 to 100. */
export interface DrawnScore {
  /** "87 %" or "no data". */
  percent: string;
  /** "13/15 (87 %)" or "no data". */
  short: string;
  /** "13/15 (87 %, 95 % interval 62-96 %)" or "no data". */
  text: string;
  rate: number;
  low: number;
  high: number;
  hasData: boolean;
}

/** One kind of prompts with the server's own description and with another. */
export interface ScorePair {
  label: string;
  before?: DrawnScore;
  after?: DrawnScore;
  /** "+8 points"; missing where there is nothing to compare. */
  gain?: string;
  isBetter: boolean;
  isWorse: boolean;
}

const LABELS = { direct: "Direct", indirect: "Indirect", negative: "Negative", overall: "Overall" };
export const SCORES = [...CATEGORIES, "overall"] as const;

export function labelOf(score: keyof Metrics): string {
  return LABELS[score];
}

export function drawnScore(score: Score): DrawnScore {
  const interval = wilson(score) ?? { low: 0, high: 0 };
  return {
    percent: percent(score),
    short: shortScore(score),
    text: scoreText(score),
    rate: round(100 * (rateOf(score) ?? 0)),
    low: round(100 * interval.low),
    high: round(100 * interval.high),
    hasData: score.total > 0,
  };
}

export function scorePairs(before?: Metrics, after?: Metrics): ScorePair[] {
  return SCORES.map((name) => {
    const [old, fresh] = [before?.[name], after?.[name]];
    const [low, high] = [old && rateOf(old), fresh && rateOf(fresh)];
    const difference = typeof low === "number" && typeof high === "number" ? high - low : undefined;
    return {
      label: LABELS[name],
      ...(old === undefined ? {} : { before: drawnScore(old) }),
      ...(fresh === undefined ? {} : { after: drawnScore(fresh) }),
      ...(difference === undefined ? {} : { gain: signedPoints(difference) }),
      isBetter: (difference ?? 0) > 0,
      isWorse: (difference ?? 0) < 0,
    };
  });
}

/** "+8 points", "0 points", "-3.3 points" */
export function signedPoints(fraction: number): string {
  return fraction > 0 ? `+${pointsText(fraction)}` : pointsText(fraction);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
