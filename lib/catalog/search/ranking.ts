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
import { getOrMake } from "../../core/defined.ts";
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
  /** Of a tool that the caller has always called after such a search. */
  pastUse: 0.8,
};
/** In a task of so many clauses, a tool for each counts more than a second one for the same. */
const TASK_CLAUSES = 4;
const REPEATED_WISH = 1;
/** What a long task means as a whole is vague; its words and its clauses are surer. */
const TASK_WEIGHTS = { ...WEIGHTS, nameCoverage: 0.5, tool: 0.15, nearestClause: 0.3 };
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
  isExact: boolean;
  /** How far the caller has called it after such searches, 0 to 1. */
  pastUse: number;
  /** It has the rank of a deprecated tool that it replaces. */
  isReplacement?: boolean;
  /** Which clause of the query it fits best. */
  wish: number;
}

export function scoreFor({ query, text, corpus, scorer, semantic, ratio, used }: {
  query: SearchQuery;
  text: string;
  corpus: Corpus;
  scorer: FieldScorer;
  semantic: SemanticScores | undefined;
  ratio: number;
  used: ReadonlyMap<string, number>;
}): (entry: CorpusEntry) => ToolScore {
  const name = bareName(text.slice(0, MOST_NAME_CHARS));
  const isOneWord = !/\s/.test(text.trim());
  const share = Math.min(1, Math.max(0, ratio));
  const wordsCount = semantic === undefined ? 1 : (1 - share) / (1 - DEFAULT_HYBRID_RATIO);
  const meaningCounts = share / DEFAULT_HYBRID_RATIO;
  const asked = new Set(query.whole.words.flatMap(({ matches: [first] }) => first?.id ?? []));
  const hasClauses = query.clauses.length > 1;
  const weights = semantic && query.clauses.length >= TASK_CLAUSES ? TASK_WEIGHTS : WEIGHTS;

  const scoreParts = scorer.forParts([
    query.whole,
    ...(hasClauses ? query.clauses : []),
    ...(query.context ? [query.context] : []),
  ]);

  const known = new Map<string | undefined, number>();
  function agreements(verb: string | undefined): number {
    let agreement = known.get(verb);
    if (agreement === undefined) known.set(verb, agreement = agreementOf(query.verbs, verb));
    return agreement;
  }

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
    const scores = scoreParts(entry);
    const whole = scores[0]!;
    const meaning = semantic?.of(entry.key);
    // One clause is the whole.
    let [clause, nearestClause, wish, most] = [whole, meaning?.tool ?? 0, 0, -Infinity];
    if (hasClauses) {
      [clause, nearestClause] = [0, meaning ? -Infinity : 0];
      query.clauses.forEach((_, index) => {
        const words = scores[1 + index]!;
        const near = meaning?.clauses[index] ?? meaning?.tool ?? 0;
        if (words + near > most) [wish, most] = [index, words + near];
        clause = Math.max(clause, words);
        if (meaning) nearestClause = Math.max(nearestClause, near);
      });
    }
    const context = query.context ? scores.at(-1)! : 0;
    // Words that happen to be a deprecated tool's name do not ask for it.
    const isExact = name !== "" && (name === entry.bareName || name === entry.bareKey) &&
      (isOneWord || !entry.isDeprecated);
    const covered = nameCoverage(entry);
    const lexical = (whole + weights.clause * clause) * (1 + weights.nameCoverage * covered) +
      weights.context * context;
    const nearness = meaning
      ? weights.tool * meaning.tool + weights.server * meaning.server +
        weights.nearestClause * nearestClause
      : 0;
    const agreement = agreements(entry.verb);
    const pastUse = used.get(entry.key) ?? 0;
    const intent = weights.agreement * agreement * (semantic ? 1 : 0.5);
    const total = lexical * wordsCount + nearness * meaningCounts + intent +
      weights.pastUse * pastUse +
      (entry.isDeprecated ? weights.deprecated : 0) + (isExact ? EXACT_BONUS : 0);
    return {
      total,
      semantic: nearness,
      cosine: meaning?.cosine ?? 0,
      clause: hasClauses ? clause : 0,
      context,
      agreement,
      isExact,
      pastUse,
      wish,
    };
  };
}

const BEHIND = 0.01;

/** Puts each deprecated tool behind the one that replaces it, which gets its place. */
export function preferReplacements<Ranked extends { entry: CorpusEntry; score: ToolScore }>(
  found: Ranked[],
): Ranked[] {
  const byKey = new Map(found.map((ranked) => [ranked.entry.key, ranked]));
  for (const { entry: { replacements }, score } of found) {
    const other = replacements.map((key) => byKey.get(key)).find((ranked) => ranked !== undefined);
    if (!other || other.score.total > score.total) continue;
    const { total, isExact } = score;
    Object.assign(other.score, { total, isExact, isReplacement: true });
    Object.assign(score, { total: total - BEHIND - (isExact ? EXACT_BONUS : 0), isExact: false });
  }
  return found;
}

/** The first of tools in the order of their scores; in a long task, one for each clause goes before. */
export function firstFor<Ranked extends { score: ToolScore }>(
  ranked: Ranked[],
  clauses: number,
  limit: number,
): Ranked[] {
  if (clauses < TASK_CLAUSES) return ranked.slice(0, limit);
  const left = [...ranked];
  const chosen: Ranked[] = [];
  const taken = new Map<number, number>();
  const worth = ({ score: { total, wish } }: Ranked) =>
    total - REPEATED_WISH * (taken.get(wish) ?? 0);
  while (chosen.length < limit) {
    const values = left.map(worth);
    const [next] = left.splice(values.indexOf(Math.max(...values)), 1);
    if (!next) break;
    taken.set(next.score.wish, (taken.get(next.score.wish) ?? 0) + 1);
    chosen.push(next);
  }
  return chosen;
}

/** How soon more of the same word stops counting. */
const SATURATION = 2.5;

export class FieldScorer {
  readonly #averages: number[];

  constructor(corpus: Corpus) {
    this.#averages = FIELDS.map((_, field) => corpus.averageLength(field) || 1);
  }

  /** Scores several parts of a query at once, which share most of their words; valid until the next. */
  forParts(parts: readonly QueryPart[]): (entry: CorpusEntry) => Float64Array {
    const byId = new Map<number, Float64Array>();
    parts.forEach(({ words, telling }, part) => {
      for (const { id, weight } of words.flatMap(({ matches }) => matches)) {
        const weights = getOrMake(byId, id, () => new Float64Array(parts.length));
        weights[part]! += weight / (Math.sqrt(telling) || 1);
      }
    });
    const ids = Uint32Array.from(byId.keys()).sort();
    const weights = Array.from(ids, (id) => byId.get(id)!);
    const scores = new Float64Array(parts.length);
    return (entry) => {
      scores.fill(0);
      // Both are sorted.
      let position = 0;
      for (let index = 0; index < ids.length; index++) {
        const id = ids[index]!;
        while (position < entry.words.length && entry.words[position]! < id) position++;
        if (entry.words[position] !== id) continue;
        const worth = saturate(this.frequency(entry, position));
        const ofId = weights[index]!;
        for (let part = 0; part < scores.length; part++) scores[part]! += ofId[part]! * worth;
      }
      return scores;
    };
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

/** How many of the best compete for the likelihood of having been asked for. */
const COMPETITORS = 60;
/** By logistic regression (docs/adr/0009-search-ranking.md): among tools for the same wish, and among all. */
const LIKELIHOOD = { base: 1.13, wish: 0.75, all: 0.37 };
/** Whether anything fits at all, by the best of each; cosines mean something only in the built-in table. */
const FIT = {
  table: { base: -5.45, cosine: 11.31, score: 1.46 },
  words: { base: -3.35, cosine: 0, score: 6.66 },
};
const LEAST_FIT = 0.45;
const FEW_TOOLS = 75;
/** What is left of a relevance if nothing fits; and the least of the best tool if something does. */
const POOR_SHARE = 0.1;

/**
 * How likely each tool is one that was asked for, 0 to 1, for tools in the order of their scores. It
 * depends on the tool's own score beside the others', so that equals get the same.
 */
export function relevancesOf(
  scores: ToolScore[],
  tools: number,
  by: keyof typeof FIT,
): number[] {
  // The bonus of a name is for the order; it says nothing about the others.
  const totals = scores.map(({ total, isExact }) => isExact ? total - EXACT_BONUS : total);
  const best = Math.max(...totals);
  const wishes = new Map<number, number>();
  let all = 0;
  scores.slice(0, COMPETITORS).forEach(({ wish }, rank) => {
    const weight = Math.exp(totals[rank]! - best);
    all += weight;
    wishes.set(wish, (wishes.get(wish) ?? 0) + weight);
  });
  // Scores grow with the number of tools, which makes words rarer; hardly so among few.
  const fit = logistic(
    FIT[by].base + FIT[by].cosine * Math.max(...scores.map(({ cosine }) => cosine)) +
      FIT[by].score * best / Math.log(Math.max(FEW_TOOLS, tools)),
  );
  return scores.map(({ wish, isExact }, rank) => {
    if (isExact) return 1;
    const gap = totals[rank]! - best;
    const likelihood = logistic(
      LIKELIHOOD.base + LIKELIHOOD.wish * (gap - Math.log(wishes.get(wish) ?? 1)) +
        LIKELIHOOD.all * (gap - Math.log(all)),
    );
    if (fit < LEAST_FIT) return POOR_SHARE * likelihood * fit / LEAST_FIT;
    return gap === 0 ? Math.max(likelihood, POOR_SHARE) : likelihood;
  });
}

function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
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
  const { words, coverage, semantic, isExact, isReplacement, clause, context, pastUse } =
    explanation;
  // Words are compared by their stems; a person knows them as they were written.
  const written = new Map(splitWords(query).map((word) => [stemOf(word), word]));
  const found = words.slice(0, MOST_WORDS).map(({ word, found, fields }) => {
    const asked = written.get(word) ?? word;
    return `${word === found ? asked : `${asked} as ${found}`} in ${fields.join(", ")}`;
  });
  return [
    ...(isReplacement ? ["replaces a deprecated tool"] : isExact ? ["exact name"] : []),
    ...(pastUse > 0 ? ["called after a similar search"] : []),
    ...(found.length > 0 ? [found.join("; ")] : []),
    ...(coverage > 0 ? [`${Math.round(coverage * 100)} % of the query`] : []),
    ...(semantic > 0.5 ? ["similar meaning"] : []),
    ...(clause > 0 ? ["part of the task"] : []),
    ...(context > 0 ? ["matches the context"] : []),
  ].join(" · ");
}
