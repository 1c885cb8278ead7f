import { type Corpus, type Entry, positionOf } from "./corpus.ts";
import { FIELD_LENGTH_EFFECTS, FIELD_WEIGHTS, FIELDS } from "./fields.ts";
import type { QueryPart } from "./search_query.ts";

/** How soon more of the same word stops counting. */
export const SATURATION = 2.5;

/** Scores entries by the words they share with a query, over all fields at once. */
export class FieldScorer {
  readonly #averages: number[];

  constructor(corpus: Corpus) {
    this.#averages = FIELDS.map((_, field) => corpus.averageLength(field) || 1);
  }

  /** A part's score, made comparable between short and long parts. */
  score(part: QueryPart, entry: Entry): number {
    let sum = 0;
    for (const { matches } of part.words) {
      for (const { id, weight } of matches) {
        const position = positionOf(entry.words, id);
        if (position >= 0) sum += weight * saturate(this.frequency(entry, position));
      }
    }
    return sum === 0 ? 0 : sum / Math.sqrt(part.telling);
  }

  /** How often the word is in the entry, by the worth of the fields it is in. */
  frequency(entry: Entry, position: number): number {
    let sum = 0;
    for (let field = 0; field < FIELDS.length; field++) {
      sum += this.frequencyIn(field, entry, position);
    }
    return sum;
  }

  frequencyIn(field: number, entry: Entry, position: number): number {
    const count = entry.counts[position * FIELDS.length + field]!;
    if (count === 0) return 0;
    const effect = FIELD_LENGTH_EFFECTS[field]!;
    const length = entry.lengths[field]! / this.#averages[field]!;
    return FIELD_WEIGHTS[field]! * count / (1 - effect + effect * length);
  }
}

export function saturate(frequency: number): number {
  return frequency * (SATURATION + 1) / (frequency + SATURATION);
}
