import { type FieldScorer, saturate } from "./bm25f.ts";
import { type Corpus, type Entry, positionOf } from "./corpus.ts";
import { type Field, FIELDS } from "./fields.ts";
import type { Score } from "./ranking.ts";
import { coverageOf } from "./relevance.ts";
import type { QueryPart } from "./search_query.ts";

/** One word of the query that the tool has. */
export interface WordExplanation {
  /** The query's word, as its stem. */
  word: string;
  /** The tool's word, another one for a synonym or a correction. */
  found: string;
  fields: Field[];
  score: number;
}

/** Why a tool has the rank it has. */
export interface Explanation {
  /** What each field adds; only those that add something. */
  fields: Partial<Record<Field, number>>;
  words: WordExplanation[];
  /** How well the best clause of a longer task fits; 0 where the query is one clause. */
  clause: number;
  context: number;
  /** What all words add together. */
  lexical: number;
  /** The share of what the query tells that the tool has, 0 to 1. */
  coverage: number;
  /** The share of the tool's name that was asked for, 0 to 1. */
  nameCoverage: number;
  /** Nearness in meaning, in standard deviations above the average tool. */
  semantic: number;
  isExactName: boolean;
}

export function explain(
  part: QueryPart,
  entry: Entry,
  corpus: Corpus,
  scorer: FieldScorer,
  score: Score,
): Explanation {
  const fields: Partial<Record<Field, number>> = {};
  const words: WordExplanation[] = [];
  const scale = Math.sqrt(part.telling) || 1;
  for (const { stem, matches } of part.words) {
    for (const { id, weight } of matches) {
      const position = positionOf(entry.words, id);
      if (position < 0) continue;
      const frequency = scorer.frequency(entry, position);
      const worth = weight * saturate(frequency) / scale;
      const inFields = FIELDS.map((field, index) =>
        [field, scorer.frequencyIn(index, entry, position)] as const
      ).filter(([, share]) => share > 0);
      for (const [field, share] of inFields) {
        fields[field] = (fields[field] ?? 0) + worth * share / frequency;
      }
      words.push({
        word: stem,
        found: corpus.vocabulary.wordOf(id),
        fields: inFields.map(([field]) => field),
        score: worth,
      });
    }
  }
  words.sort((one, other) => other.score - one.score);
  const { clause, hasClauses, context, lexical, nameCoverage, semantic, isExact } = score;
  return {
    fields,
    words,
    clause: hasClauses ? clause : 0,
    context,
    lexical,
    coverage: coverageOf(part, entry),
    nameCoverage,
    semantic,
    isExactName: isExact,
  };
}
