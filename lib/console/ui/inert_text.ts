import { codePoints, HIDDEN, showHidden } from "../../core/hidden_text.ts";

/** A stretch of foreign text: either plain, or characters that would not be seen. */
export type InertPart = { text: string } | { hidden: string };

/** Beyond so many parts a page would choke on their elements: the rest is one text. */
const MOST_PARTS = 1_000;

/** Splits foreign text so that what is hidden in it can be shown. */
export function inertParts(text: string): InertPart[] {
  const parts: InertPart[] = [];
  let end = 0;
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    if (parts.length >= MOST_PARTS) return [...parts, { text: showHidden(text.slice(end)) }];
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ hidden: codePoints(run) });
    end = index + run.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The same in one string, for attributes: `a<U+202E>b`. */
export function inertString(text: string): string {
  return showHidden(text);
}
