import type { Finding, Severity } from "../../catalog/tool_guard.ts";

/** Cheap first look: a text without any of these needs no second one. */
const UNUSUAL = /[^\n\r\t\x20-\x7E]/;
const INVISIBLES =
  /[\u00AD\u034F\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200D\u2060-\u2064\u206A-\u206F\u3164\uFEFF\uFFA0]/gu;
const TAGS = /[\u{E0000}-\u{E007F}\u{E0100}-\u{E01EF}]/gu;
/** The flags of England, Scotland and Wales are spelled with tags. */
const FLAGS = /\u{1F3F4}[\u{E0061}-\u{E007A}]{2,6}\u{E007F}/gu;
const SELECTORS = /[\uFE00-\uFE0F]{2,}/u;
const OVERRIDES = /[\u202D\u202E]/u;
const EMBEDDINGS = /[\u202A-\u202C\u2066-\u2069]/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Where joiners are part of the spelling: emoji, Arabic and Persian, the scripts of India. */
const JOINED =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Mongolian}]/u;
// deno-lint-ignore no-control-regex
const ESCAPES = /\x1b[[\]PX^_]|\x9b/;
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
/** Two words in letters that only look like plain ones: mathematical, circled, wide. */
const DRESSED =
  /(?:[\u{1D400}-\u{1D7FF}\u{1F130}-\u{1F189}\u24B6-\u24E9\uFF21-\uFF5A]{2,40}[ \u3000]?){2}/u;
const WORDS = /\p{L}{4,40}/gu;
const SPELLED_ESCAPE = /(\\x1b|\\u001b|\\033|\\e)\[\d/i;

/** Finds characters that a person does not see, or sees in another order than a model reads. */
export function scanCharacters(where: string, text: string): Finding[] {
  const found: Finding[] = [];
  const note = (rule: string, severity: Severity, at: number, why: string) =>
    found.push({ rule, severity, where, excerpt: excerptOf(text, at), why });
  const spelled = text.search(SPELLED_ESCAPE);
  if (spelled >= 0) {
    note("control-characters", "medium", spelled, "It spells out a command to a terminal");
  }
  if (!UNUSUAL.test(text)) return found;

  const withoutFlags = text.replace(FLAGS, (flag) => " ".repeat(flag.length));
  const tag = withoutFlags.search(TAGS);
  if (tag >= 0) {
    note("invisible-characters", "high", tag, "It has text in characters that no screen shows");
  }
  const selectors = text.search(SELECTORS);
  if (selectors >= 0) {
    const why =
      "It has a row of characters that only choose a form, which can spell out hidden text";
    note("invisible-characters", "high", selectors, why);
  }
  const invisible = invisiblesIn(text);
  if (invisible.length > 0) {
    const isName = where === "name" || /\.properties\.[^.]*$/.test(where);
    const severity = isName || invisible.length > 3 ? "high" : "medium";
    note("invisible-characters", severity, invisible[0]!, "It has characters that no screen shows");
  }
  const override = text.search(OVERRIDES);
  if (override >= 0) {
    note(
      "bidirectional-characters",
      "high",
      override,
      "It shows text in another order than it has",
    );
  } else if (!RIGHT_TO_LEFT.test(text)) {
    const embedding = text.search(EMBEDDINGS);
    if (embedding >= 0) {
      const why = "It changes the direction of text that is all written from left to right";
      note("bidirectional-characters", "medium", embedding, why);
    }
  }
  const escape = text.search(ESCAPES);
  if (escape >= 0) {
    const why = "It has commands to a terminal, which can hide text or change what is shown";
    note("control-characters", "high", escape, why);
  } else {
    const control = text.search(CONTROLS);
    if (control >= 0) note("control-characters", "medium", control, "It has control characters");
  }
  const dressed = text.search(DRESSED);
  if (dressed >= 0) {
    const why = "It is written in letters that look like plain ones, which no search finds";
    note("mixed-scripts", "medium", dressed, why);
  }
  const mixed = mixedWord(text);
  if (mixed !== undefined) {
    const why = "A word is written with letters of two scripts that look alike";
    note("mixed-scripts", "medium", mixed, why);
  }
  return found;
}

/** Where the invisible characters are that no spelling asks for. */
function invisiblesIn(text: string): number[] {
  const places: number[] = [];
  for (const match of text.matchAll(INVISIBLES)) {
    const at = match.index;
    if (at === 0 && match[0] === "\uFEFF") continue;
    const isJoiner = match[0] === "\u200D" || match[0] === "\u200C";
    if (isJoiner && JOINED.test(before(text, at)) && JOINED.test(text.slice(at + 1, at + 3))) {
      continue;
    }
    places.push(at);
  }
  // A hyphen that shows only at the end of a line is typography, until it is everywhere.
  const soft = places.filter((at) => text[at] === "\u00AD");
  return soft.length === places.length && soft.length <= 3 ? [] : places;
}

/** The whole character before, a pair of surrogates too. */
function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - 2), at);
}

/** The first word of four letters and more with Latin letters and others that look like them. */
function mixedWord(text: string): number | undefined {
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    if (!UNUSUAL.test(word) || !/[a-z]{2}/i.test(word)) continue;
    if ([...word].some((letter) => letter > "\u024F" && LOOKALIKES.has(letter))) return index;
  }
  return undefined;
}

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
const INVISIBLE =
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

/** Letters of other scripts that are drawn like Latin ones, in pairs of theirs and ours. */
const LOOKALIKE_PAIRS =
  "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwкkмmтtвbнhгrёeАAВBЕEЗ3ІIЈJКKМMНHОOРPСCТTУYХXЅSԌG" +
  "οoνvρpυuιiκkχxΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
  "օoսuցgһhոnաwԱU" +
  "ɑaɡgıiʟlꓲIꓡLꓳOꓢSᴀaᴇeᴏoꜱsℓl";

/** From a lookalike to the Latin letter that it is taken for. */
const LOOKALIKES: ReadonlyMap<string, string> = pairsOf(LOOKALIKE_PAIRS);

function pairsOf(text: string): Map<string, string> {
  const characters = [...text];
  const pairs = new Map<string, string>();
  for (let i = 0; i + 1 < characters.length; i += 2) pairs.set(characters[i]!, characters[i + 1]!);
  return pairs;
}

const LONGEST_EXCERPT = 160;
/** How much of what comes before is shown. */
const EXCERPT_BEFORE = 40;

/** Format characters, controls, tags and separators that a screen shows as nothing, or as a jump. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu;

/** What stands at `at` and around it, in one line and without tricks. */
export function excerptOf(text: string, at = 0): string {
  const start = Math.max(0, at - EXCERPT_BEFORE);
  const piece = text.slice(start, start + LONGEST_EXCERPT).toWellFormed();
  const shown = visible(piece);
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
