/** How well a query fits a text; the matched positions are for highlighting. */
export interface FuzzyMatch {
  score: number;
  positions: number[];
}

const BOUNDARY = /[\s._\-/:]/;

/**
 * Finds every character of the query in the text, in order. Runs, word starts and early places
 * count more, so that "gf" prefers `get_forecast` to `config`. Undefined where it does not fit.
 */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | undefined {
  const wanted = query.toLowerCase().replaceAll(/\s+/g, "");
  const lower = text.toLowerCase();
  if (wanted === "") return { score: 0, positions: [] };

  const whole = lower.indexOf(wanted);
  if (whole >= 0) {
    const bonus = isWordStart(text, whole) ? 60 : 30;
    const positions = Array.from(wanted, (_, index) => whole + index);
    return { score: 100 + bonus - Math.min(whole, 20) - text.length / 50, positions };
  }

  const positions = place(wanted, text, lower);
  if (positions === undefined) return undefined;
  let score = 0;
  positions.forEach((at, index) => {
    score += 4;
    if (at === (positions[index - 1] ?? -2) + 1) score += 4;
    if (isWordStart(text, at)) score += 6;
  });
  const spread = (positions.at(-1) ?? 0) - (positions[0] ?? 0);
  return { score: score - spread / 8 - text.length / 50, positions };
}

/** Takes word starts first where the rest still fits after them, else the next place. */
function place(wanted: string, text: string, lower: string): number[] | undefined {
  const positions: number[] = [];
  let from = 0;
  for (let index = 0; index < wanted.length; index++) {
    const character = wanted[index] ?? "";
    const next = lower.indexOf(character, from);
    if (next < 0) return undefined;
    let chosen = next;
    for (let at = next; at >= 0; at = lower.indexOf(character, at + 1)) {
      if (isWordStart(text, at) && isSubsequence(wanted.slice(index + 1), lower.slice(at + 1))) {
        chosen = at;
        break;
      }
    }
    const previous = positions.at(-1);
    if (previous !== undefined && next === previous + 1) chosen = next;
    positions.push(chosen);
    from = chosen + 1;
  }
  return positions;
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text[at - 1] ?? "";
  const here = text[at] ?? "";
  return BOUNDARY.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here));
}

function isSubsequence(wanted: string, text: string): boolean {
  let at = 0;
  for (const character of wanted) {
    at = text.indexOf(character, at);
    if (at < 0) return false;
    at++;
  }
  return true;
}
