/** The candidate a person most likely meant, or undefined when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  // A typo is short; comparing a long text letter by letter would only cost time.
  if (wanted.length > 64) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The names closest to a mistyped one, best first; none where nothing is close. */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const rest = new Set(names);
  const found: string[] = [];
  const take = (name: string | undefined) => {
    if (name === undefined || !rest.delete(name)) return false;
    found.push(name);
    return true;
  };
  while (found.length < limit && take(nearest(wanted, rest)));
  const part = wanted.toLowerCase();
  if (part.length < 3) return found;
  for (const name of rest) {
    if (found.length >= limit) break;
    const candidate = name.toLowerCase();
    if (candidate.includes(part) || (candidate.length > 2 && part.includes(candidate))) take(name);
  }
  return found;
}

/** Insertions, deletions, replacements and swaps of neighbors that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? a.length;
}
