import type { Passage } from "./detect.ts";

/** Characters that may hide something; nearly no text has them. */
export const HIDING =
  // deno-lint-ignore no-control-regex
  /[\u001b\u009b\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uff01-\uff5e\ufff9-\ufffb]|\udb40[\udc00-\uddef]|\ud835|[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]/i;

/** England, Scotland and Wales: a black flag and the letters of the country as tags. */
const FLAG = /\ud83c\udff4(?:\udb40[\udc20-\udc7e]){2,7}\udb40\udc7f/g;
/** The tags of a flag, its end included. */
const LONGEST_FLAG = 16;
const TAGS = /(?:\udb40[\udc00-\udc7f])+/g;
/** Variation selectors in a run, each a byte of another text. */
const SELECTORS = /(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){3,}/g;
/** Invisible ones in a run of several; one between letters joins or separates words. */
const INVISIBLE =
  /[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff]{4,}/g;
/** A text whose letters have one of these between them, again and again. */
const SPRINKLED = /(?:[a-z][\u00ad\u200b-\u200d\u2060-\u2064\ufeff]){3,}[a-z]/gi;
/** An order of reading imposed on text that has no right-to-left letter. */
const REORDERED = /[\u202b\u202e\u2067][^\n\u202c\u2069]*[\u202c\u2069]?/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud802|\ud803|\ud83a|\ud83b/;
/** Commands to a terminal that hide, move or overwrite; colors are none. */
const TERMINAL =
  // deno-lint-ignore no-control-regex
  /(?:\u001b\[|\u009b)([0-9;:?]{0,40})([A-Za-z])|\u001b[\]P^_X][^\u001b\u0007\n]{0,400}(?:\u0007|\u001b\\)?/g;

/** The passages of a text that a person does not see, or sees otherwise than a model reads them. */
export function findHidden(text: string): Passage[] {
  if (!HIDING.test(text)) return [];
  const found: Passage[] = [];
  const add = (rule: string, why: string, start: number, length: number) =>
    found.push({ kind: "hidden", rule, why, start, end: start + length });
  const flagEnds = new Set(
    [...text.matchAll(FLAG)].map(({ index, 0: flag }) => index + flag.length),
  );
  for (const { index, 0: tags } of text.matchAll(TAGS)) {
    // A run that goes on after its flag has ended hides something.
    const isFlag = tags.length <= LONGEST_FLAG && flagEnds.has(index + tags.length);
    if (!isFlag) add("tags", "is text in invisible tag characters", index, tags.length);
  }
  for (const { index, 0: run } of text.matchAll(SELECTORS)) {
    add("selectors", "is a run of variation selectors, which can encode text", index, run.length);
  }
  for (const { index, 0: run } of text.matchAll(INVISIBLE)) {
    // Padding of one sign says nothing; letters of two or more can.
    if (new Set(run).size > 1 || run.length > 40) {
      add(
        "zero-width",
        "is a run of invisible characters, which can encode text",
        index,
        run.length,
      );
    }
  }
  for (const { index, 0: word } of text.matchAll(SPRINKLED)) {
    const isHyphens = /^[^\u200b-\u200d\u2060-\u2064\ufeff]*$/.test(word);
    if (!isHyphens) {
      add("zero-width", "is a word with invisible characters inside", index, word.length);
    }
  }
  for (const { index, 0: passage } of text.matchAll(REORDERED)) {
    if (!RIGHT_TO_LEFT.test(passage) && /[a-z0-9].*[a-z0-9]/i.test(passage)) {
      add("bidi", "is text that is shown in another order than it is read", index, 1);
    }
  }
  for (const { index, 0: command, 1: numbers = "", 2: letter } of text.matchAll(TERMINAL)) {
    if (letter !== undefined && !hides(numbers, letter)) continue;
    add(
      "terminal",
      "is a command to a terminal that can hide or overwrite text",
      index,
      command.length,
    );
  }
  return found;
}

function hides(numbers: string, letter: string): boolean {
  if (letter === "m") {
    return /(?:^|;)0?8(?:;|$)/.test(numbers.replace(/[34]8;(?:5;\d+|2;\d+;\d+;\d+)/g, ""));
  }
  if (letter === "K") return numbers === "1" || numbers === "2";
  return !["h", "l"].includes(letter) || !numbers.startsWith("?");
}

const LOOKALIKES = new Map(
  Object.entries({
    а: "a",
    е: "e",
    о: "o",
    р: "p",
    с: "c",
    у: "y",
    х: "x",
    і: "i",
    ј: "j",
    ѕ: "s",
    һ: "h",
    ԁ: "d",
    ԛ: "q",
    ԝ: "w",
    ո: "n",
    А: "A",
    В: "B",
    Е: "E",
    К: "K",
    М: "M",
    Н: "H",
    О: "O",
    Р: "P",
    С: "C",
    Т: "T",
    Х: "X",
    І: "I",
    Ѕ: "S",
    ο: "o",
    α: "a",
    ν: "v",
    ρ: "p",
    ι: "i",
    κ: "k",
    υ: "u",
    Α: "A",
    Β: "B",
    Ε: "E",
    Ι: "I",
    Κ: "K",
    Μ: "M",
    Ν: "N",
    Ο: "O",
    Ρ: "P",
    Τ: "T",
    Χ: "X",
  }),
);
const DROPPED =
  /[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]/;
/** Longer texts are folded no further. */
const MOST_FOLDED = 2_000_000;

/** A text without invisible characters and with plain letters, and where each character came from. */
export function foldText(text: string): { text: string; places: number[] } | undefined {
  if (text.length > MOST_FOLDED) return undefined;
  const places: number[] = [];
  let folded = "";
  let place = 0;
  for (const sign of text) {
    const at = place;
    place += sign.length;
    const code = sign.codePointAt(0)!;
    let plain = sign;
    if (code >= 0xe0020 && code <= 0xe007e) plain = String.fromCharCode(code - 0xe0000);
    else if (code >= 0xe0000 && code <= 0xe01ef || DROPPED.test(sign)) plain = "";
    else if (code > 0x7f) plain = LOOKALIKES.get(sign) ?? sign.normalize("NFKC");
    folded += plain;
    for (let i = 0; i < plain.length; i++) places.push(at);
  }
  return folded === text ? undefined : { text: folded, places };
}

/** What stands for a hidden passage in a text that is passed on. */
export function neutralized({ rule }: Pick<Passage, "rule">, passage: string): string {
  if (rule === "terminal") {
    // deno-lint-ignore no-control-regex
    return passage.replaceAll(/[\u001b\u009b]/g, "\u241b").replaceAll("\u0007", "\u2407");
  }
  if (rule === "bidi") {
    return `[U+${passage.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`;
  }
  if (rule === "zero-width" && /[a-z]/i.test(passage)) {
    return passage.replaceAll(/[\u00ad\u200b-\u200f\u2060-\u206f\ufeff]/g, "");
  }
  return `[${[...passage].length} invisible characters removed]`;
}
