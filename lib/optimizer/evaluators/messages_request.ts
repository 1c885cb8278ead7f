import { z } from "zod";
import type { RunCost } from "../../core/optimization.ts";
import { BodyTooLarge, FetchResponse, readText } from "../../servers/transports/http_response.ts";
import { Redactor } from "../../telemetry/redact.ts";

const API_VERSION = "2023-06-01";
const BODY_BYTES = 4 * 1024 * 1024;
const SHOWN_CHARS = 500;
/** Of what is otherwise the request's fault: another try may go well. */
const PASSING_STATUSES = [408, 409, 425, 429];
/** What the key may not do, it may not do for any request. */
const GENERAL_STATUSES = [401, 402, 403];
const NO_CREDIT = /credit balance/i;

export interface MessagesApiOptions {
  baseUrl: string;
  apiKey?: string;
  authToken?: string;
  model: string;
  timeoutMs: number;
  fetch?: typeof fetch;
}

const Block = z.looseObject({ type: z.string() });
const TextBlock = z.looseObject({ type: z.literal("text"), text: z.string() });
const ToolUseBlock = z.looseObject({
  type: z.literal("tool_use"),
  name: z.string(),
  input: z.unknown().optional(),
});

const Message = z.looseObject({
  type: z.literal("message"),
  model: z.string().optional(),
  content: z.array(Block),
  stop_reason: z.string().nullish(),
  usage: z.looseObject({
    input_tokens: z.number().default(0),
    cache_creation_input_tokens: z.number().nullish(),
    cache_read_input_tokens: z.number().nullish(),
    output_tokens: z.number().default(0),
  }).optional(),
});

const ApiError = z.looseObject({ error: z.looseObject({ message: z.string() }) });

/** What a model said. */
export interface ModelMessage {
  text: string;
  calls: { name: string; arguments: unknown }[];
  stopReason: string | undefined;
  model: string | undefined;
  cost: RunCost;
}

/** The API was not reached, refused, or did not answer with a message. */
export class MessagesApiFailure extends Error {
  override readonly name = "MessagesApiFailure";
  /** Whether another try would fail as surely. */
  readonly isLasting: boolean;
  /** Whether every other request would, whatever it asks. */
  readonly isGeneral: boolean;

  constructor(message: string, isLasting: boolean, isGeneral = false) {
    super(message);
    this.isLasting = isLasting;
    this.isGeneral = isGeneral;
  }
}

/** The address of the Messages API; undefined if the base is not a valid one. */
export function messagesUrl(baseUrl: string): URL | undefined {
  const url = URL.parse(`${baseUrl.replace(/\/+$/, "")}/v1/messages`);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** An address without what may be secret in it. */
export function shownUrl(baseUrl: string): string {
  return baseUrl.replace(/[^/\s]*@/g, "").replace(/[?#].*$/s, "");
}

/** One request. Throws MessagesApiFailure, or the signal's reason where that aborts. */
export async function requestMessage(
  options: MessagesApiOptions,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ModelMessage> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), options.timeoutMs);
  try {
    const response = await send(options, body, AbortSignal.any([signal, limit.signal]));
    const text = await readText(new FetchResponse(response), BODY_BYTES);
    if (!response.ok) throw refusal(options, response.status, text);
    return messageOf(text);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MessagesApiFailure) throw error;
    if (limit.signal.aborted) {
      const words = `The model API did not answer within ${options.timeoutMs} ms`;
      throw new MessagesApiFailure(words, false);
    }
    if (error instanceof BodyTooLarge) {
      throw new MessagesApiFailure(`The model API answered more than ${BODY_BYTES} bytes`, false);
    }
    const words = error instanceof Error ? error.message : String(error);
    throw new MessagesApiFailure(
      `The model API cannot be reached: ${clean(words, options)}`,
      false,
    );
  } finally {
    clearTimeout(timer);
  }
}

async function send(
  { baseUrl, apiKey, authToken, model, fetch: send = fetch }: MessagesApiOptions,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  const url = messagesUrl(baseUrl);
  if (url === undefined) {
    throw new MessagesApiFailure(
      `"${shownUrl(baseUrl)}" is not the URL of a model API`,
      true,
      true,
    );
  }
  return await send(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": API_VERSION,
      ...apiKey !== undefined
        ? { "x-api-key": apiKey }
        : authToken !== undefined
        ? { authorization: `Bearer ${authToken}` }
        : {},
    },
    body: JSON.stringify({ model, ...body }),
    // The key is for this address, not for where it points.
    redirect: "manual",
    signal,
  });
}

function refusal(options: MessagesApiOptions, status: number, text: string): MessagesApiFailure {
  if (status >= 300 && status < 400) {
    const words = `The model API answered ${status}, a redirect, which is not followed: the key ` +
      `is for its own address`;
    return new MessagesApiFailure(words, true, true);
  }
  const said = clean(ApiError.safeParse(parsed(text)).data?.error.message ?? text, options);
  const isLasting = status < 500 && !PASSING_STATUSES.includes(status);
  const advice = status === 401 || status === 403
    ? ". Check ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN, in the gateway's environment"
    : status === 404
    ? ". Check the model's name and the API's address"
    : "";
  const words = said.trim() === "" ? "" : `: ${said.slice(0, SHOWN_CHARS)}`;
  return new MessagesApiFailure(
    `The model API answered ${status}${words}${advice}`,
    isLasting,
    GENERAL_STATUSES.includes(status) || NO_CREDIT.test(said),
  );
}

function messageOf(text: string): ModelMessage {
  const { data } = Message.safeParse(parsed(text));
  if (data === undefined) {
    throw new MessagesApiFailure("The model API's response is not a message", false);
  }
  const { content, stop_reason, model, usage } = data;
  return {
    text: content.flatMap((block) => TextBlock.safeParse(block).data?.text ?? []).join(""),
    calls: content.flatMap((block) => {
      const { data } = ToolUseBlock.safeParse(block);
      return data === undefined ? [] : [{ name: data.name, arguments: data.input ?? {} }];
    }),
    stopReason: stop_reason ?? undefined,
    model,
    cost: {
      inputTokens: (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) +
        (usage?.cache_read_input_tokens ?? 0),
      outputTokens: usage?.output_tokens ?? 0,
    },
  };
}

function clean(text: string, { apiKey = "", authToken = "" }: MessagesApiOptions): string {
  const redactor = new Redactor();
  redactor.learn([apiKey, authToken]);
  return redactor.text(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
