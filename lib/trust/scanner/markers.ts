import type { Finding } from "../../catalog/tool_guard.ts";
import { excerptOf, type Folded } from "./characters.ts";
import { ADDRESSES, FOREIGN_MARKERS, MARKED, MARKERS } from "./data/markers.ts";

/** Finds marks of messages, markup and commands, and orders in other languages. */
export function scanMarkers(where: string, original: string, folded: Folded): Finding[] {
  const found: Finding[] = [];
  for (const { rule, severity, expression, why, toEnd } of MARKED.test(original) ? MARKERS : []) {
    const match = expression.exec(original);
    if (!match) continue;
    const end = toEnd ? original.length : endOfElement(original, match);
    const excerpt = excerptOf(original, match.index);
    found.push({ rule, severity, where, excerpt, why, span: [match.index, end] });
  }
  for (const { rule, severity, expression, needs, why } of FOREIGN_MARKERS) {
    if (needs?.test(folded.text) === false) continue;
    const match = expression.exec(folded.text);
    if (!match) continue;
    const from = folded.at[match.index] ?? 0;
    const to = folded.at[match.index + match[0].length - 1] ?? from;
    found.push({
      rule,
      severity,
      where,
      excerpt: excerptOf(original, from),
      why,
      span: [from, to],
    });
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
    const match = iconsOnly && !isIcon ? null : expression.exec(text);
    if (!match) return [];
    const { index } = match;
    return [{
      rule: "addresses",
      severity: isIcon && asIcon || severity,
      where,
      excerpt: excerptOf(text, index),
      why,
      span: [index, index + match[0].length] as [number, number],
    }];
  });
}

/** Where what a mark opens is closed again, or the mark's own end. */
function endOfElement(text: string, { 0: mark, index }: RegExpExecArray): number {
  const end = index + mark.length;
  const name = /^<(\w{1,40})/.exec(mark)?.[1];
  const closing = mark.startsWith("<!--") ? "-->" : name === undefined ? "" : `</${name}`;
  const at = closing === "" ? -1 : text.indexOf(closing, index);
  return at < 0 ? end : Math.max(end, at + closing.length);
}
