import { stemmer } from "stemmer";
import { editDistance } from "../../core/text.ts";
import { isStopWord } from "./data/stop_words.ts";
import { FILE_FORMATS } from "./data/file_formats.ts";

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
const MOST_CACHED = 20_000;
const stemCache = new Map<string, string>();

/** In lower case; `createIssue` gives its parts and itself, and short ones such as `ls` count. */
export function splitWords(text: string): string[] {
  const found: string[] = [];
  for (const run of runsOf(text.slice(0, MOST_CHARS))) {
    if (found.length >= MOST_WORDS) break;
    for (const piece of /['’]/.test(run) ? run.split(/['’]/) : [run]) {
      if (piece.length > LONGEST_WORD) continue;
      if (UNSPACED.test(piece)) {
        found.push(...pairsOf(piece));
        continue;
      }
      const parts = splitHumps(piece);
      for (const part of parts) found.push(part.toLowerCase());
      if (parts.length > 1) found.push(piece.toLowerCase());
    }
  }
  return found;
}

/** Scripts that do not set words apart: each two neighboring signs count as one. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

function pairsOf(run: string): string[] {
  const signs = [...run.toLowerCase()];
  if (signs.length < 2) return signs;
  return signs.slice(1).map((sign, index) => signs[index]! + sign);
}

export function stemsOf(text: string): string[] {
  const words = splitWords(text);
  const telling = words.filter((word) => !isStopWord(word));
  return (telling.length > 0 ? telling : words).map(stemOf);
}

export function stemOf(word: string): string {
  const known = stemCache.get(word);
  if (known !== undefined) return known;
  const stem = PLAIN.test(word) ? stemmer(word) : word;
  if (stemCache.size >= MOST_CACHED) stemCache.clear();
  stemCache.set(word, stem);
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
  // "GitHub的issue" has two words that a tool may have.
  return text.normalize("NFKC").replace(/([A-Za-z0-9]+)/g, " $1 ").match(RUN) ?? [];
}

const MOST_CLAUSES = 16;
/** A clause of fewer words says too little alone. */
const LEAST_STEMS = 2;

const SENTENCE_END = /(?<=[.!?;:。！？])\s+|[\n\r]+|;/u;
const JOINT = /,\s+|\s\+\s|\s+(?:and|then|or|also|but|while)\s+/iu;

export function splitClauses(text: string): string[] {
  const clauses: string[] = [];
  for (const sentence of text.split(SENTENCE_END)) {
    let open = "";
    const own: string[] = [];
    for (const part of sentence.split(JOINT)) {
      open = open === "" ? part : `${open} ${part}`;
      if (new Set(stemsOf(open)).size >= LEAST_STEMS) {
        own.push(open);
        open = "";
      }
    }
    if (open.trim() !== "") {
      if (own.length > 0) own.push(`${own.pop()} ${open}`);
      else own.push(open);
    }
    clauses.push(...own.map((clause) => clause.trim()).filter((clause) => clause !== ""));
    if (clauses.length >= MOST_CLAUSES) break;
  }
  return clauses.slice(0, MOST_CLAUSES);
}

export const MOST_TYPOS = 2;
/** How much a word counts that stands in for a mistyped one, by the letters between them. */
const TRUST = [1, 0.6, 0.3];
const MOST_FOUND = 3;
/** Shorter words have too many neighbors. */
const SHORTEST = 4;
const LONGEST = 24;

export function correct(word: string, known: Iterable<string>): { word: string; trust: number }[] {
  if (word.length < SHORTEST || word.length > LONGEST || /\p{N}/u.test(word)) return [];
  const most = word.length < 8 ? 1 : MOST_TYPOS;
  let best = most;
  let found: string[] = [];
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > best || candidate.length < 3) continue;
    // Two wrong ends are not a typo; this spares nearly all comparisons.
    if (candidate[0] !== word[0] && candidate.at(-1) !== word.at(-1)) continue;
    const letters = editDistance(word, candidate, best);
    if (letters > best) continue;
    if (letters < best) [best, found] = [letters, []];
    if (found.length < MOST_FOUND) found.push(candidate);
  }
  return found.map((candidate) => ({ word: candidate, trust: TRUST[best] ?? 0 }));
}

/** The word with each two neighboring letters swapped. */
export function swapsOf(word: string): string[] {
  return Array.from(
    { length: word.length - 1 },
    (_, at) => word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2),
  ).filter((other) => other !== word);
}

const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s"'<>]{1,2000}/gi;
const PATH =
  /(?<![\w:/\\])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@%+~-]{1,255}[/\\]){0,32}[\w.@%+~-]{1,255}/g;
const FILE_NAME = /(?<![\w./\\-])[\w-]{1,255}\.([A-Za-z0-9]{2,5})(?![\w/\\-])/g;

/** Replaces paths and URLs by what they are: `/tmp/q3/taxes.xlsx` asks for files, not for taxes. */
export function nameArguments(text: string): string {
  return text
    .replace(ADDRESS, " url ")
    .replace(PATH, (path) => ` file ${formatOf(path)} `)
    .replace(
      FILE_NAME,
      (name, ending: string) =>
        isFileEnding(ending.toLowerCase()) ? ` file ${formatOf(name)} ` : name,
    );
}

function isFileEnding(ending: string): boolean {
  // Node.js and its like are no files.
  return FILE_FORMATS.has(ending) && ending !== "js" && ending !== "ts";
}

function formatOf(path: string): string {
  const ending = /\.([A-Za-z0-9]{1,5})\.*$/.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return "";
  return `${ending} ${FILE_FORMATS.get(ending) ?? ""}`;
}
