import { stemmer } from "stemmer";
import { isStopWord } from "./stop_words.ts";

/** A text is read this far: what follows says no more about what is wanted. */
const MOST_CHARS = 20_000;
const MOST_WORDS = 2_000;
/** Longer ones are data (keys, base64), not words. */
const LONGEST_WORD = 64;

const RUN = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)*/gu;
/** The same for plain text, which nearly all is; far faster. */
const PLAIN_RUN = /[A-Za-z0-9]+(?:'[A-Za-z]+)*/g;
const PLAIN = /^[a-z]{3,}$/;
const HAS_NO_HUMPS = /^(?:[A-Z]?[a-z]+|\d+)$/;
/** Stemming a word costs far more than finding it here; emptied when full. */
const MOST_KEPT = 20_000;
const kept = new Map<string, string>();

/**
 * The words of a text in lower case, in their order. `createIssue`, `create_issue` and
 * `create-issue` give their parts; what was written as one piece (`createIssue`, `OAuth2`) is kept
 * whole as well. Short ones such as `ls` and `rm` are words like any other.
 */
export function splitWords(text: string): string[] {
  const found: string[] = [];
  for (const run of runsOf(text.slice(0, MOST_CHARS))) {
    if (found.length >= MOST_WORDS) break;
    for (const piece of /['’]/.test(run) ? run.split(/['’]/) : [run]) {
      if (piece.length > LONGEST_WORD) continue;
      const parts = splitHumps(piece);
      for (const part of parts) found.push(part.toLowerCase());
      if (parts.length > 1) found.push(piece.toLowerCase());
    }
  }
  return found;
}

/** The stems of a text's words, stop words left out unless there is nothing else. */
export function stemsOf(text: string): string[] {
  const words = splitWords(text);
  const telling = words.filter((word) => !isStopWord(word));
  return (telling.length > 0 ? telling : words).map(stemOf);
}

export function stemOf(word: string): string {
  const known = kept.get(word);
  if (known !== undefined) return known;
  const stem = PLAIN.test(word) ? stemmer(word) : word;
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(word, stem);
  return stem;
}

function splitHumps(piece: string): string[] {
  if (HAS_NO_HUMPS.test(piece)) return [piece];
  return piece
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/(\p{L}{2})(\p{N})/gu, "$1 $2")
    .replace(/(\p{N})(\p{L}{2})/gu, "$1 $2")
    .split(" ");
}

function runsOf(text: string): string[] {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text.match(PLAIN_RUN) ?? [];
  return text.normalize("NFKC").match(RUN) ?? [];
}
