import * as z from "zod";
import { type ErrorCode, GatewayError, toolErrorResult } from "../core/errors.ts";
import {
  errorText,
  exactId,
  idText,
  memberSpans,
  type MessageId,
  nestedText,
  resultText,
} from "../core/rpc.ts";
import type { Session } from "./session.ts";
import { type ClientProfile, STATELESS_VERSION } from "../core/client.ts";
import type { Logger } from "../telemetry/logs.ts";

/** The revisions with sessions, which a client negotiates with initialize. */
export const SESSION_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** Every revision that the endpoints speak, the newest first. */
export const PROTOCOL_VERSIONS = [STATELESS_VERSION, ...SESSION_VERSIONS];
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
  const protocolVersion = SESSION_VERSIONS.find((known) => known === wanted) ??
    SESSION_VERSIONS[0]!;
  return { protocolVersion, capabilities, clientInfo };
}

/** Returns whether that is all: other gateways may have the request that a client cancels. */
export function notify(
  session: Session,
  method: string,
  params: Record<string, unknown>,
  text: string,
): boolean {
  if (method === "notifications/initialized") return true;
  if (method === "notifications/cancelled") {
    const { reason } = params;
    const requestId = cancelledId(params, text);
    if (requestId === undefined) return true;
    const isHere = session.inFlight.has(requestId);
    session.cancel(requestId, typeof reason === "string" ? reason : "Cancelled by the client");
    return isHere;
  }
  session.view.notify(method, params, text);
  return method !== "notifications/roots/list_changed";
}

/** The id of the request that a notification cancels. */
export function cancelledId(
  { requestId }: Record<string, unknown>,
  text: string,
): MessageId | undefined {
  return exactId(requestId, () => nestedText(text, "params", "requestId"));
}

export function nobodyAsked(id: MessageId): string {
  const shown = idText(id).slice(0, 60);
  return `No question with the id ${shown} is waiting for an answer here: it was already answered, ` +
    "has ended, or the gateway that asked it has stopped";
}

export function failureText(
  id: MessageId,
  method: string,
  error: unknown,
  { isCancelled, log }: { isCancelled: boolean; log: Logger },
): string {
  if (isCancelled) return errorText(id, CANCELLED, "The request was canceled");
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
    return false;
  }
}

/** What the caller's request got wrong as a request; everything else happened while it was served. */
const REQUEST_ERRORS: ReadonlySet<ErrorCode> = new Set([
  "TOOL_NOT_FOUND",
  "SERVER_NOT_FOUND",
  "NOT_FOUND",
  "INVALID_PARAMS",
  "HEADER_MISMATCH",
]);

/** An error as the answer to a request: a result the model can read where a tool was called. */
export function rpcErrorText(id: MessageId, method: string, error: unknown): string {
  const known = GatewayError.from(error);
  const isToolCall = method === "tools/call" && !REQUEST_ERRORS.has(known.code);
  if (isToolCall) return resultText(id, JSON.stringify(toolErrorResult(known)));
  return errorText(id, known.rpcCode, known.message, known.toBody());
}
