const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The texts of an array's elements, as they came. The text must be a valid JSON array. */
export function elementTexts(text: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth++;
      if (depth === 1) start = at + 1;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    if (depth === 0 && code === CLOSE_BRACKET || depth === 1 && code === COMMA) {
      elements.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return elements.length === 1 && elements[0] === "" ? [] : elements;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
