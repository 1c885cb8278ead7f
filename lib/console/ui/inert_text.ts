/** A stretch of foreign text: either plain, or characters that would not be seen. */
export type InertPart = { text: string } | { hidden: string };

/**
 * Characters that change how text reads without being seen: control characters, direction
 * overrides, zero-width spaces, blank letters and Unicode tags. A tool's description can carry orders to a model
 * in them, so the console shows them by their code points.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]+/gu;
/** Beyond so many parts a page would choke on their elements: the rest is one text. */
const MOST_PARTS = 1_000;

/** Splits foreign text so that what is hidden in it can be shown. */
export function inertParts(text: string): InertPart[] {
  const parts: InertPart[] = [];
  let end = 0;
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    if (parts.length >= MOST_PARTS) {
      const rest = text.slice(end).replace(HIDDEN, (run) => `<${codePoints(run)}>`);
      return [...parts, { text: rest }];
    }
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ hidden: codePoints(run) });
    end = index + run.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The same in one string, for attributes: `a<U+202E>b`. */
export function inertString(text: string): string {
  return inertParts(text).map((part) => "text" in part ? part.text : `<${part.hidden}>`).join("");
}

/** Each character once for all times that it follows itself: `U+200B ×3 U+202E`. */
function codePoints(run: string): string {
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
