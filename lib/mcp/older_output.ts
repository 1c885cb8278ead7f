/**
 * Output of tools for clients of older revisions. Since 2026-07-28 it can be any JSON; before, it was
 * always an object, and one tool with another output schema costs an SDK 1 client its whole list.
 */
import {
  elementSpans,
  isObject,
  memberSpans,
  memberText,
  parseJson,
  replaceSpan,
  type Span,
  withoutMembers,
} from "../core/rpc.ts";

/** A list of tools, `{"tools":[...]}`, without output schemas that older clients refuse. */
export function olderToolList(text: string): string {
  if (!text.includes('"outputSchema"')) return text;
  const tools = memberSpans(text).get("tools");
  if (!tools) return text;
  let [out, end] = ["", 0];
  for (const span of elementSpans(text, tools.start)) {
    const schema = memberSpans(text, span.start).get("outputSchema");
    if (!schema || isOlderSchema(parseJson(slice(text, schema)))) continue;
    out += text.slice(end, span.start) + withoutMembers(slice(text, span), "outputSchema");
    end = span.end;
  }
  return out + text.slice(end);
}

/** A call's answer without structured content that is not an object; then its text says the same. */
export function olderCallAnswer(text: string): string {
  // Nearly all answers end here.
  if (!/"structuredContent"\s*:\s*[^{\s]/.test(text)) return text;
  const result = memberSpans(text).get("result");
  if (!result || text[result.start] !== "{") return text;
  const own = slice(text, result);
  const structured = memberText(own, "structuredContent");
  if (structured === undefined || structured.startsWith("{")) return text;
  const content = parseJson(memberText(own, "content") ?? "[]");
  const isEmpty = Array.isArray(content) && content.length === 0;
  const rest = withoutMembers(own, "structuredContent", ...isEmpty ? ["content"] : []);
  const added = `"content":[${JSON.stringify({ type: "text", text: structured })}]`;
  const shown = isEmpty ? `{${added}${rest === "{}" ? "" : ","}${rest.slice(1)}` : rest;
  return replaceSpan(text, result, shown);
}

function isOlderSchema(schema: unknown): boolean {
  if (!isObject(schema) || schema.type !== "object") return false;
  const { properties = {}, required = [] } = schema;
  return isObject(properties) && Object.values(properties).every(isSchemaObject) &&
    Array.isArray(required) && required.every((name) => typeof name === "string");
}

/** A property's schema may be `true` or `false` in JSON Schema, but not for the SDK 1. */
function isSchemaObject(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null;
}

function slice(text: string, { start, end }: Span): string {
  return text.slice(start, end);
}
