import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { memberText } from "../core/rpc.ts";
import { cleanMessage } from "../telemetry/call_view.ts";
import type { Redactor } from "../telemetry/redact.ts";
import type { ToolAnswer, ToolCall } from "../surfaces/tool_calls.ts";
import type { CutText, TryOutcome, TryPart } from "./ui/try_outcome.ts";

const MAX_TEXT = 100_000;
const MAX_RAW = 50_000;
const MAX_PARTS = 50;
const MAX_IMAGE = 2_000_000;
const MAX_MESSAGES = 20;
/** Pictures that a browser draws without running anything in them. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif)$/;

const Content = z.looseObject({ type: z.string() });
const Text = z.looseObject({ type: z.literal("text"), text: z.string() });
const Image = z.looseObject({
  type: z.literal("image"),
  data: z.base64(),
  mimeType: z.string().regex(IMAGES),
});
const Result = z.looseObject({
  content: z.array(Content).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
const RpcError = z.looseObject({ code: z.number(), message: z.string() });

/** Calls a tool for a person who tries it. Throws where it was not called, or not answered. */
export async function tryTool(
  { toolCalls, logs }: Pick<Gateway, "toolCalls" | "logs">,
  call: ToolCall,
): Promise<TryOutcome> {
  return outcomeOf(await toolCalls.call(call), logs.redactor);
}

/**
 * An answer as it can be shown: without secrets, as in the activity, cut, and pictures only where
 * they are safe to draw.
 */
export function outcomeOf(
  { request, response: answer, messages, ms }: ToolAnswer,
  redactor: Redactor,
): TryOutcome {
  const response = cleanMessage(answer, redactor);
  // Once more as text: a secret may be a number, or lie across two members.
  const shown = (json: string) => cut(redactor.json(indented(json)), MAX_RAW);
  const raw = {
    ms,
    bytes: new TextEncoder().encode(answer).length,
    request: shown(cleanMessage(request, redactor)),
    response: shown(response),
    messages: messages.slice(0, MAX_MESSAGES).map((text) =>
      cut(redactor.json(cleanMessage(text, redactor)), MAX_RAW)
    ),
  };
  const error = memberText(response, "error");
  if (error !== undefined) {
    const { code, message } = RpcError.catch({ code: 0, message: error }).parse(JSON.parse(error));
    const text = `The server answered with error ${code}: ${message}`;
    return { ...raw, isError: true, parts: [{ kind: "text", ...cut(text, MAX_TEXT) }], more: 0 };
  }
  const parsed = Result.safeParse(JSON.parse(memberText(response, "result") ?? "null"));
  if (!parsed.success) {
    const text = "The answer is no result as the protocol has it; see the raw messages.";
    return { ...raw, isError: true, parts: [{ kind: "text", ...cut(text, MAX_TEXT) }], more: 0 };
  }
  const { content, structuredContent, isError } = parsed.data;
  return {
    ...raw,
    isError,
    parts: content.slice(0, MAX_PARTS).map((part) => partOf(part, redactor)),
    more: Math.max(0, content.length - MAX_PARTS),
    ...(structuredContent === undefined ? {} : {
      structured: cut(redactor.json(JSON.stringify(structuredContent, undefined, 2)), MAX_TEXT),
    }),
  };
}

function partOf(content: z.infer<typeof Content>, redactor: Redactor): TryPart {
  const text = Text.safeParse(content);
  if (text.success) return { kind: "text", ...cut(text.data.text, MAX_TEXT) };
  const image = Image.safeParse(content);
  if (image.success && image.data.data.length <= MAX_IMAGE) {
    const { mimeType, data } = image.data;
    return { kind: "image", url: `data:${mimeType};base64,${data}`, mimeType };
  }
  return {
    kind: "other",
    type: content.type,
    ...cut(redactor.json(JSON.stringify(content, undefined, 2)), 5_000),
  };
}

function cut(text: string, most: number): CutText {
  if (text.length <= most) return { text };
  const bytes = new TextEncoder().encode(text).length;
  return { text: text.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""), cutFrom: bytes };
}

function indented(json: string): string {
  // A parse and print of a very long one is work for nothing: it is cut anyway.
  if (json.length > 1_000_000) return json;
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
