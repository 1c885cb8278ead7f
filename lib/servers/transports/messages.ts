import { classify, elementTexts, messageLine, type RpcMessage } from "../../core/rpc.ts";
import { GatewayError } from "../../core/errors.ts";

/** The messages of a body or an event: one, or the several of a batch (2025-03-26 allows them). */
export function messagesIn(text: string): { text: string; message: RpcMessage | undefined }[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ text, message: undefined }];
  }
  if (!Array.isArray(value)) return [{ text: messageLine(text), message: classify(value) }];
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

export const MESSAGE_LIMIT = 16 * 1024 * 1024;

/** What a caller is told whose answer is not taken; the server is well, and only this call failed. */
export function messageTooLarge(serverName: string): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message: `Server "${serverName}" sent a response that exceeds the limit of 16 MiB`,
    recoveryAction: "Request less at a time",
    recoverySteps: [
      "Request part of it: a page, a range, a narrower filter",
      "Or use another tool that returns less",
    ],
  });
}
