import type { Decoded } from "./encoded.ts";

/** Common words as they look in each spelling: several of them, and the text is written in it. */
const SPELLINGS: readonly {
  how: string;
  marks: RegExp;
  least: number;
  read(text: string): string;
}[] = [
  {
    how: "letters moved by thirteen places",
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
    how: "numbers of characters",
    marks: /\b\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}, ?\d{2,3}\b/g,
    least: 1,
    read: (text) => text.replace(/\b\d{2,3}\b(?:, ?)?/g, (code) => fromCode(parseInt(code))),
  },
];

const DIGITS = new Map(
  Object.entries({ 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", "@": "a", $: "s" }),
);

/** A text as it reads in each spelling that it has marks of. */
export function respelled(text: string): Decoded[] {
  return SPELLINGS.flatMap(({ how, marks, least, read }) =>
    (text.match(marks)?.length ?? 0) >= least ? [{ text: read(text), how }] : []
  );
}

function rotated(letter: string): string {
  const base = letter <= "Z" ? 65 : 97;
  return String.fromCharCode((letter.charCodeAt(0) - base + 13) % 26 + base);
}

function fromCode(code: number): string {
  return code >= 32 && code < 127 ? String.fromCharCode(code) : " ";
}
