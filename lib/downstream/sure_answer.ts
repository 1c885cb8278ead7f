const HEAD = '{"jsonrpc":"2.0","id":';
const TAIL = ',"jsonrpc":"2.0","id":';

/**
 * The id a text is the answer to, told from its ends alone: in the two ways SDKs print an envelope,
 * the members found there can only be the envelope's own. Undefined means "not certain".
 */
export function sureAnswerId(text: string): number | undefined {
  if (!text.endsWith("}")) return undefined;
  if (text.startsWith(HEAD)) {
    const end = text.indexOf(",", HEAD.length);
    return isOutcome(text, end + 1) ? whole(text, HEAD.length, end) : undefined;
  }
  if (!isOutcome(text, 1) || text[0] !== "{") return undefined;
  // No number that is an id of ours is longer.
  const start = text.indexOf(TAIL, Math.max(0, text.length - TAIL.length - MAX_DIGITS - 1));
  return start === -1 ? undefined : whole(text, start + TAIL.length, text.length - 1);
}

const MAX_DIGITS = 15;

function isOutcome(text: string, start: number): boolean {
  return text.startsWith('"result":', start) || text.startsWith('"error":', start);
}

function whole(text: string, start: number, end: number): number | undefined {
  if (end <= start || end - start > MAX_DIGITS) return undefined;
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}
