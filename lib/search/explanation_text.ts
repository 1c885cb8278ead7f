import { splitWords, stemOf } from "./words.ts";
import type { Explanation } from "./explanation.ts";

const MOST_WORDS = 6;

/** Why a tool has its rank, in one line. */
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
