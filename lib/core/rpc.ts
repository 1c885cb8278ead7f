import type { RequestId } from "@modelcontextprotocol/sdk/types";

/**
 * An object of the SDK's type as a peer sent it: it is relayed as the text that came, so its values
 * are not checked.
 */
export type Unchecked<T> = { [Name in keyof T]?: unknown };

/** The id of a message, or a progress token; a bigint where a number would lose digits. */
export type MessageId = RequestId | bigint;

/** One JSON-RPC message, as far as a relay needs to understand it. */
export type RpcMessage =
  | { kind: "request"; id: MessageId; method: string; params: Record<string, unknown> }
  | { kind: "notification"; method: string; params: Record<string, unknown> }
  | { kind: "response"; id: MessageId; isError: boolean };

/** The text is that of the value, and has all digits of its id. */
export function classify(value: unknown, text?: string): RpcMessage | undefined {
  if (!isObject(value) || value.jsonrpc !== "2.0") return undefined;
  const { method } = value;
  const params = value.params ?? {};
  const id = exactId(value.id, () => text && memberText(text, "id"));
  const hasId = id !== undefined;
  if (typeof method === "string") {
    if (!isObject(params)) return undefined;
    if (hasId) return { kind: "request", id, method, params };
    return value.id === undefined ? { kind: "notification", method, params } : undefined;
  }
  if (!hasId) return undefined;
  if ("result" in value) return { kind: "response", id, isError: false };
  return isObject(value.error) ? { kind: "response", id, isError: true } : undefined;
}

export function readMessage(text: string): RpcMessage | undefined {
  return classify(parseJson(text), text);
}

/** An id with all its digits, which JSON.parse() has rounded if there are many; undefined if none. */
export function exactId(value: unknown, text: () => string | undefined): MessageId | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  const digits = text();
  return digits !== undefined && /^-?\d+$/.test(digits) ? BigInt(digits) : value;
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A JSON text's value, or the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value;
}

export function requestText(id: MessageId, method: string, params?: string): string {
  const tail = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${tail}}`;
}

export function notificationText(method: string, params?: string): string {
  const tail = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}}`;
}

export function resultText(id: MessageId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}

export function errorText(
  id: MessageId | null,
  code: number,
  message: string,
  data?: object,
): string {
  const error = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) });
  return `{"jsonrpc":"2.0","id":${id === null ? "null" : idText(id)},"error":${error}}`;
}

/** A message under another id, the rest as it came. */
export function withId(text: string, from: MessageId, to: MessageId): string {
  const [old, fresh] = [idText(from), idText(to)];
  // The two ways SDKs print an envelope; a member at either end is the envelope's own.
  const head = `{"jsonrpc":"2.0","id":${old},`;
  if (text.startsWith(head)) return `{"jsonrpc":"2.0","id":${fresh},${text.slice(head.length)}`;
  const tail = `,"id":${old}}`;
  if (text.endsWith(tail)) return `${text.slice(0, -tail.length)},"id":${fresh}}`;
  const id = memberSpans(text).get("id");
  if (!id) throw new SyntaxError("The message has no id");
  return replaceSpan(text, id, fresh);
}

/** The text of a message's `params`, `result` or `error`, as it came. */
export function memberText(text: string, name: string): string | undefined {
  let found: Span | undefined;
  eachMember(text, 0, (member, span) => {
    if (member === name) found = span;
  });
  return found && text.slice(found.start, found.end);
}

/** The text of a member of members, as it came; undefined if one of them is missing. */
export function nestedText(text: string, ...path: string[]): string | undefined {
  let found: string | undefined = text;
  for (const name of path) {
    found = found?.startsWith("{") ? memberText(found, name) : undefined;
  }
  return found;
}

/** An object's text with one more member in front, whose value is a text as well. */
export function withFirstMember(text: string, name: string, value: string): string {
  const rest = text.slice(1);
  return `{${JSON.stringify(name)}:${value}${rest === "}" ? "" : ","}${rest}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function idText(id: MessageId): string {
  return typeof id === "string" ? JSON.stringify(id) : `${id}`;
}

/** JSON has line breaks between its tokens only; without them a message fits every framing. */
export function messageLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]/g, " ") : text;
}

const HEAD = '{"jsonrpc":"2.0","id":';
const TAIL = ',"jsonrpc":"2.0","id":';

/**
 * The id a text is the answer to, told from its ends alone: in the two ways SDKs print an envelope,
 * the members found there can only be the envelope's own. Undefined means "not certain".
 */
export function responseId(text: string): number | undefined {
  if (!text.endsWith("}")) return undefined;
  if (text.startsWith(HEAD)) {
    const end = text.indexOf(",", HEAD.length);
    return isOutcome(text, end + 1) ? integerAt(text, HEAD.length, end) : undefined;
  }
  if (!isOutcome(text, 1) || text[0] !== "{") return undefined;
  // No number that is an id of ours is longer.
  const start = text.indexOf(TAIL, Math.max(0, text.length - TAIL.length - MAX_DIGITS - 1));
  return start === -1 ? undefined : integerAt(text, start + TAIL.length, text.length - 1);
}

const MAX_DIGITS = 15;

function isOutcome(text: string, start: number): boolean {
  return text.startsWith('"result":', start) || text.startsWith('"error":', start);
}

function integerAt(text: string, start: number, end: number): number | undefined {
  if (end <= start || end - start > MAX_DIGITS) return undefined;
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}

/** What `responseIdFromEnds()` needs of each end of a text. */
export const END_CHARS = 256;

const S = String.raw`\s*`;
const VERSION_MEMBER = `"jsonrpc"${S}:${S}"2\\.0"${S}`;
const ID_MEMBER = `"id"${S}:${S}"?(\\d{1,${MAX_DIGITS}})"?${S}`;
const OUTCOME = `"(?:result|error)"${S}:`;
const OPENING = `^${S}\\[?${S}\\{${S}`;
const ID_FIRST = new RegExp(
  `${OPENING}(?:${VERSION_MEMBER},${S})?${ID_MEMBER},${S}(?:${VERSION_MEMBER},${S})?${OUTCOME}`,
);
const OUTCOME_FIRST = new RegExp(`${OPENING}(?:${VERSION_MEMBER},${S})?${OUTCOME}`);
const ID_LAST = new RegExp(`,${S}${ID_MEMBER}(?:,${S}${VERSION_MEMBER})?\\}${S}\\]?${S}$`);

/**
 * Like responseId(), for a message of which only the two ends are at hand, however it is spaced.
 * What stands before the last brace is the envelope's own.
 */
export function responseIdFromEnds(head: string, tail: string): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ??
    (OUTCOME_FIRST.test(head) ? ID_LAST.exec(tail)?.[1] : undefined);
  return id === undefined ? undefined : Number(id);
}

/** An id of ours as a server repeats it: some make a text of the number. */
export function echoedId(id: unknown): number | undefined {
  if (typeof id === "string" && /^\d{1,15}$/.test(id)) return Number(id);
  return typeof id === "number" ? id : undefined;
}

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

export function elementTexts(text: string): string[] {
  return elementSpans(text).map(({ start, end }) => text.slice(start, end));
}

export function replaceSpan(text: string, { start, end }: Span, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** The text of an object without some of its members. */
export function withoutMembers(text: string, ...names: string[]): string {
  const kept: string[] = [];
  eachMember(text, 0, (member, { start, end }) => {
    if (!names.includes(member)) kept.push(`${JSON.stringify(member)}:${text.slice(start, end)}`);
  });
  return `{${kept.join()}}`;
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

/** Where the value at a place ends. The text must be valid JSON. */
export function skipValue(text: string, at: number): number {
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

/** Whether a JSON text nests objects and arrays to more than this many levels. */
export function isDeeper(text: string, levels: number): boolean {
  let depth = 0;
  // Each level takes two characters, so most texts need no look.
  for (let at = 0; depth + (text.length - at) / 2 > levels && at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > levels) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    at++;
  }
  return false;
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
