import { stemOf } from "../../search/words.ts";
import { isStopWord } from "../../search/stop_words.ts";

/** Shared of all telling words, from which on two texts ask for the same. */
const SAME_WORDS = 0.75;
/** Shared of all runs of three characters, from which on two texts differ by a slip at most. */
const SAME_TRIGRAMS = 0.8;
/** A text is read this far: two that are the same up to here are the same. */
const MOST_CHARS = 2_000;
/** They turn a request into its opposite; `t` is left of `don't`. */
const NEGATIONS = new Set(["no", "not", "nor", "never", "without", "cannot", "off", "t"]);
/** Other words for the same wish to be told something. */
const ASKING = new Set(["show", "give", "tell", "get", "fetch", "provide"]);
/** Written without spaces, so that words have to be found by a dictionary. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/** What is compared of a text. */
interface Gist {
  /** Letters and digits alone. */
  compact: string;
  words: Set<string>;
  isNegated: boolean;
  trigrams: Set<string>;
}

/** Whether two prompts ask for the same in nearly the same words. */
export function isNearDuplicate(a: string, b: string): boolean {
  return areClose(gistOf(a), gistOf(b));
}

/** Texts to compare many others with: each is taken apart once. */
export class KnownTexts {
  readonly #known: { text: string; gist: Gist }[] = [];

  constructor(texts: Iterable<string> = []) {
    for (const text of texts) this.add(text);
  }

  add(text: string): void {
    this.#known.push({ text, gist: gistOf(text) });
  }

  /** The first that is nearly the same. */
  findNear(text: string): string | undefined {
    const gist = gistOf(text);
    return this.#known.find((other) => areClose(gist, other.gist))?.text;
  }
}

function areClose(a: Gist, b: Gist): boolean {
  if (a.compact === b.compact) return true;
  if (a.isNegated !== b.isNegated) return false;
  return overlap(a.words, b.words) >= SAME_WORDS ||
    overlap(a.trigrams, b.trigrams) >= SAME_TRIGRAMS;
}

/** Shared of all, from 0 to 1. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const all = a.union(b).size;
  return all === 0 ? 0 : a.intersection(b).size / all;
}

function gistOf(text: string): Gist {
  // Accents come off, as they are often left out; the vowel signs of other scripts stay.
  const plain = text.slice(0, MOST_CHARS).normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC").toLowerCase();
  const words = wordsOf(plain);
  const telling = words.filter((word) => !isStopWord(word));
  const compact = words.join("");
  return {
    // Where there is neither letter nor digit, the signs are all there is.
    compact: compact === "" ? plain.replace(/\s+/g, "") : compact,
    words: new Set(
      (telling.length > 0 ? telling : words).map((word) => ASKING.has(word) ? "get" : stemOf(word)),
    ),
    isNegated: words.some((word) => NEGATIONS.has(word)),
    trigrams: trigramsOf(words.join(" ")),
  };
}

function wordsOf(plain: string): string[] {
  if (!UNSPACED.test(plain)) return plain.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const segments = new Intl.Segmenter(undefined, { granularity: "word" }).segment(plain);
  return Array.from(segments).filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

function trigramsOf(text: string): Set<string> {
  const characters = Array.from(text);
  const found = new Set<string>();
  for (let at = 0; at + 3 <= characters.length; at++) {
    found.add(characters.slice(at, at + 3).join(""));
  }
  return found;
}
