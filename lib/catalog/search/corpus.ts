import type { SearchDocument } from "./search_document.ts";
import { isVerb } from "./data/actions.ts";
import { MOST_TYPOS, stemsOf } from "./text.ts";

export const FIELDS = [
  "name",
  "title",
  "server",
  "description",
  "parameters",
  "category",
  "serverDescription",
] as const;
export type SearchField = typeof FIELDS[number];

/** How much a word counts in each field, and how much the field's length takes from it. */
export const FIELD_WEIGHTS = [3, 2, 1.4, 1, 0.3, 0.5, 0.3];
export const FIELD_LENGTH_EFFECTS = [0.5, 0.5, 0.5, 0.2, 0.7, 0, 0.9];

/** The stems of the text before: the tools of one server come together and say the same of it. */
class StemMemo {
  #texts = ["", ""];
  #stems: string[][] = [[], []];

  of(place: 0 | 1, text: string): string[] {
    if (this.#texts[place] !== text) {
      this.#texts[place] = text;
      this.#stems[place] = stemsOf(text);
    }
    return this.#stems[place]!;
  }
}

function stemsByField(document: SearchDocument, memo: StemMemo): string[][] {
  return [
    stemsOf(document.name),
    stemsOf(document.title),
    memo.of(0, `${document.server} ${document.serverTitle ?? ""}`),
    stemsOf(document.description),
    stemsOf(document.parameters),
    stemsOf(document.category ?? ""),
    memo.of(1, document.serverDescription ?? ""),
  ];
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(value: number): number {
  let count = 0;
  for (let left = value; left !== 0; left &= left - 1) count++;
  return count;
}

class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #words: (string | undefined)[] = [];
  /** A bit for each letter, to compare words at a glance. */
  readonly #letters: number[] = [];
  readonly #counts: number[] = [];
  readonly #free: number[] = [];

  find(word: string): number | undefined {
    return this.#ids.get(word);
  }

  wordOf(id: number): string {
    return this.#words[id] ?? "";
  }

  countOf(id: number): number {
    return this.#counts[id] ?? 0;
  }

  words(): Iterable<string> {
    return this.#ids.keys();
  }

  /** The words that may be a typo of this one: of about the same length, with about the same letters. */
  near(word: string): string[] {
    const letters = lettersOf(word);
    const near: string[] = [];
    for (let id = 0; id < this.#words.length; id++) {
      const other = this.#words[id];
      if (other === undefined || Math.abs(other.length - word.length) > MOST_TYPOS) continue;
      // Each typo takes one letter away and adds another at most.
      if (bitsOf(letters ^ this.#letters[id]!) <= 2 * MOST_TYPOS) near.push(other);
    }
    return near;
  }

  add(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) {
      this.#counts[known]!++;
      return known;
    }
    const id = this.#free.pop() ?? this.#words.length;
    this.#ids.set(word, id);
    this.#words[id] = word;
    this.#letters[id] = lettersOf(word);
    this.#counts[id] = 1;
    return id;
  }

  remove(id: number): void {
    const left = (this.#counts[id] ?? 0) - 1;
    this.#counts[id] = Math.max(0, left);
    if (left > 0) return;
    const word = this.#words[id];
    if (word === undefined) return;
    this.#ids.delete(word);
    this.#words[id] = undefined;
    this.#free.push(id);
  }
}

const MOST_COUNTED = 255;

export interface CorpusEntry {
  key: string;
  server: string;
  bareName: string;
  bareKey: string;
  fingerprint: string;
  words: Uint32Array;
  /** FIELDS.length counts for each of `words`. */
  counts: Uint8Array;
  lengths: Uint16Array;
  nameWords: Uint32Array;
  /** The stem of the verb that says what the tool does. */
  verb: string | undefined;
  isDeprecated: boolean;
  replacements: readonly string[];
  categories: readonly string[];
}

export class Corpus {
  readonly vocabulary = new Vocabulary();
  readonly #entries = new Map<string, CorpusEntry>();
  readonly #memo = new StemMemo();
  readonly #totals = new Float64Array(FIELDS.length);

  get size(): number {
    return this.#entries.size;
  }

  find(key: string): CorpusEntry | undefined {
    return this.#entries.get(key);
  }

  averageLength(field: number): number {
    return this.#totals[field]! / Math.max(1, this.#entries.size);
  }

  /** What a word tells: much where few tools have it. */
  tellingOf(count: number): number {
    return Math.log(1 + (this.#entries.size - count + 0.5) / (count + 0.5));
  }

  /** Returns the stems by field, for the other index of the same tool. */
  add(document: SearchDocument): string[][] {
    this.remove(document.key);
    const stems = stemsByField(document, this.#memo);
    const { found, tally } = countStems(stems);
    const ids = found.map((stem) => this.vocabulary.add(stem));
    const order = ids.map((_, index) => index).sort((one, other) => ids[one]! - ids[other]!);
    const counts = new Uint8Array(ids.length * FIELDS.length);
    order.forEach((from, to) => {
      for (let field = 0; field < FIELDS.length; field++) {
        counts[to * FIELDS.length + field] = tally[from * FIELDS.length + field]!;
      }
    });
    const lengths = Uint16Array.from(stems, ({ length }) => length);
    lengths.forEach((length, field) => this.#totals[field]! += length);
    this.#entries.set(document.key, {
      key: document.key,
      server: document.server,
      bareName: bareName(document.name),
      bareKey: bareName(document.key),
      fingerprint: document.fingerprint,
      words: Uint32Array.from(order, (index) => ids[index]!),
      counts,
      lengths,
      nameWords: Uint32Array.from(new Set(stems[0]), (stem) => this.vocabulary.find(stem)!),
      verb: verbOf(stems),
      isDeprecated: document.isDeprecated === true,
      replacements: document.replacements ?? [],
      categories: document.categories ?? [],
    });
    return stems;
  }

  remove(key: string): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    for (const id of entry.words) this.vocabulary.remove(id);
    entry.lengths.forEach((length, field) => this.#totals[field]! -= length);
    return this.#entries.delete(key);
  }
}

/** From the name, else from the first words of the description. */
function verbOf([name = [], , , description = []]: string[][]): string | undefined {
  return name.find(isVerb) ?? description.slice(0, 3).find(isVerb);
}

/** `create_issue`, `createIssue` and `Create issue` are one name. */
export function bareName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

export function positionOf(words: Uint32Array, id: number): number {
  let [low, high] = [0, words.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = words[middle]!;
    if (found === id) return middle;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

function countStems(stems: string[][]): { found: string[]; tally: number[] } {
  const positions = new Map<string, number>();
  const tally: number[] = [];
  stems.forEach((ofField, field) => {
    for (const stem of ofField) {
      let position = positions.get(stem);
      if (position === undefined) {
        positions.set(stem, position = positions.size);
        for (let each = 0; each < FIELDS.length; each++) tally.push(0);
      }
      const place = position * FIELDS.length + field;
      tally[place] = Math.min(MOST_COUNTED, tally[place]! + 1);
    }
  });
  return { found: [...positions.keys()], tally };
}
