import type { TimeoutQueue } from "../core/async.ts";
import type { McpRequest } from "../core/client.ts";
import type { GatewayError } from "../core/errors.ts";
import { errorText, isObject, type MessageId } from "../core/rpc.ts";
import type { HttpRequest } from "../http/exchange.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import type { Logger } from "../telemetry/logs.ts";
import { looksFailed } from "./protocol.ts";
import { failSpan, isTracing, mcpSpan, traceFields, withSpan } from "../telemetry/tracing.ts";
import type { CallLog } from "./call_log.ts";
import type { EnvelopeReader } from "./envelope.ts";
import type { HeldCalls } from "./held_calls.ts";
import type { Session, Sessions } from "./session.ts";
import type { SessionPeers } from "./session_peers.ts";
import type { Answer, View, ViewSession } from "./view.ts";

export interface McpEndpoint {
  /** Names the endpoint and its view, as in `servers/git?namespaced`; a session belongs to one. */
  key: string;
  server?: string;
  /** Whether its lists change with the toolset that the caller equips. */
  isEquippable?: boolean;
  view: View;
}

export interface AnsweredRequest {
  method: string;
  request: string;
  /** Who asked; differs from the session's principal for other projects and tokens. */
  principal: string;
  session: Session;
  call: CallRecord | undefined;
  answer: {
    text: string;
    started: number;
    ms: number;
  };
}

/** What all endpoints share, whatever transport their clients use. */
export interface EndpointHost {
  sessions: Sessions;
  /** Calls of stateless clients that wait for their answers. */
  held: HeldCalls;
  /** Other gateways, which clients of the same sessions may reach. */
  peers?: SessionPeers | undefined;
  envelopes: EnvelopeReader;
  maxBody: number;
  log: Logger;
  calls?: CallLog;
  /** How long a response may take before it comes on a stream. */
  patience: TimeoutQueue;
  bodies?: TimeoutQueue;
  /** Counts a request that is not a call; throws LIMIT_EXCEEDED. */
  countRequest?: ((principal: string, method: string) => void) | undefined;
  onAnswered(answered: AnsweredRequest): void;
  /** A caller's principal in a project that it names; throws if that is not its own. */
  switchProject(principal: string, project: string): string;
  /** Throws TOKEN_REQUIRED if the client may not connect without a token. */
  checkNewcomer?(visit: Visit): void;
  /** The error to send by status instead, if the user can get a token with the missing right. */
  stepUp?(principal: string, error: unknown): GatewayError | undefined;
}

export interface Visit {
  endpoint: McpEndpoint;
  request: HttpRequest;
  principal: string;
  /** The connection; read only when a session is made, because that is too slow for every call. */
  info?: Deno.ServeHandlerInfo | undefined;
}

/** Makes a request, in a span of its own if spans are exported. */
export function tracedRequest(
  endpoint: string,
  request: McpRequest,
  view: ViewSession,
): Promise<Answer> {
  if (!isTracing) return view.request(request);
  const attributes = {
    "quartermaster.endpoint": endpoint,
    "jsonrpc.request.id": String(request.id),
  };
  const start = mcpSpan("server", request.method, request.params, attributes);
  return withSpan(start, async (span) => {
    const answer = await view.request(request);
    if (!span) return answer;
    if (answer.call) {
      answer.call.trace = traceFields();
      span.setAttributes({
        "quartermaster.server": answer.call.server,
        "quartermaster.tool": answer.call.tool,
      });
    }
    if ("error" in answer) failSpan(span, answer.error);
    else if (looksFailed(answer.text)) failSpan(span, "tool_error");
    return answer;
  });
}

export function projectIn({ _meta: meta }: Record<string, unknown>): string | undefined {
  const project = isObject(meta) ? meta.projectId : undefined;
  return typeof project === "string" && project !== "" ? project : undefined;
}

export const JSON_HEADERS = { "content-type": "application/json" };

export const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Otherwise nginx, with its default settings, buffers a stream until it ends.
  "x-accel-buffering": "no",
};

export function refuse(
  status: number,
  code: number,
  message: string,
  id: MessageId | null = null,
  data?: Record<string, unknown>,
): Response {
  return new Response(errorText(id, code, message, data), { status, headers: JSON_HEADERS });
}
