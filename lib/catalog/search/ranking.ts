import {
  bareName,
  type Corpus,
  type CorpusEntry,
  FIELD_LENGTH_EFFECTS,
  FIELD_WEIGHTS,
  FIELDS,
  positionOf,
} from "./corpus.ts";
import type { QueryPart, SearchQuery } from "./search_query.ts";

/** The share of meaning in a score where nothing else is said. */
export const DEFAULT_HYBRID_RATIO = 0.7;

const CLAUSE_WEIGHT = 0.4;
const NAME_BONUS = 0.15;
const CONTEXT_WEIGHT = 0.25;
/** Puts a tool that was asked for by its very name above all that merely share its words. */
const EXACT_BONUS = 10;

/** No name is longer. */
const MOST_NAME_CHARS = 300;

export interface SemanticScores {
  /** In standard deviations above the average tool; 0 for one whose vectors are not there yet. */
  of(key: string): number;
  nearest(limit: number): string[];
}

export interface ToolScore {
  total: number;
  lexical: number;
  semantic: number;
  whole: number;
  clause: number;
  hasClauses: boolean;
  context: number;
  nameCoverage: number;
  isExact: boolean;
}

export class Ranking {
  readonly #query: SearchQuery;
  readonly #scorer: FieldScorer;
  readonly #corpus: Corpus;
  readonly #semantic: SemanticScores | undefined;
  readonly #ratio: number;
  readonly #asked: ReadonlySet<number>;
  readonly #text: string;

  constructor(options: {
    query: SearchQuery;
    text: string;
    corpus: Corpus;
    scorer: FieldScorer;
    semantic: SemanticScores | undefined;
    ratio: number;
  }) {
    this.#query = options.query;
    this.#text = bareName(options.text.slice(0, MOST_NAME_CHARS));
    this.#corpus = options.corpus;
    this.#scorer = options.scorer;
    this.#semantic = options.semantic;
    this.#ratio = options.semantic ? Math.min(1, Math.max(0, options.ratio)) : 0;
    this.#asked = askedWords(options.query.whole);
  }

  score(entry: CorpusEntry): ToolScore {
    const whole = this.#scorer.score(this.#query.whole, entry);
    const clause = this.#bestClause(entry, whole);
    const context = this.#query.context ? this.#scorer.score(this.#query.context, entry) : 0;
    const nameCoverage = this.#nameCoverage(entry);
    const isExact = this.#text !== "" &&
      (this.#text === entry.bareName || this.#text === entry.bareKey);
    const lexical = (whole + CLAUSE_WEIGHT * clause) * (1 + NAME_BONUS * nameCoverage) +
      CONTEXT_WEIGHT * context;
    const semantic = this.#semantic?.of(entry.key) ?? 0;
    const total = this.#semantic === undefined ? lexical : lexical *
        ((1 - this.#ratio) / (1 - DEFAULT_HYBRID_RATIO)) +
      semantic * (this.#ratio / DEFAULT_HYBRID_RATIO);
    return {
      total: total + (isExact ? EXACT_BONUS : 0),
      lexical,
      semantic,
      whole,
      clause,
      hasClauses: this.#query.clauses.length > 1,
      context,
      nameCoverage,
      isExact,
    };
  }

  #bestClause(entry: CorpusEntry, whole: number): number {
    const { clauses } = this.#query;
    // One clause is the whole; and where the whole shares no word, no clause does.
    if (clauses.length < 2 || whole === 0) return whole;
    return Math.max(...clauses.map((clause) => this.#scorer.score(clause, entry)));
  }

  #nameCoverage(entry: CorpusEntry): number {
    let [covered, all] = [0, 0];
    for (const id of entry.nameWords) {
      const telling = this.#corpus.tellingOf(this.#corpus.vocabulary.countOf(id));
      all += telling;
      if (this.#asked.has(id)) covered += telling;
    }
    return all === 0 ? 0 : covered / all;
  }
}

function askedWords({ words }: QueryPart): Set<number> {
  return new Set(words.flatMap(({ matches: [first] }) => first ? [first.id] : []));
}

/** How soon more of the same word stops counting. */
const SATURATION = 2.5;

/** Scores entries by the words they share with a query, over all fields at once. */
export class FieldScorer {
  readonly #averages: number[];

  constructor(corpus: Corpus) {
    this.#averages = FIELDS.map((_, field) => corpus.averageLength(field) || 1);
  }

  /** A part's score, made comparable between short and long parts. */
  score(part: QueryPart, entry: CorpusEntry): number {
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
  frequency(entry: CorpusEntry, position: number): number {
    let sum = 0;
    for (let field = 0; field < FIELDS.length; field++) {
      sum += this.frequencyIn(field, entry, position);
    }
    return sum;
  }

  frequencyIn(field: number, entry: CorpusEntry, position: number): number {
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

interface Standing {
  best: number;
  lead: number;
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
  score: ToolScore,
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
export function coverageOf(part: QueryPart, entry: CorpusEntry): number {
  let covered = 0;
  for (const { telling, matches } of part.words) {
    // A synonym is a guess: it helps the rank, but does not count as a word of the query.
    const isThere = matches.some(({ id, isSynonym }) =>
      !isSynonym && positionOf(entry.words, id) >= 0
    );
    if (isThere) covered += telling;
  }
  return part.telling === 0 ? 0 : covered / part.telling;
}
