import { stemOf } from "../../catalog/search/text.ts";
import { isStopWord } from "../../catalog/search/data/stop_words.ts";
import type { GoldenPrompt } from "../../core/optimization.ts";
import { shortened } from "../../core/text.ts";
import { flatten, namespacedName } from "../../catalog/names.ts";

export const MIN_PROMPT = 10;
const MAX_PROMPT = 4_000;
/** Scripts in which a name stands inside a sentence without a space around it. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

export type DraftPrompt = Pick<GoldenPrompt, "category" | "prompt" | "expectedBehavior">;

export function promptProblem(
  { category, prompt }: DraftPrompt,
  tool: { name: string; server: string },
  existing = new KnownTexts(),
): string | undefined {
  const { length } = prompt.trim();
  if (length < MIN_PROMPT) {
    return `It has ${length} characters; at least ${MIN_PROMPT} are required`;
  }
  if (length > MAX_PROMPT) return `It has ${length} characters; at most ${MAX_PROMPT} are allowed`;
  if (category === "indirect" && namesTool(prompt, tool)) {
    const name = shortened(tool.name, 60);
    return `It contains the tool's name "${name}", which an indirect prompt must not contain in any form`;
  }
  const near = existing.findNear(prompt);
  if (near !== undefined) return `It is nearly the same as "${shortened(near, 80)}"`;
  return undefined;
}

/** Whether a text contains a tool's name, however it is spelled: `get_weather`, `Get Weather`. */
export function namesTool(text: string, { name, server }: { name: string; server: string }) {
  const flat = flatten(namespacedName(server, name));
  if (text.toLowerCase().includes(flat.toLowerCase())) return true;
  const nameWords = wordsOf(name);
  if (nameWords.length === 0) return text.includes(name);
  const words = wordsOf(text);
  const compact = nameWords.join("");
  if (hasRun(words, wordsOf(server).join("") + compact)) return true;
  // Nobody could write a sentence without the name of a tool that is called `a` or `do`.
  if (nameWords.every((word) => word.length === 1 || isStopWord(word))) return false;
  return UNSPACED.test(compact) ? words.join("").includes(compact) : hasRun(words, compact);
}

function hasRun(words: readonly string[], compact: string): boolean {
  return words.some((_, start) => {
    let rest = compact;
    for (let at = start; at < words.length && rest.startsWith(words[at]!); at++) {
      rest = rest.slice(words[at]!.length);
      if (rest === "") return true;
    }
    return false;
  });
}

function wordsOf(text: string): string[] {
  return text.normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Shared of all telling words, from which on two texts ask for the same. */
const SAME_WORDS = 0.75;
/** Shared of all runs of three characters, from which on two texts differ by a slip at most. */
const SAME_TRIGRAMS = 0.8;
/** A text is read this far: two that are the same up to here are the same. */
const MOST_CHARS = 2_000;
/** They turn a request into its opposite; `t` is left of `don't`. */
const NEGATIONS = new Set(["no", "not", "nor", "never", "without", "cannot", "off", "t"]);
const ASKING = new Set(["show", "give", "tell", "get", "fetch", "provide"]);
/** Written without spaces, so that words have to be found by a dictionary. */
const UNSPACED_SCRIPTS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

interface Gist {
  compact: string;
  words: Set<string>;
  isNegated: boolean;
  trigrams: Set<string>;
}

export function isNearDuplicate(a: string, b: string): boolean {
  return areClose(gistOf(a), gistOf(b));
}

export class KnownTexts {
  readonly #known: { text: string; gist: Gist }[] = [];

  constructor(texts: Iterable<string> = []) {
    for (const text of texts) this.add(text);
  }

  add(text: string): void {
    this.#known.push({ text, gist: gistOf(text) });
  }

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

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const all = a.union(b).size;
  return all === 0 ? 0 : a.intersection(b).size / all;
}

function gistOf(text: string): Gist {
  // Accents come off, as they are often left out; the vowel signs of other scripts stay.
  const plain = text.slice(0, MOST_CHARS).normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC").toLowerCase();
  const words = segmentsOf(plain);
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

function segmentsOf(plain: string): string[] {
  if (!UNSPACED_SCRIPTS.test(plain)) return plain.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
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
