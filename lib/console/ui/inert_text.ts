/** A stretch of foreign text: either plain, or one character that would not be seen. */
export type InertPart = { text: string } | { hidden: string };

/**
 * Characters that change how text reads without being seen: control characters, direction
 * overrides, zero-width spaces and Unicode tags. A tool's description can carry orders to a model
 * in them, so the console shows each by its code point.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/u;

/** Splits foreign text so that what is hidden in it can be shown. */
export function inertParts(text: string): InertPart[] {
  if (!HIDDEN.test(text)) return text === "" ? [] : [{ text }];
  const parts: InertPart[] = [];
  let plain = "";
  for (const character of text) {
    if (!HIDDEN.test(character)) {
      plain += character;
      continue;
    }
    if (plain !== "") parts.push({ text: plain });
    plain = "";
    parts.push({ hidden: codePoint(character) });
  }
  if (plain !== "") parts.push({ text: plain });
  return parts;
}

/** The same in one string, for attributes: `a<U+202E>b`. */
export function inertString(text: string): string {
  return inertParts(text).map((part) => "text" in part ? part.text : `<${part.hidden}>`).join("");
}

function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
