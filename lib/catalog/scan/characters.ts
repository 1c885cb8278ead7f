import { excerptOf, type Finding, type Severity } from "./finding.ts";
import { LOOKALIKES } from "./lookalikes.ts";

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
