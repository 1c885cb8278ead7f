import { classify, type RpcMessage } from "../../core/rpc.ts";
import { elementTexts } from "../../core/json_spans.ts";
import { GatewayError } from "../../core/errors.ts";

/** The messages of a body or an event: one, or the several of a batch (2025-03-26 allows them). */
export function messagesIn(text: string): { text: string; message: RpcMessage | undefined }[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ text, message: undefined }];
  }
  if (!Array.isArray(value)) return [{ text: singleLine(text), message: classify(value) }];
  const texts = elementTexts(text);
  return value.map((element, index) => ({
    text: singleLine(texts[index] ?? ""),
    message: classify(element),
  }));
}

/** JSON has line breaks between its tokens only; without them a message fits every framing. */
export function singleLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]/g, " ") : text;
}

export function excerpt(text: string, length = 200): string {
  const start = text.slice(0, length * 2).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return start.length > length ? `${start.slice(0, length)}...` : start;
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

export const MESSAGE_LIMIT = 16 * 1024 * 1024;

/** What `responseIdFromEnds()` needs of each end of a text. */
export const END_CHARS = 64;

/** What a caller is told whose answer is not taken; the server is well, and only this call failed. */
export function messageTooLarge(serverName: string): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message:
      `Server "${serverName}" answered with a message of over 16 MiB: no larger one is taken`,
    recoveryAction: "Ask for less at once",
    recoverySteps: [
      "Ask for a part of it: a page, a range, a narrower filter",
      "Or use another tool that answers with less",
    ],
  });
}

/**
 * The id of the request that a text answers, told from its two ends alone: in the ways SDKs print an
 * envelope, the members found there can only be the envelope's own.
 */
export function responseIdFromEnds(head: string, tail: string): number | undefined {
  const id = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d+),"(?:result|error)":/.exec(head)?.[1] ??
    (/^\{"(?:result|error)":/.test(head)
      ? /,"jsonrpc":"2\.0","id":(\d+)\}\s*$/.exec(tail)?.[1]
      : undefined);
  return id === undefined ? undefined : Number(id);
}
