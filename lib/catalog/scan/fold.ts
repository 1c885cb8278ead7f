import { LOOKALIKES } from "./lookalikes.ts";

/** A text as the phrase rules read it, and where each of its characters came from. */
export interface Folded {
  /** Lower case, plain letters, no quotes or emphasis; a line break ends a sentence. */
  text: string;
  /** For each character of `text`, its place in the original. */
  at: readonly number[];
  /** The text as it came. */
  original: string;
}

const QUOTES = "\"'`*´‘’“”«»„";
const ABBREVIATED = /\b(e\.g|i\.e|ex|vs)\.$/i;
const SPACE = /\s/;
const PLAIN = /^[\x21-\x7E]+$/;
const MARKS = /\p{M}/gu;
const MARK = /\p{M}/u;
const LATIN = /\p{Script=Latin}/u;
export const INVISIBLE =
  /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\u{E0000}-\u{E007F}\u{E0100}-\u{E01EF}]/u;

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
