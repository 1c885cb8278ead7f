/** How much a word counts that stands in for a mistyped one, by the letters between them. */
const TRUST = [1, 0.6, 0.3];
const MOST_FOUND = 3;
/** Shorter words have too many neighbors. */
const SHORTEST = 4;
const LONGEST = 24;

export interface Correction {
  word: string;
  /** 0 to 1. */
  trust: number;
}

/** The known words closest to one that is not known, the closest first. */
export function correct(word: string, known: Iterable<string>): Correction[] {
  if (word.length < SHORTEST || word.length > LONGEST || /\p{N}/u.test(word)) return [];
  const most = word.length < 8 ? 1 : 2;
  let best = most;
  let found: string[] = [];
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > best || candidate.length < 3) continue;
    // Both ends wrong is no typo; this spares nearly all comparisons.
    if (candidate[0] !== word[0] && candidate.at(-1) !== word.at(-1)) continue;
    const letters = lettersBetween(word, candidate, best);
    if (letters > best) continue;
    if (letters < best) [best, found] = [letters, []];
    if (found.length < MOST_FOUND) found.push(candidate);
  }
  return found.map((candidate) => ({ word: candidate, trust: TRUST[best] ?? 0 }));
}

/** Insertions, deletions, replacements and swaps of neighbors; gives up beyond `most`. */
export function lettersBetween(one: string, other: string, most: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    [beforeLast, last] = [last, row];
  }
  return last[other.length]!;
}
