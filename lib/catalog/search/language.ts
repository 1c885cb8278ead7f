import { isStopWord } from "./data/stop_words.ts";

/** Short words that only other languages have; a query with several of them is not English. */
const FOREIGN = new Set(
  `le la les un une des du et est pour avec dans sur qui que quel quelle mon ma mes ce cette moi je nous
  vous il elle aux der die das den dem ein eine einen einem einer und ist sind mit auf im fur für nicht
  ich mir mich zu zum zur von vom wie alle bitte el los las una y es por para con en del al mi mis
  como cual qué cómo todos lo gli di e per il nel della dei che sono mio mia tutti o os um uma com não
  nao meu minha todas de het een van niet voor met op naar deze dat och att det som på med till är
  w na z do jest dla nie og til af ve bir bu için mitt alla aan ook je på från`.split(/\s+/),
);
/** English too, though other languages have them more. */
const BOTH = new Set([
  "die",
  "do",
  "in",
  "on",
  "me",
  "an",
  "as",
  "no",
  "to",
  "y",
  "e",
  "o",
  "z",
  "w",
]);
const LATIN_WORD = /[A-Za-z\u00c0-\u024f]+/g;
const OTHER_SCRIPT = /[^\P{L}\p{sc=Latin}]/gu;

/**
 * Whether the query is in another language than the tools: in another script for the most part, or
 * with more signs of another language than of English. `knows` says whether any tool has a word.
 */
export function isForeignText(text: string, knows: (word: string) => boolean): boolean {
  const words = text.match(LATIN_WORD) ?? [];
  const strange = text.match(OTHER_SCRIPT)?.length ?? 0;
  if (strange > 0) return strange * 4 > words.join("").length;
  let [signs, unknown, english] = [0, 0, 0];
  for (const [index, word] of words.entries()) {
    const lower = word.toLowerCase();
    // "Los Angeles" and "Le Mans" are names.
    const isName = index > 0 && word !== lower;
    if (isForeignWord(lower) && !isName) signs++;
    else if (/[\u00c0-\u024f]/.test(lower) && !isName && !knows(lower)) signs++;
    else if (isStopWord(lower)) english++;
    else if (knows(lower)) english += 0.5;
    else unknown += 0.5;
  }
  return signs > 0 && signs + unknown > english;
}

function isForeignWord(word: string): boolean {
  return FOREIGN.has(word) && !BOTH.has(word);
}

/** Without the short words of other languages: what is left may be shared with a tool. */
export function sharedText(text: string): string {
  return text.replace(LATIN_WORD, (word) => isForeignWord(word.toLowerCase()) ? " " : word);
}
