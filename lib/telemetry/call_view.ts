import { isObject } from "../core/rpc.ts";
import type { CallDetail } from "./call_details.ts";
import type { Redactor } from "./redact.ts";

/** What was said in a call, without secrets, as a person reads it. */
export interface CallView {
  request: {
    /** The tool's arguments; undefined where the request was cut before its end. */
    arguments?: Record<string, unknown>;
    /** The whole of it, or its beginning. */
    text: string;
    isCut: boolean;
  };
  response: {
    /** What the tool said in words. */
    words: string[];
    text: string;
    isCut: boolean;
  };
}

/** A secret could begin before the cut and end after it: so much is not shown. */
const UNSURE_LENGTH = 4_096;

export function viewCall(detail: CallDetail, redactor: Redactor): CallView {
  const request = readMessage(detail.request, detail.isRequestCut, redactor);
  const response = readMessage(detail.response, detail.isResponseCut, redactor);
  const params = isObject(request.value) ? request.value.params : undefined;
  const given = isObject(params) ? params.arguments : undefined;
  const { result, error } = isObject(response.value) ? response.value : {};
  return {
    request: {
      ...(isObject(given) ? { arguments: given } : {}),
      text: request.value === undefined ? request.text : print(params ?? request.value, redactor),
      isCut: detail.isRequestCut,
    },
    response: {
      words: wordsOf(result),
      text: response.value === undefined
        ? response.text
        : print(result ?? error ?? response.value, redactor),
      isCut: detail.isResponseCut,
    },
  };
}

/** A whole message without secrets: still JSON where it was, so that it can be read on. */
export function cleanMessage(text: string, redactor: Redactor): string {
  const { value, text: rest } = readMessage(text, false, redactor);
  return value === undefined ? rest : JSON.stringify(value);
}

/** The message parsed, where it is whole; else its beginning. */
function readMessage(
  text: string,
  isCut: boolean,
  redactor: Redactor,
): { value?: unknown; text: string } {
  if (isCut) return { text: redactor.json(text).slice(0, -UNSURE_LENGTH).toWellFormed() };
  try {
    return { value: clean(redactor.value(JSON.parse(text), { isWhole: true }), redactor), text };
  } catch {
    return { text: redactor.json(text) };
  }
}

/** No text in it has a secret, nor has a name. */
function clean(value: unknown, redactor: Redactor): unknown {
  if (typeof value === "string") return redactor.json(value);
  if (Array.isArray(value)) return value.map((item) => clean(item, redactor));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redactor.text(name), clean(item, redactor)]),
  );
}

function print(value: unknown, redactor: Redactor): string {
  return redactor.json(JSON.stringify(value, null, 2));
}

function wordsOf(result: unknown): string[] {
  const content = isObject(result) && Array.isArray(result.content) ? result.content : [];
  return content.flatMap((part) =>
    isObject(part) && part.type === "text" && typeof part.text === "string" ? part.text : []
  );
}
