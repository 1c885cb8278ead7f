import type { FieldScorer } from "./bm25f.ts";
import { bareName, type Corpus, type Entry } from "./corpus.ts";
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

/** How near tools are in meaning to what was asked. */
export interface SemanticScores {
  /** In standard deviations above the average tool; 0 for one whose vectors are not there yet. */
  of(key: string): number;
  /** The keys that are nearest, the nearest first. */
  nearest(limit: number): string[];
}

/** What a tool's rank is made of. */
export interface Score {
  total: number;
  lexical: number;
  semantic: number;
  whole: number;
  clause: number;
  /** Whether the query has more than one clause. */
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

  score(entry: Entry): Score {
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

  #bestClause(entry: Entry, whole: number): number {
    const { clauses } = this.#query;
    // One clause is the whole; and where the whole shares no word, no clause does.
    if (clauses.length < 2 || whole === 0) return whole;
    return Math.max(...clauses.map((clause) => this.#scorer.score(clause, entry)));
  }

  /** How much of what the tool's name tells was asked for. */
  #nameCoverage(entry: Entry): number {
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
