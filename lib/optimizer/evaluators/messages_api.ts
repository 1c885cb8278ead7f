import * as z from "zod";
import { errorMessage, GatewayError } from "../../core/errors.ts";
import type { RunCost } from "../../core/optimization.ts";
import { parseJson } from "../../core/rpc.ts";
import { shortened } from "../../core/text.ts";
import { ToolDefinition } from "../../core/tool.ts";
import { BodyTooLarge, FetchResponse, readText } from "../../servers/transports/http_response.ts";
import { Redactor } from "../../telemetry/redact.ts";
import {
  callsIn,
  ContentBlock,
  type Evaluator,
  isCutOff,
  MAX_REASONING,
  type Observation,
  type RunProblem,
  type RunRequest,
  type ShownTool,
  textsIn,
  tokensIn,
  Usage,
} from "./evaluator.ts";
import { ModelTimeout, type TextModel } from "../generation/text_model.ts";

/** Room for a sentence and the arguments of a few calls. */
const RUN_TOKENS = 4_096;
const API_VERSION = "2023-06-01";
const BODY_BYTES = 4 * 1024 * 1024;
const SHOWN_CHARS = 500;
/** Of what is otherwise the request's fault: another try may go well. */
const PASSING_STATUSES = [408, 409, 425, 429];
/** What the key may not do, it may not do for any request. */
const GENERAL_STATUSES = [401, 402, 403];
const NO_CREDIT = /credit balance/i;
/** For a failure that every other request would meet, too. */
const ALWAYS = { isLasting: true, isGeneral: true };

const NO_CLIENT = "The model API is asked without a client, so the model cannot search for tools";

export interface MessagesApiOptions {
  /** Default: Anthropic's Messages API. */
  dialect?: ApiDialect;
  baseUrl: string;
  apiKey?: string;
  authToken?: string;
  model: string;
  timeoutMs: number;
  fetch?: typeof fetch;
}

const Message = z.looseObject({
  type: z.literal("message"),
  model: z.string().optional(),
  content: z.array(ContentBlock),
  stop_reason: z.string().nullish(),
  usage: Usage.optional(),
});

const ApiError = z.looseObject({ error: z.looseObject({ message: z.string() }) });

export interface ModelMessage {
  text: string;
  calls: { name: string; arguments: unknown }[];
  stopReason: string | undefined;
  model: string | undefined;
  cost: RunCost;
}

/** How an API is asked: everything else is the same for all. */
export interface ApiDialect {
  kind: "messages-api" | "openai-api";
  /** After the base URL. */
  path: string;
  /** Names of tools that it takes. */
  names: RegExp;
  /** The host that takes no request without a key. */
  host: string;
  /** Variables of the gateway's environment. */
  variables: { url: string; key: string };
  headers(options: MessagesApiOptions): Record<string, string>;
  /** That the model may call a tool or none. */
  choice: Record<string, unknown>;
  tool(tool: Pick<ToolDefinition, "name" | "description" | "inputSchema">): unknown;
  /** What is asked, beside the model and the tools. */
  body(question: { system?: string; prompt: string; maxTokens: number }): Record<string, unknown>;
  /** Undefined if the answer is not a message. */
  read(answer: unknown): ModelMessage | undefined;
}

const MESSAGES: ApiDialect = {
  kind: "messages-api",
  path: "/v1/messages",
  names: /^[a-zA-Z0-9_-]{1,128}$/,
  host: "anthropic.com",
  variables: { url: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY" },
  headers: ({ apiKey, authToken }) => ({
    "anthropic-version": API_VERSION,
    ...apiKey !== undefined
      ? { "x-api-key": apiKey }
      : authToken !== undefined
      ? { authorization: `Bearer ${authToken}` }
      : {},
  }),
  choice: { tool_choice: { type: "auto" } },
  tool: ({ name, description, inputSchema }) => ({
    name,
    ...description === undefined ? {} : { description },
    input_schema: inputSchema,
  }),
  body: ({ system, prompt, maxTokens }) => ({
    max_tokens: maxTokens,
    ...system === undefined ? {} : { system },
    messages: [{ role: "user", content: prompt }],
  }),
  read(answer) {
    const { data } = Message.safeParse(answer);
    if (data === undefined) return undefined;
    const { content, stop_reason, model, usage } = data;
    return {
      text: textsIn(content).join(""),
      calls: callsIn(content),
      stopReason: stop_reason ?? undefined,
      model,
      cost: tokensIn(usage),
    };
  },
};

/** The API was not reached, refused, or did not answer with a message. */
class MessagesApiFailure extends Error {
  override readonly name = "MessagesApiFailure";
  readonly problem: RunProblem;

  constructor(reason: string, certainty: Omit<RunProblem, "reason"> = { isLasting: false }) {
    super(reason);
    this.problem = { reason, ...certainty };
  }
}

/** Prompt and tools in one request to any Anthropic-compatible API: no process, no second turn. */
export function messagesApiEvaluator(options: MessagesApiOptions): Evaluator {
  const { dialect = MESSAGES } = options;

  // Without asking the API, which would spend model time. `checkedWords()` says so.
  // deno-lint-ignore require-await
  async function check(): Promise<void> {
    const problem = setupProblem(options);
    if (problem === undefined) return;
    throw new GatewayError("CANNOT_EVALUATE", {
      message: `Cannot evaluate: ${problem.reason}`,
      recoveryAction: problem.action,
      recoverySteps: [problem.action, "Or run the prompts yourself and report each result"],
      suggestedTools: ["record_eval_run"],
    });
  }

  async function run(
    { prompt, tools, target, view, openSteps, signal }: RunRequest,
  ): Promise<Observation> {
    const started = performance.now();
    const failed = (problem: RunProblem, message?: ModelMessage): Observation => ({
      ...problem,
      status: "error",
      durationMs: Math.round(performance.now() - started),
      cost: message?.cost ?? { inputTokens: 0, outputTokens: 0 },
    });
    signal.throwIfAborted();
    if (view === "deferred" || openSteps) return failed({ reason: NO_CLIENT, ...ALWAYS });
    try {
      const offered = tools.map((tool) => apiTool(tool, dialect));
      if (!tools.some(({ name }) => name === target)) {
        const reason = `The tool "${target}" is not among the tools shown to the model`;
        return failed({ reason, isLasting: true });
      }
      const message = await requestMessage(options, {
        ...dialect.body({ prompt, maxTokens: RUN_TOKENS }),
        tools: offered,
        ...dialect.choice,
      }, signal);
      const problem = answerProblem(message);
      if (problem !== undefined) return failed({ reason: problem, isLasting: false }, message);
      const { calls, text, cost, model } = message;
      const reasoning = shortened(text, MAX_REASONING);
      const durationMs = Math.round(performance.now() - started);
      return { status: "ok", calls, reasoning, durationMs, cost, model };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MessagesApiFailure) return failed(error.problem);
      const reason = `The run failed: ${errorMessage(error)}`;
      return failed({ reason, isLasting: false });
    }
  }

  // The API counts tokens and says no price.
  return { kind: dialect.kind, model: options.model, isPriced: false, check, run };
}

export function messagesApiText(options: MessagesApiOptions): TextModel {
  const { dialect = MESSAGES } = options;
  return {
    kind: dialect.kind,
    async complete({ system, prompt, maxTokens, signal }) {
      const problem = setupProblem(options);
      if (problem) throw cannotGenerate(problem.reason, problem.action);
      const { text, cost, stopReason } = await requestMessage(options, {
        ...dialect.body({ system, prompt, maxTokens }),
      }, signal).catch((error) => {
        if (!(error instanceof MessagesApiFailure)) throw error;
        const { message, problem } = error;
        throw problem.isTimeout
          ? cannotGenerate(message, undefined, new ModelTimeout(message))
          : cannotGenerate(message);
      });
      if (isCutOff(stopReason)) {
        throw cannotGenerate(`The model's response was cut off at ${maxTokens} tokens`);
      }
      if (stopReason === "refusal") throw cannotGenerate("The model refused to answer");
      if (text.trim() === "") throw cannotGenerate("The model's response is empty");
      return { text, cost };
    },
  };
}

function answerProblem({ calls, stopReason = "", text }: ModelMessage): string | undefined {
  if (stopReason === "refusal") {
    const answer = text.slice(0, 200);
    return `The model refused to answer, so it chose no tool: ${answer}`;
  }
  if (calls.length > 0 || !isCutOff(stopReason)) return undefined;
  return `The model's response was cut off before it called a tool (${stopReason})`;
}

function apiTool({ name, text }: ShownTool, dialect: ApiDialect): unknown {
  if (!dialect.names.test(name)) {
    throw new MessagesApiFailure(`The model API does not accept "${name}" as a tool name`, {
      isLasting: true,
    });
  }
  const { description, inputSchema } = ToolDefinition.parse(JSON.parse(text));
  return dialect.tool({ name, inputSchema, ...description === undefined ? {} : { description } });
}

/** Why no request could succeed, known without making one. */
function setupProblem(
  { baseUrl, apiKey, authToken, model, dialect = MESSAGES }: MessagesApiOptions,
): { reason: string; action: string } | undefined {
  const url = apiUrl(baseUrl, dialect);
  if (url === undefined) {
    return {
      reason: `"${shownUrl(baseUrl)}" is not a valid model API URL`,
      action: `Set ${dialect.variables.url} to an http or https URL`,
    };
  }
  if (model === "") {
    return { reason: "no model is set", action: "Set --eval-model to a model of the API" };
  }
  // Others, such as one on the same machine, may want none.
  const isOwn = url.hostname === dialect.host || url.hostname.endsWith(`.${dialect.host}`);
  if (!isOwn || apiKey !== undefined || authToken !== undefined) return undefined;
  return {
    reason: "the model API requires a key, and none is set",
    action: `Set ${dialect.variables.key} in the gateway's environment`,
  };
}

function cannotGenerate(reason: string, recoveryAction?: string, cause?: Error): GatewayError {
  return new GatewayError("CANNOT_GENERATE", {
    message: `Cannot generate: ${reason}`,
    cause,
    ...recoveryAction === undefined ? {} : { recoveryAction },
  });
}

/** The address of the API; undefined if the base is not a valid one. */
function apiUrl(baseUrl: string, { path }: ApiDialect): URL | undefined {
  const url = URL.parse(`${baseUrl.replace(/\/+$/, "")}${path}`);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** An address without what may be secret in it. */
function shownUrl(baseUrl: string): string {
  return baseUrl.replace(/[^/\s]*@/g, "").replace(/[?#].*$/s, "");
}

async function requestMessage(
  options: MessagesApiOptions,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ModelMessage> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  try {
    const response = await send(options, body, AbortSignal.any([signal, limit]));
    const text = await readText(new FetchResponse(response), BODY_BYTES);
    if (!response.ok) throw refusal(options, response.status, text);
    return messageOf(text, options);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MessagesApiFailure) throw error;
    if (limit.aborted) {
      throw new MessagesApiFailure(`The model API did not respond within ${options.timeoutMs} ms`, {
        isLasting: false,
        isTimeout: true,
      });
    }
    if (error instanceof BodyTooLarge) {
      throw new MessagesApiFailure(`The model API's response exceeds ${BODY_BYTES} bytes`);
    }
    const reason = clean(errorMessage(error), options);
    throw new MessagesApiFailure(`The model API cannot be reached: ${reason}`);
  }
}

async function send(
  options: MessagesApiOptions,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  const { baseUrl, model, fetch: send = fetch, dialect = MESSAGES } = options;
  const url = apiUrl(baseUrl, dialect);
  if (url === undefined) {
    throw new MessagesApiFailure(`"${shownUrl(baseUrl)}" is not a valid model API URL`, ALWAYS);
  }
  return await send(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...dialect.headers(options),
    },
    body: JSON.stringify({ model, ...body }),
    // The key is for this address, not for where it points.
    redirect: "manual",
    signal,
  });
}

function refusal(options: MessagesApiOptions, status: number, text: string): MessagesApiFailure {
  if (status >= 300 && status < 400) {
    const reason =
      `The model API responded with a redirect (${status}), which is not followed: the key ` +
      `must not be sent to another address`;
    return new MessagesApiFailure(reason, ALWAYS);
  }
  const message = clean(ApiError.safeParse(parseJson(text)).data?.error.message ?? text, options);
  const advice = status === 401 || status === 403
    ? `. Check ${keyNames(options)} in the gateway's environment`
    : status === 404
    ? ". Check the model's name and the API's URL"
    : "";
  const detail = message.trim() === "" ? "" : `: ${message.slice(0, SHOWN_CHARS)}`;
  return new MessagesApiFailure(`The model API responded with status ${status}${detail}${advice}`, {
    isLasting: status < 500 && !PASSING_STATUSES.includes(status),
    isGeneral: GENERAL_STATUSES.includes(status) || NO_CREDIT.test(message),
  });
}

function keyNames({ dialect = MESSAGES }: MessagesApiOptions): string {
  return dialect === MESSAGES
    ? "ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN,"
    : dialect.variables.key;
}

function messageOf(text: string, { dialect = MESSAGES }: MessagesApiOptions): ModelMessage {
  const message = dialect.read(parseJson(text));
  if (message) return message;
  throw new MessagesApiFailure("The model API's response is not a valid message");
}

function clean(text: string, { apiKey = "", authToken = "" }: MessagesApiOptions): string {
  const redactor = new Redactor();
  redactor.learn([apiKey, authToken]);
  return redactor.text(text);
}
