import { configError } from "./files.ts";

/** What a shell would act on; a program is started without one. */
const OPERATOR = /^(?:&&?|\|\|?|;|>>?|<|\d?>&?\d?)$/;

/**
 * Splits a command line as a shell would: quotes, backslashes, lines that go on. Nothing is
 * replaced in it, and what only a shell can do is refused.
 */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  let quote = "";
  const end = () => {
    if (word === undefined) return;
    if (!isQuoted && OPERATOR.test(word)) {
      throw configError(
        `Cannot use "${word}" in a command: no shell is involved`,
        "Use one program with its arguments, or put the rest into a script",
      );
    }
    words.push(word);
    word = undefined;
    isQuoted = false;
  };
  // A prompt that was copied along is not part of the command.
  const text = line.trim().replace(/^\$ /, "");
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    const next = text[at + 1];
    if (quote !== "") {
      const isEscape = quote === '"' && character === "\\" && /["\\$`]/.test(next ?? "");
      if (character === quote) quote = "";
      else if (isEscape) word += text[++at]!;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      isQuoted = true;
      word ??= "";
    } else if (character === "\\" && /^(?:\r?\n)/.test(text.slice(at + 1, at + 3))) {
      at += next === "\r" ? 2 : 1;
      end();
    } else if (character === "\\" && next !== undefined && /[\s"'\\&|;<>()$`*?#~]/.test(next)) {
      // Elsewhere it is part of a path, as Windows writes them.
      word = (word ?? "") + next;
      isQuoted = true;
      at++;
    } else if (/\s/.test(character)) {
      end();
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== "") {
    throw configError(
      `Cannot read the command: a ${quote} is not closed`,
      `Add the closing ${quote}`,
    );
  }
  end();
  return words;
}

/** A line that `splitCommand()` splits into these words again. */
export function joinCommand(words: readonly string[]): string {
  return words.map((word) => {
    if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
    return `'${word.replaceAll("'", `'"'"'`)}'`;
  }).join(" ");
}
