import type { Finding } from "../../catalog/tool_guard.ts";
import { excerptOf, type Folded } from "./characters.ts";
import { ADDRESSES, FOREIGN_MARKERS, MARKED, MARKERS } from "./data/markers.ts";

/** Finds marks of messages, markup and commands, and orders in other languages. */
export function scanMarkers(where: string, original: string, folded: Folded): Finding[] {
  const found: Finding[] = [];
  for (const { rule, severity, expression, why } of MARKED.test(original) ? MARKERS : []) {
    const at = original.search(expression);
    if (at >= 0) found.push({ rule, severity, where, excerpt: excerptOf(original, at), why });
  }
  for (const { rule, severity, expression, needs, why } of FOREIGN_MARKERS) {
    if (needs?.test(folded.text) === false) continue;
    const place = folded.text.search(expression);
    if (place < 0) continue;
    const excerpt = excerptOf(original, folded.at[place]);
    found.push({ rule, severity, where, excerpt, why });
  }
  return found;
}

/** Some part of every address; most texts have no such sign within a word. */
const WITHIN = /[.:]\S/;

/** Finds addresses that run something, or that lead to where data are collected. */
export function scanAddresses(where: string, text: string): Finding[] {
  if (!WITHIN.test(text)) return [];
  const isIcon = where.startsWith("icons");
  return ADDRESSES.flatMap(({ severity, asIcon, iconsOnly, expression, why }) => {
    const at = iconsOnly && !isIcon ? -1 : text.search(expression);
    if (at < 0) return [];
    const excerpt = excerptOf(text, at);
    return [{ rule: "addresses", severity: isIcon && asIcon || severity, where, excerpt, why }];
  });
}
