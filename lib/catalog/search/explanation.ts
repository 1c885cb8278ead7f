import { coverageOf, type FieldScorer, saturate, type ToolScore } from "./ranking.ts";
import { type Corpus, type CorpusEntry, FIELDS, positionOf, type SearchField } from "./corpus.ts";
import type { QueryPart } from "./search_query.ts";
import { splitWords, stemOf } from "./text.ts";

interface WordExplanation {
  word: string;
  /** The tool's word, another one for a synonym or a correction. */
  found: string;
  fields: SearchField[];
  score: number;
}

export interface Explanation {
  /** What each field adds; only those that add something. */
  fields: Partial<Record<SearchField, number>>;
  words: WordExplanation[];
  /** How well the best clause of a longer task fits; 0 where the query is one clause. */
  clause: number;
  context: number;
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
  entry: CorpusEntry,
  corpus: Corpus,
  scorer: FieldScorer,
  score: ToolScore,
): Explanation {
  const fields: Partial<Record<SearchField, number>> = {};
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

const MOST_WORDS = 6;

export function explanationText(explanation: Explanation, query: string): string {
  const { words, coverage, semantic, isExactName, clause, context } = explanation;
  // Words are compared by their stems; a person knows them as they were written.
  const written = new Map(splitWords(query).map((word) => [stemOf(word), word]));
  const found = words.slice(0, MOST_WORDS).map(({ word, found, fields }) => {
    const asked = written.get(word) ?? word;
    return `${word === found ? asked : `${asked} as ${found}`} in ${fields.join(", ")}`;
  });
  return [
    ...(isExactName ? ["asked for by name"] : []),
    ...(found.length > 0 ? [found.join("; ")] : []),
    ...(coverage > 0 ? [`${Math.round(coverage * 100)} % of the query`] : []),
    ...(semantic > 0.5 ? ["near in meaning"] : []),
    ...(clause > 0 ? ["a part of the task"] : []),
    ...(context > 0 ? ["fits the context"] : []),
  ].join(" · ");
}
