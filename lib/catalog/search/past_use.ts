import type { SearchPick } from "../../core/tool.ts";
import { stemsOf } from "./text.ts";

/** The share of words that two queries have in common, from which on they ask for the same. */
const LEAST_ALIKE = 0.5;

const stemsByPick = new WeakMap<SearchPick, ReadonlySet<string>>();

/** How far tools were called after such a search, 0 to 1, by key. */
export function usedAfter(query: string, picks: readonly SearchPick[]): Map<string, number> {
  const used = new Map<string, number>();
  const asked = picks.length === 0 ? new Set<string>() : new Set(stemsOf(query));
  if (asked.size === 0) return used;
  for (const pick of picks) {
    let stems = stemsByPick.get(pick);
    if (!stems) stemsByPick.set(pick, stems = new Set(stemsOf(pick.query)));
    const alike = asked.intersection(stems).size / asked.union(stems).size;
    if (alike < LEAST_ALIKE) continue;
    // One call may be a mistake.
    const strength = alike * (1 - 0.5 ** pick.times);
    used.set(pick.key, Math.max(strength, used.get(pick.key) ?? 0));
  }
  return used;
}
