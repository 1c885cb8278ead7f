import { shortened } from "../core/shortened.ts";
import { isObject } from "../core/rpc.ts";

const LONGEST = 160;

/** Why a call failed, from its answer: the code of an error of ours, else the first words. */
export function failureOf(answer: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { result, error } = value;
  if (isObject(error)) return codeOf(error.data) ?? firstWords(error.message);
  if (!isObject(result)) return undefined;
  const content = Array.isArray(result.content) ? result.content : [];
  return codeOf(result.structuredContent) ??
    firstWords(content.find((part) => isObject(part) && part.type === "text")?.text);
}

function codeOf(data: unknown): string | undefined {
  const code = isObject(data) ? data.errorType : undefined;
  return typeof code === "string" && /^[A-Z_]{3,60}$/.test(code) ? code : undefined;
}

function firstWords(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  return shortened(text.slice(0, 2_000).replace(/\s+/g, " ").trim(), LONGEST) || undefined;
}
