import { nearest } from "../config/nearest.ts";

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
