import type { Finding, Severity } from "../../catalog/tool_guard.ts";
import type { PassageSpan } from "./definition.ts";
import {
  CONTROLS,
  DRESSED,
  EMBEDDINGS,
  ESCAPES,
  FLAGS,
  INVISIBLE,
  INVISIBLES,
  JOINED,
  LOOKALIKE_PAIRS,
  OVERRIDES,
  RIGHT_TO_LEFT,
  SELECTORS,
  SPELLED_ESCAPE,
  TAGS,
  UNSEEN,
  UNUSUAL,
  WORDS,
} from "./data/characters.ts";

/** Finds characters that a person does not see, or sees in another order than a model reads. */
export function scanCharacters(where: string, text: string): Finding[] {
  const found: Finding[] = [];
  const note = (rule: string, severity: Severity, [from, to]: PassageSpan, why: string) => {
    if (from < 0) return;
    found.push({ rule, severity, where, excerpt: excerptOf(text, from), why, span: [from, to] });
  };
  const spelled = spanOf(text, SPELLED_ESCAPE);
  note("control-characters", "medium", spelled, "It spells out a terminal escape sequence");
  if (!UNUSUAL.test(text)) return found;

  const tags = spanOf(text.replace(FLAGS, (flag) => " ".repeat(flag.length)), TAGS);
  note("invisible-characters", "high", tags, "It contains text in invisible characters");
  note(
    "invisible-characters",
    "high",
    spanOf(text, SELECTORS),
    "It contains a run of variation selectors, which can encode hidden text",
  );
  const invisible = invisiblesIn(text);
  const isName = where === "name" || /\.properties\.[^.]*$/.test(where);
  note(
    "invisible-characters",
    isName || invisible.length > 3 ? "high" : "medium",
    [invisible[0] ?? -1, (invisible.at(-1) ?? -1) + 1],
    "It contains invisible characters",
  );
  const override = spanOf(text, OVERRIDES);
  const reorders = "It makes text appear in a different order than it is stored in";
  note("bidirectional-characters", "high", override, reorders);
  if (override[0] < 0 && !RIGHT_TO_LEFT.test(text)) {
    const why = "It changes the direction of text that is entirely left-to-right";
    note("bidirectional-characters", "medium", spanOf(text, EMBEDDINGS), why);
  }
  const escape = spanOf(text, ESCAPES);
  const commands = "It contains terminal escape sequences, which can hide or change displayed text";
  note("control-characters", "high", escape, commands);
  if (escape[0] < 0) {
    note("control-characters", "medium", spanOf(text, CONTROLS), "It contains control characters");
  }
  const dressed = "It is written in look-alike letters that a text search does not find";
  note("mixed-scripts", "medium", spanOf(text, DRESSED), dressed);
  const mixed = mixedWord(text);
  note("mixed-scripts", "medium", [mixed, mixed], "A word mixes look-alike letters of two scripts");
  return found;
}

/** From the first match to the end of the last one; -1 if there is none. */
function spanOf(text: string, expression: RegExp): PassageSpan {
  const first = text.search(expression);
  if (first < 0) return [-1, -1];
  const flags = expression.flags.replace("g", "") + "g";
  let end = first;
  for (const { 0: match, index } of text.matchAll(new RegExp(expression.source, flags))) {
    end = index + match.length;
  }
  return [first, end];
}

/** Where the invisible characters are that no spelling asks for. */
function invisiblesIn(text: string): number[] {
  const places: number[] = [];
  for (const match of text.matchAll(INVISIBLES)) {
    const at = match.index;
    if (at === 0 && match[0] === "\uFEFF") continue;
    const isJoiner = match[0] === "\u200D" || match[0] === "\u200C";
    // Two units on each side: a character may be a pair of surrogates.
    const [left, right] = [text.slice(Math.max(0, at - 2), at), text.slice(at + 1, at + 3)];
    if (isJoiner && JOINED.test(left) && JOINED.test(right)) continue;
    places.push(at);
  }
  // A hyphen that shows only at the end of a line is typography, until it is everywhere.
  const soft = places.filter((at) => text[at] === "\u00AD");
  return soft.length === places.length && soft.length <= 3 ? [] : places;
}

/** The first word of four letters and more with Latin letters and others that look like them, or -1. */
function mixedWord(text: string): number {
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    if (!UNUSUAL.test(word) || !/[a-z]{2}/i.test(word)) continue;
    if ([...word].some((letter) => letter > "\u024F" && LOOKALIKES.has(letter))) return index;
  }
  return -1;
}

/** A text as the phrase rules read it, and where each of its characters came from. */
export interface Folded {
  /** Lower case, plain letters, no quotes or emphasis; a line break ends a sentence. */
  text: string;
  /** For each character of `text`, its place in the original. */
  at: readonly number[];
  original: string;
}

const QUOTES = "\"'`*´‘’“”«»„";
const ABBREVIATED = /\b(e\.g|i\.e|ex|vs)\.$/i;
const SPACE = /\s/;
const PLAIN = /^[\x21-\x7E]+$/;
const MARKS = /\p{M}/gu;
const MARK = /\p{M}/u;
const LATIN = /\p{Script=Latin}/u;

/**
 * Takes away what makes a phrase look different without reading differently: case, accents,
 * quotes, emphasis, invisible characters, wide letters, and letters of other scripts in the middle
 * of a Latin word.
 */
export function fold(original: string): Folded {
  const at: number[] = [];
  // Pieces, not one growing text: asking such a text for its end makes the engine copy it each time.
  const pieces: string[] = [];
  const known = new Map<string, string>();
  let last = "";
  /** Where the plain letters begin that are not among the pieces yet. */
  let begin = 0;
  const flush = (end: number) => {
    if (begin === end) return;
    pieces.push(original.slice(begin, end).toLowerCase());
    for (let i = begin; i < end; i++) at.push(i);
    last = original[end - 1]!.toLowerCase();
  };
  const push = (characters: string, place: number) => {
    if (characters === "") return;
    for (let i = 0; i < characters.length; i++) at.push(place);
    pieces.push(characters);
    last = characters;
  };
  for (let i = 0; i < original.length; i++) {
    const unit = original.charCodeAt(i);
    if (
      unit > 0x20 && unit <= 0x7F && unit !== 0x22 && unit !== 0x27 && unit !== 0x60 &&
      unit !== 0x2A
    ) {
      continue;
    }
    flush(i);
    const place = i;
    const code = original.codePointAt(i)!;
    const character = String.fromCodePoint(code);
    i += character.length - 1;
    begin = i + 1;
    if (code <= 0x20 || (code > 0x7F && SPACE.test(character))) {
      const isEnd = endsSentence(original, place, last);
      if (last === " " && isEnd) pieces[pieces.length - 1] = last = "\n";
      else if (last !== "" && last !== " " && last !== "\n") push(isEnd ? "\n" : " ", place);
    } else if (code <= 0x7F) {
      // A quote or emphasis, which says nothing.
    } else if (LOOKALIKES.has(character) && touchesLatin(original, place, last)) {
      push(LOOKALIKES.get(character)!.toLowerCase(), place);
    } else if (MARK.test(character) && /[a-z]$/.test(last)) {
      // Strokes and dots over a plain letter change its looks, not what a model reads.
    } else {
      let plain = known.get(character);
      if (plain === undefined) known.set(character, plain = plainOf(character));
      push(plain, place);
    }
  }
  flush(original.length);
  return { text: pieces.join(""), at, original };
}

/** What a character beyond ASCII reads as. */
function plainOf(character: string): string {
  if (QUOTES.includes(character) || INVISIBLE.test(character)) return "";
  if ("。！？；।".includes(character)) return "\n";
  // Accents go from Latin letters only: elsewhere the marks are part of the letters.
  return LATIN.test(character)
    ? character.normalize("NFKD").replace(MARKS, "").toLowerCase()
    : character.normalize("NFKC").toLowerCase();
}

/** A full stop before the space, or an empty line, or a line that starts an item. */
function endsSentence(original: string, at: number, last: string): boolean {
  if (last === "." && ABBREVIATED.test(original.slice(Math.max(0, at - 5), at))) return false;
  if (".!?;".includes(last)) return true;
  if (original[at] !== "\n") return false;
  return /^\n[ \t\r]*(\n|[-*•#|]|\d+[.)] )/.test(original.slice(at, at + 40));
}

/** Whether the letter before or after is a Latin one: then a lookalike stands in for another. */
function touchesLatin(original: string, at: number, before: string): boolean {
  return /[a-z]$/.test(before) || /^[a-z]/i.test(original.slice(at + 1, at + 2));
}

/** Equal for names that a person would take for the same: case, lookalikes, invisible letters. */
export function skeleton(name: string): string {
  let folded = PLAIN.test(name) ? name : "";
  for (const character of folded === "" ? name.normalize("NFKC") : "") {
    if (INVISIBLE.test(character)) continue;
    folded += LOOKALIKES.get(character) ?? character.normalize("NFKD").replace(MARKS, "");
  }
  return folded.toLowerCase().replaceAll("0", "o").replace(/[1|i]/g, "l").replaceAll("rn", "m");
}

/** From a lookalike to the Latin letter that it is taken for. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  LOOKALIKE_PAIRS.match(/../gu)?.map((pair) => [...pair] as [string, string]),
);

const LONGEST_EXCERPT = 160;
/** How much of what comes before is shown. */
const EXCERPT_BEFORE = 40;

/** What stands at `at` and around it, in one line and without tricks. */
export function excerptOf(text: string, at = 0): string {
  const start = Math.max(0, at - EXCERPT_BEFORE);
  const shown = visible(text.slice(start, start + LONGEST_EXCERPT).toWellFormed());
  const cut = (start > 0 ? "…" : "") + shown;
  return cut.length <= LONGEST_EXCERPT && start + LONGEST_EXCERPT >= text.length
    ? cut
    : `${cut.slice(0, LONGEST_EXCERPT - 1).toWellFormed()}…`;
}

/** The text with every unseen character written out, and line breaks as spaces. */
export function visible(text: string): string {
  return text.replace(/[\t\n\r ]+/g, " ").replace(UNSEEN, (character) => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `<U+${code}>`;
  });
}
