import {
  bareName,
  type Corpus,
  type CorpusEntry,
  FIELD_LENGTH_EFFECTS,
  FIELD_WEIGHTS,
  FIELDS,
  positionOf,
  type SearchField,
} from "./corpus.ts";
import type { QueryPart, SearchQuery } from "./search_query.ts";
import { agreementOf } from "./data/actions.ts";
import { splitWords, stemOf } from "./text.ts";

export const DEFAULT_HYBRID_RATIO = 0.7;

/** What each part of a score counts, chosen on data sets that the table was not trained with. */
const WEIGHTS = {
  clause: 0.4,
  nameCoverage: 0.15,
  context: 0.25,
  tool: 0.4,
  server: 0.25,
  nearestClause: 0.2,
  /** Beside meaning; half of it beside words only, which verbs are a larger part of. */
  agreement: 0.6,
  deprecated: -1.5,
};
/** In a task of so many clauses, a tool for each counts more than a second one for the same. */
const TASK_CLAUSES = 4;
const REPEATED_WISH = 1;
/** Puts a tool that was asked for by its very name above all that merely share its words. */
const EXACT_BONUS = 10;

/** No name is longer. */
const MOST_NAME_CHARS = 300;

export interface SemanticScores {
  /** In standard deviations above the average tool; undefined while its vectors are missing. */
  of(key: string):
    | { tool: number; server: number; clauses: number[]; cosine: number }
    | undefined;
  nearest(limit: number, admits?: (key: string) => boolean): string[];
}

export interface ToolScore {
  total: number;
  semantic: number;
  cosine: number;
  /** How well the best clause of a longer task fits; 0 if the query is one clause. */
  clause: number;
  context: number;
  /** How well the tool's verb answers the query's, -1 to 1. */
  agreement: number;
  /** The share of what the query's words other than verbs tell that the tool has. */
  object: number;
  isExact: boolean;
  /** Which clause of the query it fits best. */
  wish: number;
  parts: number[];
}

export function scoreFor({ query, text, corpus, scorer, semantic, ratio }: {
  query: SearchQuery;
  text: string;
  corpus: Corpus;
  scorer: FieldScorer;
  semantic: SemanticScores | undefined;
  ratio: number;
}): (entry: CorpusEntry) => ToolScore {
  const name = bareName(text.slice(0, MOST_NAME_CHARS));
  const share = Math.min(1, Math.max(0, ratio));
  const wordsCount = semantic === undefined ? 1 : (1 - share) / (1 - DEFAULT_HYBRID_RATIO);
  const meaningCounts = share / DEFAULT_HYBRID_RATIO;
  const asked = new Set(query.whole.words.flatMap(({ matches: [first] }) => first?.id ?? []));
  const objects = partOf(query.whole.words.filter(({ isVerb }) => !isVerb));
  const hasClauses = query.clauses.length > 1;

  function nameCoverage({ nameWords }: CorpusEntry): number {
    let [covered, all] = [0, 0];
    for (const id of nameWords) {
      const telling = corpus.tellingOf(corpus.vocabulary.countOf(id));
      all += telling;
      if (asked.has(id)) covered += telling;
    }
    return all === 0 ? 0 : covered / all;
  }

  return (entry) => {
    const whole = scorer.score(query.whole, entry);
    const meaning = semantic?.of(entry.key);
    // One clause is the whole.
    let [clause, nearestClause, wish, most] = [whole, meaning?.tool ?? 0, 0, -Infinity];
    if (hasClauses) {
      [clause, nearestClause] = [0, meaning ? -Infinity : 0];
      query.clauses.forEach((part, index) => {
        const words = whole > 0 ? scorer.score(part, entry) : 0;
        const near = meaning?.clauses[index] ?? meaning?.tool ?? 0;
        if (words + near > most) [wish, most] = [index, words + near];
        clause = Math.max(clause, words);
        if (meaning) nearestClause = Math.max(nearestClause, near);
      });
    }
    const context = query.context ? scorer.score(query.context, entry) : 0;
    const isExact = name !== "" && (name === entry.bareName || name === entry.bareKey);
    const covered = nameCoverage(entry);
    const lexical = (whole + WEIGHTS.clause * clause) * (1 + WEIGHTS.nameCoverage * covered) +
      WEIGHTS.context * context;
    const nearness = meaning
      ? WEIGHTS.tool * meaning.tool + WEIGHTS.server * meaning.server +
        WEIGHTS.nearestClause * nearestClause
      : 0;
    const agreement = agreementOf(query.verbs, entry.verb);
    const object = objects.telling === 0 ? 0 : coverageOf(objects, entry);
    const intent = WEIGHTS.agreement * agreement * (semantic ? 1 : 0.5);
    const total = lexical * wordsCount + nearness * meaningCounts + intent +
      (entry.isDeprecated ? WEIGHTS.deprecated : 0) + (isExact ? EXACT_BONUS : 0);
    return {
      total,
      semantic: nearness,
      cosine: meaning?.cosine ?? 0,
      clause: hasClauses ? clause : 0,
      context,
      agreement,
      object,
      isExact,
      wish,
      parts: [
        whole,
        clause,
        covered,
        meaning?.tool ?? 0,
        meaning?.server ?? 0,
        nearestClause,
        meaning?.cosine ?? 0,
        agreement,
        object,
        wish,
      ],
    };
  };
}

/** The best first, by `total`; in a long task, what fits another clause than those before is preferred. */
export function inOrder<Ranked extends { score: ToolScore; entry: CorpusEntry }>(
  found: Ranked[],
  clauses: number,
  limit: number,
): Ranked[] {
  // Ties by key, so that the same query always gets the same answer.
  const ranked = found.toSorted((one, other) =>
    other.score.total - one.score.total || (one.entry.key < other.entry.key ? -1 : 1)
  );
  if (clauses < TASK_CLAUSES) return ranked.slice(0, limit);
  const chosen: Ranked[] = [];
  const taken = new Map<number, number>();
  while (chosen.length < limit && ranked.length > 0) {
    const worth = ({ score: { total, wish } }: Ranked) =>
      total - REPEATED_WISH * (taken.get(wish) ?? 0);
    let best = 0;
    ranked.forEach((each, index) => {
      if (worth(each) > worth(ranked[best]!)) best = index;
    });
    const [next] = ranked.splice(best, 1);
    if (!next) break;
    taken.set(next.score.wish, (taken.get(next.score.wish) ?? 0) + 1);
    chosen.push(next);
  }
  return chosen;
}

function partOf(words: QueryPart["words"]): QueryPart {
  return { words, telling: words.reduce((sum, { telling }) => sum + telling, 0) };
}

/** How soon more of the same word stops counting. */
const SATURATION = 2.5;

export class FieldScorer {
  readonly #averages: number[];

  constructor(corpus: Corpus) {
    this.#averages = FIELDS.map((_, field) => corpus.averageLength(field) || 1);
  }

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

function saturate(frequency: number): number {
  return frequency * (SATURATION + 1) / (frequency + SATURATION);
}

/** By logistic regression over the first hits of real queries (docs/adr/0009-search-ranking.md). */
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
  standing: { best: number; lead: number; coverage: number },
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

interface WordExplanation {
  word: string;
  found: string;
  fields: SearchField[];
  score: number;
}

export interface Explanation extends Omit<ToolScore, "total"> {
  /** What each field adds; only those that add something. */
  fields: Partial<Record<SearchField, number>>;
  words: WordExplanation[];
  coverage: number;
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
  const { total: _, ...parts } = score;
  return { ...parts, fields, words, coverage: coverageOf(part, entry) };
}

const MOST_WORDS = 6;

export function explanationText(explanation: Explanation, query: string): string {
  const { words, coverage, semantic, isExact, clause, context } = explanation;
  // Words are compared by their stems; a person knows them as they were written.
  const written = new Map(splitWords(query).map((word) => [stemOf(word), word]));
  const found = words.slice(0, MOST_WORDS).map(({ word, found, fields }) => {
    const asked = written.get(word) ?? word;
    return `${word === found ? asked : `${asked} as ${found}`} in ${fields.join(", ")}`;
  });
  return [
    ...(isExact ? ["exact name"] : []),
    ...(found.length > 0 ? [found.join("; ")] : []),
    ...(coverage > 0 ? [`${Math.round(coverage * 100)} % of the query`] : []),
    ...(semantic > 0.5 ? ["similar meaning"] : []),
    ...(clause > 0 ? ["part of the task"] : []),
    ...(context > 0 ? ["matches the context"] : []),
  ].join(" · ");
}
