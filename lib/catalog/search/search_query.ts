import { correct, nameArguments, splitClauses, splitWords, stemOf, stemsOf } from "./text.ts";
import type { Corpus } from "./corpus.ts";
import { SYNONYMS } from "./data/synonyms.ts";

/** What a query says beyond this many different words changes nothing. */
const MOST_WORDS = 96;
const MOST_CHARS = 8_000;
const MOST_CORRECTED = 4;
const SYNONYM_WEIGHT = 0.15;
/** A single word, such as a command, has nothing but its synonyms to help it. */
const LONE_SYNONYM_WEIGHT = 0.6;

interface Match {
  id: number;
  weight: number;
  isSynonym?: boolean;
}

interface QueryWord {
  stem: string;
  telling: number;
  matches: Match[];
}

export interface QueryPart {
  words: QueryWord[];
  telling: number;
}

export interface SearchQuery {
  whole: QueryPart;
  clauses: QueryPart[];
  context: QueryPart | undefined;
}

export function readQuery(
  text: string,
  context: string | undefined,
  corpus: Corpus,
  synonyms: Synonyms,
): SearchQuery {
  const reader = new WordReader(corpus, synonyms);
  const named = nameArguments(text.slice(0, MOST_CHARS));
  const whole = reader.read(named);
  const clauses = splitClauses(named).map((clause) => reader.read(clause))
    .filter(({ words }) => words.length > 0);
  return {
    whole,
    clauses,
    context: context ? reader.read(nameArguments(context.slice(0, MOST_CHARS))) : undefined,
  };
}

class WordReader {
  readonly #corpus: Corpus;
  readonly #synonyms: Synonyms;
  readonly #known = new Map<string, QueryWord>();
  #corrected = 0;

  constructor(corpus: Corpus, synonyms: Synonyms) {
    this.#corpus = corpus;
    this.#synonyms = synonyms;
  }

  read(text: string): QueryPart {
    const stems = [...new Set(stemsOf(text))].slice(0, MOST_WORDS);
    const words = stems.map((stem) => this.#word(stem));
    // A synonym that the query has itself is counted there.
    const own = new Set(words.map(({ matches }) => matches[0]?.id));
    const lift = words.length === 1 ? LONE_SYNONYM_WEIGHT / SYNONYM_WEIGHT : 1;
    const separate = words.map((word) => ({
      ...word,
      matches: word.matches
        .map((match) => match.isSynonym ? { ...match, weight: match.weight * lift } : match)
        .filter(({ id }, index) => index === 0 || !own.has(id)),
    }));
    return { words: separate, telling: words.reduce((sum, { telling }) => sum + telling, 0) };
  }

  #word(stem: string): QueryWord {
    let word = this.#known.get(stem);
    if (!word) this.#known.set(stem, word = this.#look(stem));
    return word;
  }

  #look(stem: string): QueryWord {
    const { vocabulary } = this.#corpus;
    const id = vocabulary.find(stem);
    const telling = this.#corpus.tellingOf(id === undefined ? 0 : vocabulary.countOf(id));
    const matches: Match[] = id === undefined ? [] : [{ id, weight: telling }];
    for (const synonym of this.#synonyms.of(stem)) {
      const other = vocabulary.find(synonym);
      if (other === undefined) continue;
      const itsTelling = this.#corpus.tellingOf(vocabulary.countOf(other));
      const weight = SYNONYM_WEIGHT * Math.min(itsTelling, telling);
      matches.push({ id: other, weight, isSynonym: true });
    }
    const corrections = matches.length === 0 ? this.#correct(stem) : [];
    for (const { word, trust } of corrections) {
      const other = vocabulary.find(word)!;
      const itsTelling = this.#corpus.tellingOf(vocabulary.countOf(other));
      matches.push({ id: other, weight: trust * itsTelling / corrections.length });
    }
    return { stem, telling, matches };
  }

  #correct(stem: string) {
    if (this.#corrected >= MOST_CORRECTED) return [];
    this.#corrected++;
    return correct(stem, this.#corpus.vocabulary.words());
  }
}

/** Synonyms by stem, in both directions. What is added goes beside the built-in ones. */
export class Synonyms {
  readonly #byStem = new Map<string, Set<string>>();

  constructor(added: Readonly<Record<string, readonly string[]>> = {}) {
    for (const [word, others] of [SYNONYMS, added].flatMap((source) => Object.entries(source))) {
      for (const other of others) this.#link(word, other);
    }
  }

  of(stem: string): ReadonlySet<string> {
    return this.#byStem.get(stem) ?? NONE;
  }

  #link(word: string, other: string): void {
    // A synonym of several words would have to be found as a phrase; its single words mislead.
    const [one, ...moreOfOne] = splitWords(word);
    const [two, ...moreOfTwo] = splitWords(other);
    if (!one || !two || moreOfOne.length > 0 || moreOfTwo.length > 0) return;
    const stems = [stemOf(one), stemOf(two)] as const;
    if (stems[0] === stems[1]) return;
    this.#add(stems[0], stems[1]);
    this.#add(stems[1], stems[0]);
  }

  #add(from: string, to: string): void {
    this.#byStem.set(from, (this.#byStem.get(from) ?? new Set()).add(to));
  }
}

const NONE: ReadonlySet<string> = new Set();
