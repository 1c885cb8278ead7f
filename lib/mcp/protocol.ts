import { z } from "zod";
import { type ErrorCode, GatewayError, toolErrorResult } from "../core/errors.ts";
import { errorText, isObject, memberText, resultText, type RpcId } from "../core/rpc.ts";
import { eachMember, memberSpans, replaceSpan, type Span } from "../core/json_spans.ts";
import type { Session } from "./session.ts";
import type { ClientProfile } from "../core/client.ts";
import type { Logger } from "../telemetry/logs.ts";

export const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** From this revision on there are no sessions; clients that speak it fall back when refused. */
export const STATELESS_SINCE = "2026-07-28";
const CANCELLED = -32800;

const Initialize = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()).default({}),
  clientInfo: z.record(z.string(), z.unknown()).optional(),
});

/** The client as it introduces itself, with the version that both sides speak; throws INVALID_PARAMS. */
export function negotiate(params: Record<string, unknown>): ClientProfile {
  const parsed = Initialize.safeParse(params);
  if (!parsed.success) {
    throw new GatewayError("INVALID_PARAMS", {
      message: `initialize: ${z.prettifyError(parsed.error)}`,
    });
  }
  const { protocolVersion: wanted, capabilities, clientInfo } = parsed.data;
  const protocolVersion = PROTOCOL_VERSIONS.find((known) => known === wanted) ??
    PROTOCOL_VERSIONS[0]!;
  return { protocolVersion, capabilities, clientInfo };
}

/** Takes a notification of the client's. */
export function notify(
  session: Session,
  method: string,
  params: Record<string, unknown>,
  text: string,
): void {
  if (method === "notifications/initialized") return;
  if (method === "notifications/cancelled") {
    const { requestId, reason } = params;
    if (typeof requestId === "string" || typeof requestId === "number") {
      session.cancel(requestId, typeof reason === "string" ? reason : "Cancelled by the client");
    }
    return;
  }
  session.view.notify(method, params, text);
}

/** Why a client's answer to a question is refused. */
export function nobodyAsked(id: RpcId): string {
  const shown = JSON.stringify(id).slice(0, 60);
  return `No question with the id ${shown} is waiting for an answer here: it was already answered, ` +
    "has ended, or was asked by another gateway";
}

/** The answer to a request that failed. */
export function failureText(
  id: RpcId,
  method: string,
  error: unknown,
  { isCancelled, log }: { isCancelled: boolean; log: Logger },
): string {
  if (isCancelled) return errorText(id, CANCELLED, "The request was cancelled");
  if (!(error instanceof GatewayError)) log.error({ err: error, method }, "A request failed");
  return rpcErrorText(id, method, error);
}

/** For the count of failures only: a large answer is not searched, and is hardly ever a failure. */
export function looksFailed(answer: string): boolean {
  // Nearly all answers end here.
  if (answer.length >= 16_384 || !answer.includes("rror")) return false;
  try {
    const members = memberSpans(answer);
    const result = members.get("result");
    if (!result) return members.has("error");
    const isError = memberSpans(answer, result.start).get("isError");
    return isError !== undefined && answer.startsWith("true", isError.start);
  } catch {
    // No answer, or none that a tool gives.
    return false;
  }
}

/** What a call's line in the log says of it. */
interface CallReport {
  endpoint: { key: string; server?: string };
  method: string;
  params: Record<string, unknown>;
  correlationId: string;
  isError: boolean;
  ms: number;
}

export function logCall(log: Logger, report: CallReport): void {
  const { endpoint, method, params, correlationId, isError, ms } = report;
  log.debug({
    requestId: crypto.randomUUID(),
    correlationId,
    endpoint: endpoint.key,
    ...(endpoint.server === undefined ? {} : { serverName: endpoint.server }),
    method,
    ...(method === "tools/call" ? { toolName: params.name } : {}),
    status: isError ? "error" : "ok",
    duration: Math.round(ms * 100) / 100,
  }, "Call");
}

/** What a request is decided by. */
const DECIDING = new Set(
  ["_meta", "argument", "arguments", "context", "cursor", "level", "name", "ref", "task", "uri"],
);

/** What a completion is asked for by. */
const DECIDING_REF = new Set(["type", "name", "uri"]);

/** The params of a request as they came. */
interface RequestParams {
  text: string;
  members: ReadonlyMap<string, Span>;
}

/**
 * The params of a request, undefined where it has none. Servers take a member that comes twice, or in
 * other letters, for what they please: what is checked here must be what they read, so that throws
 * INVALID_PARAMS.
 */
export function requestParams(message: string): RequestParams | undefined {
  const text = memberText(message, "params");
  if (text === undefined) return undefined;
  return { text, members: unambiguousMembers(text, 0, DECIDING) };
}

/** What a completion is of. */
interface CompletionRef {
  kind: "prompt" | "resource";
  /** Its name, or its URI. */
  name: string;
}

/**
 * What a completion is of, as `params` has it. Servers may go by the type or by what is there: where
 * the two could differ, that throws INVALID_PARAMS.
 */
export function completionRef(message: string, { ref }: Record<string, unknown>): CompletionRef {
  const sent = requestParams(message);
  const span = sent?.members.get("ref");
  if (!isObject(ref) || !sent || !span || !sent.text.startsWith("{", span.start)) throw noRef();
  unambiguousMembers(sent.text, span.start, DECIDING_REF);
  const { type, name, uri } = ref;
  if (type === "ref/prompt" && typeof name === "string" && uri === undefined) {
    return { kind: "prompt", name };
  }
  if (type === "ref/resource" && typeof uri === "string" && name === undefined) {
    return { kind: "resource", name: uri };
  }
  throw noRef();
}

/** The members of an object in the text, which all readers find the same. */
function unambiguousMembers(
  text: string,
  start: number,
  deciding: ReadonlySet<string>,
): Map<string, Span> {
  const members = new Map<string, Span>();
  eachMember(text, start, (name, span) => {
    if (members.has(name)) throw ambiguous(name);
    members.set(name, span);
  });
  for (const name of members.keys()) {
    if (deciding.has(name)) continue;
    const plain = folded(name);
    if (deciding.has(plain) || (plain !== name && members.has(plain))) throw ambiguous(name);
  }
  return members;
}

/** A tools/call as it came, and as it was read. */
interface SentCall {
  text: string;
  params: Record<string, unknown>;
}

/** The params of a tools/call under a tool's own name, the rest as it came; throws INVALID_PARAMS. */
export function callParams({ text, params: { name: sent } }: SentCall, name: string): string {
  const params = requestParams(text);
  const span = params?.members.get("name");
  if (!params || !span) throw new GatewayError("INVALID_PARAMS");
  if (sent === name) return params.text;
  return replaceSpan(params.text, span, JSON.stringify(name));
}

/** As readers that do not tell large letters from small ones have it, the odd forms of k and s too. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function noRef(): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: "Cannot complete: the ref is neither that of a prompt nor that of a resource",
    recoverySteps: [
      'Send {"type":"ref/prompt","name":"..."} or {"type":"ref/resource","uri":"..."} as the ref',
    ],
  });
}

function ambiguous(name: string): GatewayError {
  return new GatewayError("INVALID_PARAMS", {
    message: `The params can be read in two ways: ${JSON.stringify(name.slice(0, 40))} ` +
      "comes twice or is written in other letters",
    recoverySteps: ["Send each member once, as the protocol writes it"],
  });
}

/** What the caller's request got wrong as a request; everything else happened while it was served. */
const REQUEST_ERRORS: ReadonlySet<ErrorCode> = new Set([
  "TOOL_NOT_FOUND",
  "SERVER_NOT_FOUND",
  "NOT_FOUND",
  "INVALID_PARAMS",
]);

/** An error as the answer to a request: a result the model can read where a tool was called. */
export function rpcErrorText(id: RpcId, method: string, error: unknown): string {
  const known = GatewayError.from(error);
  const isToolCall = method === "tools/call" && !REQUEST_ERRORS.has(known.code);
  if (isToolCall) return resultText(id, JSON.stringify(toolErrorResult(known)));
  return errorText(id, known.rpcCode, known.message, known.toBody());
}
