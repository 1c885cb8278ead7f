import {
  classify,
  elementTexts,
  isDeeper,
  messageLine,
  responseIdFromEnds,
  type RpcMessage,
} from "../../core/rpc.ts";
import { GatewayError } from "../../core/errors.ts";

/** A longer batch would keep other work waiting. */
const MAX_BATCH = 1_000;

/** The messages of a body or an event: one, or the several of a batch (2025-03-26 allows them). */
export function messagesIn(text: string): { text: string; message: RpcMessage | undefined }[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ text, message: undefined }];
  }
  if (Array.isArray(value) && value.length > MAX_BATCH) return [{ text, message: undefined }];
  if (!Array.isArray(value)) return [{ text: messageLine(text), message: classify(value, text) }];
  const texts = elementTexts(text);
  return value.map((element, index) => ({
    text: messageLine(texts[index] ?? ""),
    message: classify(element),
  }));
}

export function excerpt(text: string, length = 200): string {
  const start = text.slice(0, length * 2).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return start.length > length ? `${start.slice(0, length)}...` : start;
}

/** The default size of the largest message that is taken from a server, in bytes. */
export const MESSAGE_LIMIT = 16 * 1024 * 1024;

/** What a caller is told whose answer is not taken; the server is well, and only this call failed. */
export function messageTooLarge(serverName: string, limit: number): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message: `Server "${serverName}" sent a response that exceeds the limit of ${sizeText(limit)}`,
    recoveryAction: "Request less at a time",
    recoverySteps: [
      "Request part of it: a page, a range, a narrower filter",
      "Or use another tool that returns less",
      "Or ask the owner to raise the limit with --max-message",
    ],
  });
}

/** Python's parser, for one, gives up at 1,000 levels, and programs that print a value much earlier. */
const MOST_LEVELS = 500;

/** Whether many clients could not parse or print a message. */
export function nestsTooDeep(text: string): boolean {
  return isDeeper(text, MOST_LEVELS);
}

export function messageTooDeep(serverName: string): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message:
      `Server "${serverName}" sent a response that is nested more than ${MOST_LEVELS} levels deep`,
    recoveryAction: "Request less at a time",
    recoverySteps: [
      "Use arguments for which the server returns a flatter result",
      "Check whether the call took effect before retrying",
    ],
  });
}

/** The error for a call whose stream was closed because it flooded the gateway without an answer. */
export function streamFlooded(serverName: string, { message }: Error): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message: `Server "${serverName}" sent ${message}, so the gateway closed the stream`,
    recoveryAction: "Report it to the server's author",
    recoverySteps: ["Check whether the call took effect before retrying"],
  });
}

/**
 * Which of the waiting requests a message was for that was too large to keep, by its two ends. If
 * the id is not there and only one request waits, it is that one's, unless it is no response.
 */
export function waiterOf(
  head: string,
  tail: string,
  waiting: ReadonlyMap<number, unknown>,
): number | undefined {
  const [only, ...others] = waiting.keys();
  const isResponse = /^\s*\[?\s*\{\s*"(?:jsonrpc|id|result|error)"\s*:/.test(head) &&
    !head.includes('"method"');
  const sole = isResponse && others.length === 0 ? only : undefined;
  return responseIdFromEnds(head, tail) ?? sole;
}

export function sizeText(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}

const MIB = 1024 * 1024;

const REPORTED = 5;
const EVERY_MS = 60_000;

/** Reports the first few warnings of a kind, then how many more came, at most once a minute. */
export class RepeatedWarning {
  readonly #onWarning: (text: string) => void;
  readonly #summary: (count: number) => string;
  readonly #now: () => number;
  #reported = 0;
  #held = 0;
  #lastAt = 0;

  constructor(
    onWarning: (text: string) => void,
    summary: (count: number) => string,
    now = Date.now,
  ) {
    this.#onWarning = onWarning;
    this.#summary = summary;
    this.#now = now;
  }

  report(text: string): void {
    if (this.#reported < REPORTED) {
      this.#reported++;
      return this.#warn(text);
    }
    this.#held++;
    if (this.#now() - this.#lastAt >= EVERY_MS) this.flush();
  }

  flush(): void {
    if (this.#held > 0) this.#warn(this.#summary(this.#held));
    this.#held = 0;
  }

  #warn(text: string): void {
    this.#lastAt = this.#now();
    this.#onWarning(text);
  }
}
