import { LANGUAGES } from "./languages.ts";

/** Letters of scripts whose words are found as pieces of text: no spaces, or joined small words. */
const JOINED = /[\u0590-\u06FF\u0900-\u09FF\u0E00-\u0E7F\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/;

let known: Map<string, string[]> | undefined;

export function isJoined(text: string): boolean {
  return JOINED.test(text);
}

/** The known words in a row of letters that does not part them, and where each begins. */
export function piecesOf(chunk: string): { word: string; at: number }[] {
  const words = known ??= byFirstLetter();
  const found: { word: string; at: number }[] = [];
  for (let at = 0; at < chunk.length; at++) {
    const word = words.get(chunk[at]!)?.find((each) => chunk.startsWith(each, at));
    if (word === undefined) continue;
    found.push({ word, at });
    at += word.length - 1;
  }
  return found;
}

/** The longest first, since a short word may begin a long one. */
function byFirstLetter(): Map<string, string[]> {
  const words = Object.values(LANGUAGES).flatMap((list) => list.split(" ")).filter(isJoined);
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length);
  return Map.groupBy(longestFirst, (word) => word[0]!);
}
