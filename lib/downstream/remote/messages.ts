import { classify, type RpcMessage } from "../../core/rpc.ts";
import { elementTexts } from "../../core/json_spans.ts";

/** The messages of a body or an event: one, or the several of a batch (2025-03-26 allows them). */
export function messagesIn(text: string): { text: string; message: RpcMessage | undefined }[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ text, message: undefined }];
  }
  if (!Array.isArray(value)) return [{ text: oneLine(text), message: classify(value) }];
  const texts = elementTexts(text);
  return value.map((element, index) => ({
    text: oneLine(texts[index] ?? ""),
    message: classify(element),
  }));
}

/** JSON has line breaks between its tokens only; without them a message fits every framing. */
export function oneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]/g, " ") : text;
}

/** The beginning of a text, for people to read. */
export function excerpt(text: string, length = 200): string {
  const start = text.slice(0, length * 2).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return start.length > length ? `${start.slice(0, length)}...` : start;
}
