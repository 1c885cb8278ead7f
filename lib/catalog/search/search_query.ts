import {
  correct,
  nameArguments,
  splitClauses,
  splitWords,
  stemOf,
  stemsOf,
  swapsOf,
} from "./text.ts";
import type { Corpus } from "./corpus.ts";
import { ABBREVIATIONS, COMMANDS } from "./data/abbreviations.ts";
import { isVerb } from "./data/actions.ts";
import { isStopWord } from "./data/stop_words.ts";
import { SAME_THINGS, SYNONYMS } from "./data/synonyms.ts";
import { isForeignText, sharedText } from "./language.ts";

/** What a query says beyond this many different words changes nothing. */
const MOST_WORDS = 96;
const MOST_CHARS = 8_000;
const MOST_GUESSED = 4;
const SYNONYM_WEIGHT = 0.15;
/** Of another name for the same thing. */
const SAME_WEIGHT = 0.4;
/** A single word, such as a command, has nothing but its synonyms to help it. */
const LONE_SYNONYM_LIFT = 4;
/** A word with its letters swapped is meant if this many times as many tools have it. */
const SWAP_CERTAINTY = 20;
const SHORTEST_PART = 4;
const MOST_COMPOUNDS = 3;
const COMPOUND_TRUST = 0.6;

interface Match {
  id: number;
  weight: number;
  isSynonym?: boolean;
}

interface QueryWord {
  stem: string;
  telling: number;
  matches: Match[];
  isVerb: boolean;
}

export interface QueryPart {
  words: QueryWord[];
  telling: number;
}

export interface SearchQuery {
  /** What was asked, with short forms written out and typos corrected; for embedding. */
  text: string;
  /** The same by clause, as `clauses`. */
  clauseTexts: string[];
  /** The query is in a language that the tools' texts are not in. */
  isForeign: boolean;
  whole: QueryPart;
  clauses: QueryPart[];
  context: QueryPart | undefined;
  /** Stems of the verbs: the first of each clause. */
  verbs: string[];
}

export function readQuery(
  text: string,
  context: string | undefined,
  corpus: Corpus,
  synonyms: Synonyms,
): SearchQuery {
  const cut = text.slice(0, MOST_CHARS);
  const isForeign = !COMMANDS.has(firstWord(cut)) && isForeignText(
    cut,
    (word) => corpus.vocabulary.find(stemOf(word)) !== undefined,
  );
  // A word of another language is not a typo.
  const reader = new WordReader(corpus, synonyms, isForeign ? 0 : MOST_GUESSED);
  const named = isForeign ? sharedText(cut) : reader.correct(writeOut(nameArguments(cut)));
  const split = splitClauses(named).map((clause) => ({ clause, part: reader.read(clause) }))
    .filter(({ part }) => part.words.length > 0);
  const clauseTexts = split.map(({ clause }) => clause);
  return {
    text: named,
    clauseTexts,
    isForeign,
    whole: reader.read(named),
    clauses: split.map(({ part }) => part),
    context: context ? reader.read(nameArguments(context.slice(0, MOST_CHARS))) : undefined,
    verbs: verbsOf(clauseTexts),
  };
}

/** The first verb of each clause says what is to be done; "update" in "send me an update" does not. */
function verbsOf(clauses: string[]): string[] {
  return [
    ...new Set(clauses.flatMap((clause) => {
      const verb = splitWords(clause).map(stemOf).find(isVerb);
      return verb === undefined ? [] : [verb];
    })),
  ];
}

/** Replaces short forms by what they stand for, and a command at the beginning by what it does. */
function writeOut(text: string): string {
  const first = firstWord(text);
  const command = COMMANDS.get(first);
  const rest = command === undefined ? text : `${command} ${text.trim().slice(first.length)}`;
  return rest.replace(/(?<![\w.-])[A-Za-z][A-Za-z0-9]{1,6}(?![\w-])/g, (word) => {
    const meaning = ABBREVIATIONS.get(word.toLowerCase());
    return meaning === undefined ? word : `${meaning} ${word}`;
  });
}

function firstWord(text: string): string {
  return (/\S+/.exec(text)?.[0] ?? "").toLowerCase();
}

class WordReader {
  readonly #corpus: Corpus;
  readonly #synonyms: Synonyms;
  readonly #known = new Map<string, QueryWord>();
  #guessesLeft: number;

  constructor(corpus: Corpus, synonyms: Synonyms, guesses: number) {
    this.#corpus = corpus;
    this.#synonyms = synonyms;
    this.#guessesLeft = guesses;
  }

  /** Puts swapped letters right, the commonest typo, and takes apart two words written as one. */
  correct(text: string): string {
    return text.replace(/(?<![\w-])[a-z]{4,30}(?![\w-])/g, (word) => {
      if (isStopWord(word)) return word;
      const own = this.#countOf(word);
      let [best, most] = [word, own * SWAP_CERTAINTY];
      if (most >= this.#corpus.size) return word;
      for (const other of swapsOf(word)) {
        const count = this.#countOf(other);
        if (count > most) [best, most] = [other, count];
      }
      return own === 0 && best === word ? this.#takeApart(word) : best;
    });
  }

  #takeApart(word: string): string {
    for (let cut = SHORTEST_PART; cut <= word.length - SHORTEST_PART; cut++) {
      const [one, other] = [word.slice(0, cut), word.slice(cut)];
      if (this.#countOf(one) > 0 && this.#countOf(other) > 0) return `${one} ${other}`;
    }
    return word;
  }

  read(text: string): QueryPart {
    const stems = [...new Set(stemsOf(text))].slice(0, MOST_WORDS);
    const words = stems.map((stem) => this.#word(stem))
      // Its meaning stands beside a short form that no tool has.
      .filter(({ stem, matches }) => matches.length > 0 || !ABBREVIATIONS.has(stem));
    // A synonym that the query has itself is counted there.
    const own = new Set(words.map(({ matches }) => matches[0]?.id));
    const lift = words.length === 1 ? LONE_SYNONYM_LIFT : 1;
    const separate = words.map((word) => ({
      ...word,
      matches: word.matches
        .map((match) =>
          match.isSynonym
            ? { ...match, weight: Math.min(word.telling * 0.6, match.weight * lift) }
            : match
        )
        .filter(({ id }, index) => index === 0 || !own.has(id)),
    }));
    return { words: separate, telling: words.reduce((sum, { telling }) => sum + telling, 0) };
  }

  #countOf(word: string): number {
    const { vocabulary } = this.#corpus;
    const id = vocabulary.find(stemOf(word));
    return id === undefined ? 0 : vocabulary.countOf(id);
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
    for (const [synonym, share] of this.#synonyms.of(stem)) {
      const other = vocabulary.find(synonym);
      if (other === undefined) continue;
      const itsTelling = this.#corpus.tellingOf(vocabulary.countOf(other));
      const weight = share * Math.min(itsTelling, telling);
      matches.push({ id: other, weight, isSynonym: true });
    }
    const guesses = matches.length === 0 ? this.#guess(stem) : [];
    for (const { word, trust } of guesses) {
      const other = vocabulary.find(word)!;
      const itsTelling = this.#corpus.tellingOf(vocabulary.countOf(other));
      matches.push({ id: other, weight: trust * itsTelling / guesses.length });
    }
    return { stem, telling, matches, isVerb: isVerb(stem) };
  }

  /** What a word that no tool has may be: a typo, or a part of a compound. */
  #guess(stem: string): { word: string; trust: number }[] {
    if (this.#guessesLeft <= 0) return [];
    this.#guessesLeft--;
    const { vocabulary } = this.#corpus;
    const found = correct(stem, vocabulary.near(stem));
    if (found.length > 0 || stem.length < SHORTEST_PART) return found;
    for (const word of vocabulary.words()) {
      if (!word.startsWith(stem)) continue;
      found.push({ word, trust: COMPOUND_TRUST });
      if (found.length >= MOST_COMPOUNDS) break;
    }
    return found;
  }
}

/** Synonyms by stem, in both directions, and what they count. Added ones go beside the built-in. */
export class Synonyms {
  readonly #byStem = new Map<string, Map<string, number>>();

  constructor(added: Readonly<Record<string, readonly string[]>> = {}) {
    for (const [word, others] of [SYNONYMS, added].flatMap((source) => Object.entries(source))) {
      for (const other of others) this.#link(word, other, SYNONYM_WEIGHT);
    }
    for (const names of SAME_THINGS) {
      for (const one of names) for (const other of names) this.#link(one, other, SAME_WEIGHT);
    }
  }

  of(stem: string): ReadonlyMap<string, number> {
    return this.#byStem.get(stem) ?? NONE;
  }

  #link(word: string, other: string, weight: number): void {
    // A synonym of several words would have to be found as a phrase; its single words mislead.
    const [one, ...moreOfOne] = splitWords(word);
    const [two, ...moreOfTwo] = splitWords(other);
    if (!one || !two || moreOfOne.length > 0 || moreOfTwo.length > 0) return;
    const stems = [stemOf(one), stemOf(two)] as const;
    if (stems[0] === stems[1]) return;
    this.#add(stems[0], stems[1], weight);
    this.#add(stems[1], stems[0], weight);
  }

  #add(from: string, to: string, weight: number): void {
    this.#byStem.set(from, (this.#byStem.get(from) ?? new Map()).set(to, weight));
  }
}

const NONE: ReadonlyMap<string, number> = new Map();
