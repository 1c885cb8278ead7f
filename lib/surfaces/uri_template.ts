/** Longer ones, of which nobody has heard, are known by their own text only. */
const MAX_TEMPLATE = 2_000;

/** What stands between the expressions of a URI template. */
export function literalsOf(template: string): string[] {
  return template.length > MAX_TEMPLATE ? [template] : template.split(/\{[^{}]*\}/);
}

/** Stands for an expression where a template is read as a URI. */
const ANYTHING = "quartermaster0anything";

/** As a reader has it who parses URIs before comparing them; undefined where it is none. */
export function parsedUri(uri: string): string | undefined {
  return URL.parse(uri)?.href;
}

/** What stands between the expressions for such a reader; undefined where it is no URI. */
export function parsedLiterals(literals: readonly string[]): string[] | undefined {
  return parsedUri(literals.join(ANYTHING))?.split(ANYTHING);
}

/**
 * Whether a template can become this, roughly: an expression stands for any text without spaces. By
 * hand, because a pattern of many wildcards could take forever over a URI made for that.
 */
export function canBecome(literals: readonly string[], uri: string): boolean {
  const [first = "", last = ""] = [literals[0], literals.at(-1)];
  if (literals.length === 1) return uri === first;
  const end = uri.length - last.length;
  let start = first.length;
  if (start > end || !uri.startsWith(first) || !uri.endsWith(last) || /\s/.test(uri)) return false;
  for (const literal of literals.slice(1, -1)) {
    const found = uri.indexOf(literal, start);
    if (found === -1 || found + literal.length > end) return false;
    start = found + literal.length;
  }
  return true;
}
