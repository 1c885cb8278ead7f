/** How far from its end a part may be cut for the sake of a better place. */
const SEARCHED = 0.25;

/** Where a text is best cut so that its first part has at most `most` characters. */
export function cutPlace(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const earliest = Math.floor(most * (1 - SEARCHED));
  for (const mark of ["\n\n", "\n", ". ", " "]) {
    const at = text.lastIndexOf(mark, most - mark.length);
    if (at > 0 && at + mark.length >= earliest) return at + mark.length;
  }
  // Half of a character is none.
  const isHalf = most > 1 && /[\uD800-\uDBFF]/.test(text[most - 1]!);
  return Math.max(1, isHalf ? most - 1 : most);
}

/** A text in parts of at most so many characters, which together are the text. */
export function inParts(text: string, most: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const part = text.slice(at, at + most + 1);
    const length = cutPlace(part, most);
    parts.push(part.slice(0, length));
    at += length;
  }
  return parts;
}
