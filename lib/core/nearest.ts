/** The candidate a person most likely meant, or undefined when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return closest(word, candidates, 1)[0];
}

/** The names closest to a mistyped one, best first; none where nothing is close. */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const all = new Set(names);
  const found = closest(wanted, all, limit);
  const part = wanted.toLowerCase();
  if (part.length < 3) return found;
  for (const name of all) {
    if (found.length >= limit) break;
    const candidate = name.toLowerCase();
    const isPart = candidate.includes(part) || (candidate.length > 2 && part.includes(candidate));
    if (isPart && !found.includes(name)) found.push(name);
  }
  return found;
}

/** The best of them, in one pass: what cannot be among them is not compared to its end. */
function closest(word: string, candidates: Iterable<string>, limit: number): string[] {
  const wanted = word.toLowerCase();
  // A typo is short; comparing a long text letter by letter would only cost time.
  if (wanted.length > 64) return [];
  const best: { candidate: string; distance: number }[] = [];
  let most = Math.max(1, Math.floor(wanted.length / 3));
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase(), most);
    if (distance > most) continue;
    const later = best.findIndex((other) => other.distance > distance);
    best.splice(later === -1 ? best.length : later, 0, { candidate, distance });
    if (best.length > limit) best.pop();
    // Whoever comes later has to be better than the last one.
    if (best.length === limit) most = best.at(-1)!.distance - 1;
    if (most < 0) break;
  }
  return best.map(({ candidate }) => candidate);
}

/**
 * Insertions, deletions, replacements and swaps of neighbors that turn one word into the other; any
 * number above `most` where there are more.
 */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const width = b.length + 1;
  // Whoever is close to a word of 64 letters is short enough for a byte to count.
  const newRow = () => new Uint8Array(width);
  let [beforeLast, last, row] = [newRow(), newRow(), newRow()];
  for (let j = 0; j < width; j++) last[j] = j;
  let leastBefore = 0;
  for (let i = 1; i <= a.length; i++) {
    const [own, before] = [a.charCodeAt(i - 1), a.charCodeAt(i - 2)];
    row[0] = i;
    let least = i;
    for (let j = 1; j < width; j++) {
      const other = b.charCodeAt(j - 1);
      let cost = last[j - 1]! + (own === other ? 0 : 1);
      if (last[j]! < cost) cost = last[j]! + 1;
      if (row[j - 1]! < cost) cost = row[j - 1]! + 1;
      const isSwap = i > 1 && j > 1 && before === other && own === b.charCodeAt(j - 2);
      if (isSwap && beforeLast[j - 2]! < cost) cost = beforeLast[j - 2]! + 1;
      row[j] = cost;
      if (cost < least) least = cost;
    }
    // A swap reaches back two rows, and costs one: no row to come has less than this.
    if (Math.min(least, leastBefore + 1) > most) return most + 1;
    leastBefore = least;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return last[b.length]!;
}
