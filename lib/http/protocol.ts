import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { memberSpans } from "../core/json_spans.ts";
import { errorText, type RpcId } from "../core/rpc.ts";
import type { Session } from "../sessions/session.ts";
import type { ClientIdentity } from "../surfaces/surface.ts";
import type { Logger } from "../telemetry/logs.ts";
import { rpcErrorText } from "./rpc_errors.ts";

// What a door says and understands, whatever carries its messages.

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
export function negotiate(params: Record<string, unknown>): ClientIdentity {
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
  session.surface.notify(method, params, text);
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
export interface CallReport {
  door: { key: string; server?: string };
  method: string;
  params: Record<string, unknown>;
  correlationId: string;
  isError: boolean;
  ms: number;
}

export function logCall(log: Logger, report: CallReport): void {
  const { door, method, params, correlationId, isError, ms } = report;
  log.debug({
    requestId: crypto.randomUUID(),
    correlationId,
    door: door.key,
    ...(door.server === undefined ? {} : { serverName: door.server }),
    method,
    ...(method === "tools/call" ? { toolName: params.name } : {}),
    status: isError ? "error" : "ok",
    duration: Math.round(ms * 100) / 100,
  }, "Call");
}
