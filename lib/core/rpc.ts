import type { ErrorBody } from "./errors.ts";
import { eachMember, memberSpans, replaceSpan, type Span } from "./json_spans.ts";

export type RpcId = string | number;

/** One JSON-RPC message, as far as a relay needs to understand it. */
export type RpcMessage =
  | { kind: "request"; id: RpcId; method: string; params: Record<string, unknown> }
  | { kind: "notification"; method: string; params: Record<string, unknown> }
  | { kind: "response"; id: RpcId; isError: boolean };

/** What a parsed value is, or undefined where it is no JSON-RPC message. */
export function classify(value: unknown): RpcMessage | undefined {
  if (!isObject(value) || value.jsonrpc !== "2.0") return undefined;
  const { id, method, params = {} } = value;
  const hasId = typeof id === "string" || (typeof id === "number" && Number.isFinite(id));
  if (typeof method === "string") {
    if (!isObject(params)) return undefined;
    if (hasId) return { kind: "request", id, method, params };
    return id === undefined ? { kind: "notification", method, params } : undefined;
  }
  if (!hasId) return undefined;
  if ("result" in value) return { kind: "response", id, isError: false };
  return isObject(value.error) ? { kind: "response", id, isError: true } : undefined;
}

/** Parses and classifies one message's text. */
export function readMessage(text: string): RpcMessage | undefined {
  try {
    return classify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function requestText(id: RpcId, method: string, params?: string): string {
  const tail = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${tail}}`;
}

export function notificationText(method: string, params?: string): string {
  const tail = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}}`;
}

export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}

export function errorText(
  id: RpcId | null,
  code: number,
  message: string,
  data?: ErrorBody,
): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  });
}

/** A message under another id, the rest as it came. */
export function withId(text: string, from: RpcId, to: RpcId): string {
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function idText(id: RpcId): string {
  return typeof id === "number" ? `${id}` : JSON.stringify(id);
}
