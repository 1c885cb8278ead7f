import { type Entry, positionOf } from "./corpus.ts";
import type { Score } from "./ranking.ts";
import type { QueryPart } from "./search_query.ts";

/** What says how good the best tool is, and so all below it. */
export interface Standing {
  best: number;
  /** How far the best is ahead of the next. */
  lead: number;
  /** The share of what the query tells that the best has, 0 to 1. */
  coverage: number;
}

/**
 * By logistic regression over the first ten answers to real queries and to ones without sense,
 * checked by folds and by data set (docs/adr/0009-search-ranking.md).
 */
const BY_WORDS = { base: -2.43, score: 0.25, gap: 0.48, coverage: 0, lead: 0.61 };
const BY_MEANING_TOO = { base: -3.18, score: 0.15, gap: 0.47, coverage: 1.35, lead: 0.59 };
/** Beyond these a feature was too rare to learn from. */
const MOST = { score: 8, gap: 4, lead: 3 };
/** A quarter of a long task is as much as one tool can do of it. */
const FULL_COVERAGE = 0.25;

/** How likely a tool is one that was asked for, 0 to 1; never rises from one rank to the next. */
export function relevanceOf(
  score: Score,
  rank: number,
  standing: Standing,
  hasMeaning: boolean,
): number {
  if (score.isExact) return 1;
  const fit = hasMeaning ? BY_MEANING_TOO : BY_WORDS;
  const lead = Math.min(standing.lead, MOST.lead);
  const sum = fit.base + fit.score * Math.min(Math.max(score.total, 0), MOST.score) -
    fit.gap * Math.min(standing.best - score.total, MOST.gap) +
    fit.coverage * Math.min(1, standing.coverage / FULL_COVERAGE) +
    fit.lead * (rank === 0 ? lead : -lead);
  return Math.round(1_000 / (1 + Math.exp(-sum))) / 1_000;
}

/** The share of what the query tells that the tool has, whatever the standing. */
export function coverageOf(part: QueryPart, entry: Entry): number {
  let covered = 0;
  for (const { telling, matches } of part.words) {
    // A synonym is a guess: it helps the rank, but is no word of the query found.
    const isThere = matches.some(({ id, isSynonym }) =>
      !isSynonym && positionOf(entry.words, id) >= 0
    );
    if (isThere) covered += telling;
  }
  return part.telling === 0 ? 0 : covered / part.telling;
}
