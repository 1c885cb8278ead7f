/** How well a query fits a text; the matched positions are for highlighting. */
export interface FuzzyMatch {
  score: number;
  positions: number[];
}

const BOUNDARY = /[\s._\-/:]/;

/**
 * Finds every word of the query in the text: in one piece, or in pieces that each begin a word, so
 * that "gf" and "getfor" find `get_forecast`. Letters that are only scattered over it do not fit.
 * One piece, word starts and early places count more. Undefined where it does not fit.
 */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | undefined {
  const lower = text.toLowerCase();
  const whole = query.trim().toLowerCase();
  if (whole === "") return { score: 0, positions: [] };
  // Some letters get longer: then places in the one would not be places in the other.
  const searched = lower.length === text.length ? lower : text;
  const direct = inOnePiece(whole, text, searched, 0);
  if (direct !== undefined) return direct;

  let score = 0;
  let from = 0;
  const positions = new Set<number>();
  const words = whole.split(/\s+/);
  for (const word of words) {
    // In the order of the query where that is possible.
    const match = inOnePiece(word, text, searched, from) ?? inOnePiece(word, text, searched, 0) ??
      inPieces(word, text, searched);
    if (match === undefined) return undefined;
    score += match.score;
    from = (match.positions.at(-1) ?? 0) + 1;
    for (const at of match.positions) positions.add(at);
  }
  return { score: score / words.length, positions: [...positions].sort((a, b) => a - b) };
}

/** Rather at the start of a word than earlier within one. */
function inOnePiece(
  word: string,
  text: string,
  lower: string,
  from: number,
): FuzzyMatch | undefined {
  const first = lower.indexOf(word, from);
  if (first < 0) return undefined;
  let at = first;
  while (at >= 0 && !isWordStart(text, at)) at = lower.indexOf(word, at + 1);
  const chosen = at < 0 ? first : at;
  const bonus = at < 0 ? 30 : 60;
  return {
    score: 100 + bonus - Math.min(chosen, 20) - text.length / 50,
    positions: Array.from({ length: word.length }, (_, index) => chosen + index),
  };
}

function inPieces(word: string, text: string, lower: string): FuzzyMatch | undefined {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) if (isWordStart(text, at)) starts.push(at);
  const positions = piecesFrom(word, lower, starts, 0, 0, new Set());
  if (positions === undefined) return undefined;
  const pieces = positions.filter((at, index) => at !== (positions[index - 1] ?? -2) + 1).length;
  const spread = (positions.at(-1) ?? 0) - (positions[0] ?? 0);
  const score = 8 * positions.length + 2 * pieces - spread / 8 - text.length / 50;
  return { score, positions };
}

/** Places the rest of the word from one of the starts on; what failed once is not tried again. */
function piecesFrom(
  word: string,
  lower: string,
  starts: readonly number[],
  index: number,
  nth: number,
  failed: Set<number>,
): number[] | undefined {
  if (index === word.length) return [];
  const key = index * (starts.length + 1) + nth;
  if (failed.has(key)) return undefined;
  for (let next = nth; next < starts.length; next++) {
    const start = starts[next] ?? 0;
    let length = 0;
    while (index + length < word.length && lower[start + length] === word[index + length]) length++;
    for (; length > 0; length--) {
      const after = starts.findIndex((at) => at >= start + length);
      const rest = piecesFrom(
        word,
        lower,
        starts,
        index + length,
        after < 0 ? starts.length : after,
        failed,
      );
      if (rest) return [...Array.from({ length }, (_, place) => start + place), ...rest];
    }
  }
  failed.add(key);
  return undefined;
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text[at - 1] ?? "";
  const here = text[at] ?? "";
  return BOUNDARY.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here));
}
