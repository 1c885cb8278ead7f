/** Where a value stands in its text: `text.slice(start, end)`. */
export interface Span {
  start: number;
  end: number;
}

/**
 * The places of an object's members, so that one can be replaced while the rest stays the text that
 * came: parsing and printing again would lose digits of large numbers and the order of keys.
 * The text must be valid JSON with an object at `start`.
 */
export function memberSpans(text: string, start = 0): Map<string, Span> {
  const spans = new Map<string, Span>();
  eachMember(text, start, (name, span) => spans.set(name, span));
  return spans;
}

/** Visits an object's members one by one, also those whose name comes twice. */
export function eachMember(
  text: string,
  start: number,
  visit: (name: string, span: Span) => void,
): void {
  let at = skipSpace(text, start);
  if (text.charCodeAt(at) !== OPEN_BRACE) throw new SyntaxError("Not a JSON object");
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, at);
    const plain = text.slice(at + 1, keyEnd - 1);
    const key: string = plain.includes("\\") ? JSON.parse(text.slice(at, keyEnd)) : plain;
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = skipValue(text, valueStart);
    visit(key, { start: valueStart, end: valueEnd });
    at = skipSpace(text, valueEnd);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
    else if (text.charCodeAt(at) !== CLOSE_BRACE) throw new SyntaxError("Not valid JSON");
  }
}

/** The places of an array's elements. The text must be valid JSON with an array at `start`. */
export function elementSpans(text: string, start = 0): Span[] {
  const spans: Span[] = [];
  let at = skipSpace(text, start);
  if (text.charCodeAt(at) !== OPEN_BRACKET) throw new SyntaxError("Not a JSON array");
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at);
    spans.push({ start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
    else if (text.charCodeAt(at) !== CLOSE_BRACKET) throw new SyntaxError("Not valid JSON");
  }
  return spans;
}

/** The texts of an array's elements, as they came. */
export function elementTexts(text: string): string[] {
  return elementSpans(text).map(({ start, end }) => text.slice(start, end));
}

/** The text with one span replaced. */
export function replaceSpan(text: string, { start, end }: Span, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

function skipSpace(text: string, at: number): number {
  for (;; at++) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
  }
}

function skipString(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) throw new SyntaxError("Not valid JSON");
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  throw new SyntaxError("Not valid JSON");
}

function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return skipString(text, at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(text, at);
  let depth = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    at++;
    if (depth === 0) return at;
  }
  throw new SyntaxError("Not valid JSON");
}

function skipScalar(text: string, at: number): number {
  const start = at;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 32) break;
  }
  if (at === start) throw new SyntaxError("Not valid JSON");
  return at;
}
