import { shortened } from "../core/shortened.ts";
import { isObject } from "../core/rpc.ts";

const LONGEST = 160;
/** So much of what a server said is looked at: it may be megabytes. */
const READ_LENGTH = 65_536;
/** A secret could begin before that and end after it: so much is not shown. */
const UNSURE_LENGTH = 4_096;

type Redact = (text: string) => string;

/**
 * Why a call failed, from its answer: the code of an error of ours, else the first words. Secrets
 * are taken out before anything is cut: of half a secret nobody could tell that it is one.
 */
export function failureOf(answer: string, redact: Redact): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { result, error } = value;
  if (isObject(error)) return codeOf(error.data, redact) ?? firstWords(error.message, redact);
  if (!isObject(result)) return undefined;
  const content = Array.isArray(result.content) ? result.content : [];
  return codeOf(result.structuredContent, redact) ??
    firstWords(content.find((part) => isObject(part) && part.type === "text")?.text, redact);
}

function codeOf(data: unknown, redact: Redact): string | undefined {
  const code = isObject(data) ? data.errorType : undefined;
  return typeof code === "string" && /^[A-Z_]{3,60}$/.test(code) ? redact(code) : undefined;
}

function firstWords(text: unknown, redact: Redact): string | undefined {
  if (typeof text !== "string") return undefined;
  const read = redact(text.slice(0, READ_LENGTH));
  const sure = text.length > READ_LENGTH ? read.slice(0, -UNSURE_LENGTH) : read;
  return shortened(sure.replace(/\s+/g, " ").trim(), LONGEST) || undefined;
}
