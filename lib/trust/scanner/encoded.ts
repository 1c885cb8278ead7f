import type { PassageSpan } from "./definition.ts";
import {
  BASE32,
  BASE64,
  BITS,
  DIGITS,
  ENTITIES,
  ESCAPED,
  HEX,
  LONG,
  PAIRS,
  PERCENT,
  SPACED,
} from "./data/encodings.ts";

/** A text that was found inside another one, in another alphabet. */
interface Decoded {
  text: string;
  how: string;
  /** Where it is in the text around it. */
  span: PassageSpan;
}

/** Enough for any message; a longer one is still read at its start. */
const LONGEST = 4_000;
const MOST = 20;

/** Every piece of a text that decodes to words. */
export function decodedIn(text: string): Decoded[] {
  const found: Decoded[] = [];
  const look = (expression: RegExp, how: string, decode: (piece: string) => string | undefined) => {
    for (const match of text.matchAll(expression)) {
      if (found.length >= MOST) return;
      const decoded = decode(match[0].slice(0, LONGEST));
      if (decoded === undefined || !isProse(decoded)) continue;
      found.push({ text: decoded, how, span: [match.index, match.index + match[0].length] });
    }
  };
  if (LONG.test(text)) {
    look(BASE64, "base64", fromBase64);
    look(HEX, "hexadecimal digits", fromHex);
    look(BASE32, "base32", fromBase32);
  }
  if (PAIRS.test(text)) {
    look(SPACED, "hexadecimal digits", (piece) => fromHex(piece.replace(/[ :,-]/g, "")));
    look(BITS, "bits", fromBits);
  }
  if (text.includes("%")) look(PERCENT, "percent escapes", fromPercent);
  if (text.includes("\\")) look(ESCAPED, "escapes", fromEscapes);
  if (text.includes("&#")) look(ENTITIES, "character references", fromEntities);
  return found;
}

/** The text behind a row of tag characters, which are ASCII moved out of sight. */
export function fromTags(text: string): string {
  let plain = "";
  // All of them are pairs that begin with this one.
  if (!text.includes("\uDB40")) return plain;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code >= 0xE0020 && code <= 0xE007E) plain += String.fromCodePoint(code - 0xE0000);
  }
  return plain;
}

/** At least three words, and no control characters. */
function isProse(text: string): boolean {
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x08\x0e-\x1f\x7f\uFFFD]/.test(text)) return false;
  return (text.match(/\p{L}{2,}(?=[\s.,:;!?]|$)/gu) ?? []).length >= 3;
}

function fromBase64(piece: string): string | undefined {
  // A path or a long identifier has this alphabet too, but hardly ever both cases and a digit.
  if (!/[A-Z]/.test(piece) || !/[a-z]/.test(piece)) return undefined;
  const whole = piece.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  const usable = whole.slice(0, whole.length - (whole.length % 4 === 1 ? 1 : 0));
  return utf8(Uint8Array.fromBase64(usable));
}

function fromBase32(piece: string): string {
  let bits = "";
  for (const letter of piece.replace(/=+$/, "")) {
    bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  }
  return fromBits(bits);
}

function fromBits(piece: string): string {
  const bytes = piece.match(/[01]{8}/g) ?? [];
  return utf8(Uint8Array.from(bytes, (bits) => parseInt(bits, 2)));
}

function fromHex(piece: string): string {
  const digits = piece.replace(/^0x/, "");
  // A piece that was cut may end in half a byte.
  return utf8(Uint8Array.fromHex(digits.slice(0, digits.length & ~1)));
}

function fromPercent(piece: string): string {
  return piece.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => fromHex(run.replaceAll("%", "")));
}

function fromEscapes(piece: string): string {
  return piece.replace(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/g,
    (_, braced: string, four: string, two: string) => fromCode(parseInt(braced ?? four ?? two, 16)),
  );
}

function fromEntities(piece: string): string {
  return piece.replace(
    /&#(?:x([0-9a-fA-F]+)|(\d+));/g,
    (_, hex: string, decimal: string) =>
      fromCode(hex === undefined ? Number(decimal) : parseInt(hex, 16)),
  );
}

function fromCode(code: number): string {
  return code <= 0x10FFFF ? String.fromCodePoint(code) : "";
}

function utf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Common words as they look in each spelling: several of them, and the text is written in it. */
const SPELLINGS: readonly {
  how: string;
  marks: RegExp;
  least: number;
  read(text: string): string;
}[] = [
  {
    how: "ROT13",
    marks:
      /\b(gur|naq|lbh|lbhe|sbe|jvgu|sebz|guvf|gung|hfre|gbby|nyy|vagb|grkg|fraq|ernq|bar|ab)\b/gi,
    least: 3,
    read: (text) => text.replace(/[a-z]/gi, rotated),
  },
  {
    how: "reversed letters",
    marks:
      /\b(eht|dna|uoy|ruoy|resu|siht|loot|lla|morf|htiw|otni|dnes|daer|neht|eteled|yek|nekot)\b/gi,
    least: 2,
    read: (text) => text.split("\n").map((line) => [...line].reverse().join("")).join("\n"),
  },
  {
    how: "digits in place of letters",
    marks: /\b[a-z]{0,20}(?:[a-z][013457][a-z]|[013457][a-z]{1,3}[013457])[a-z013457]{0,20}\b/gi,
    least: 3,
    read: (text) =>
      text.replace(
        /\b[a-z013457@$]*[a-z][a-z013457@$]*\b/gi,
        (word) => word.replace(/[013457@$]/g, (digit) => DIGITS.get(digit) ?? digit),
      ),
  },
  {
    how: "character codes",
    marks: /\b\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}\b/g,
    least: 1,
    read: (text) => text.replace(/\b\d{2,3}\b(?:, ?)?/g, (code) => asciiOf(parseInt(code))),
  },
];

/** A text as it reads in each spelling that it has marks of. */
export function respelled(text: string): Decoded[] {
  return SPELLINGS.flatMap(({ how, marks, least, read }): Decoded[] =>
    (text.match(marks)?.length ?? 0) >= least
      ? [{ text: read(text), how, span: [0, text.length] }]
      : []
  );
}

function rotated(letter: string): string {
  const base = letter <= "Z" ? 65 : 97;
  return String.fromCharCode((letter.charCodeAt(0) - base + 13) % 26 + base);
}

function asciiOf(code: number): string {
  return code >= 32 && code < 127 ? String.fromCharCode(code) : " ";
}
