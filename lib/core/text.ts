/** A text of at most so many characters; one that was longer ends in an ellipsis. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  // Half of a character is none.
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** "1 run", "2 runs". */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

/** A value as one field of a CSV file, quoted where it has to be. */
export function csvField(value: string | number | null | undefined): string {
  if (typeof value !== "string") return value === null || value === undefined ? "" : `${value}`;
  // What a spreadsheet would run as a formula stays text, in whatever way it is spelled.
  const safe = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The candidate a person most likely meant, or undefined when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return closest(word, candidates, 1)[0];
}

/** The same as advice; without a close candidate, other advice. */
export function nearestOr(word: string, candidates: Iterable<string>, otherwise: string): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? otherwise : `Did you mean ${guess}?`;
}

/** The hint of an error that has these names near the unknown one. */
export function didYouMean(near: readonly string[]): { hint?: string } {
  return near.length === 0 ? {} : { hint: `Did you mean ${near.join(", ")}?` };
}

/** The names closest to a mistyped one, best first; none if nothing is close. */
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
    // Later ones have to be better than the last one.
    if (best.length === limit) most = best.at(-1)!.distance - 1;
    if (most < 0) break;
  }
  return best.map(({ candidate }) => candidate);
}

/** Counts swaps of neighbors as one edit; any number above `most` where there are more. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const width = b.length + 1;
  // Names close to a word of 64 letters are short enough for a byte to count.
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

/**
 * Characters that change how text reads without being seen: control characters, direction
 * overrides, zero-width spaces, blank letters and Unicode tags. A tool's description can carry
 * orders to a model in them, and a command line can read as another one, so they are shown by their
 * code points wherever a person looks.
 */
export const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]+/gu;

/** The text with what is hidden in it shown: `a<U+202E>b`. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (run) => `<${codePoints(run)}>`);
}

/** A foreign text in one line, for a person who decides by it: hidden characters are shown. */
export function shownLine(text: string): string {
  // First: some of what is hidden counts as space.
  return showHidden(text).replace(/\s+/g, " ");
}

/** JSON of the same value in which nothing is hidden. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(HIDDEN, (run) =>
    // By UTF-16 units, as JSON writes what is beyond four digits.
    run.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));
}

/** Each character once for all times that it follows itself: `U+200B ×3 U+202E`. */
export function codePoints(run: string): string {
  const counted: { character: string; times: number }[] = [];
  for (const character of run) {
    const last = counted.at(-1);
    if (last?.character === character) last.times++;
    else counted.push({ character, times: 1 });
  }
  return counted.map(({ character, times }) =>
    times === 1 ? codePoint(character) : `${codePoint(character)} ×${times}`
  ).join(" ");
}

function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The reason of a ready server, if there is no other. */
export const CONNECTED = "Connected";
/** Ends the reason of a server that the gateway retries at its `retryAt`. */
export const TRYING_AGAIN = "retrying soon";

/** A time limit as people read it. */
export function durationText(ms: number): string {
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`;
}
