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

/** A foreign text in one line for whoever decides by it: what would not be seen is shown. */
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
