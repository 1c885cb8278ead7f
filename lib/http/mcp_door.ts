import { Cancellation } from "../core/cancellation.ts";
import { GatewayError } from "../core/errors.ts";
import { classify, errorText, isObject, type RpcId, type RpcMessage } from "../core/rpc.ts";
import type { TimeoutQueue } from "../core/timeout_queue.ts";
import type { Logger } from "../telemetry/logs.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionManager } from "../sessions/session_manager.ts";
import { type EventStream, parseEventId } from "../sessions/event_stream.ts";
import { withSpan } from "../telemetry/spans.ts";
import type { RequestScope, Surface } from "../surfaces/surface.ts";
import { addressOf } from "./from_here.ts";
import { readBody, readTextInTime } from "./guard.ts";
import {
  failureText,
  logCall,
  looksFailed,
  negotiate,
  notify,
  PROTOCOL_VERSIONS,
  STATELESS_SINCE,
} from "./protocol.ts";
import { correlationId } from "./request_scope.ts";
import { rpcErrorText } from "./rpc_errors.ts";

/** How long a client whose stream broke off may take to come back before its call is cancelled. */
const RESUME_MS = 400;

const JSON_HEADERS = { "content-type": "application/json" };

export interface Door {
  /** Names the door and its view; a session belongs to one. */
  key: string;
  /** The one server behind it, if there is just one. */
  server?: string;
  surface: Surface;
}

/** How a request was answered. */
export interface CallAnswer {
  text: string;
  /** When it began, by the process's clock. */
  started: number;
  ms: number;
}

export interface DoorHost {
  sessions: SessionManager;
  maxBody: number;
  log: Logger;
  /** How long an answer may take before it comes on a stream. */
  patience: TimeoutQueue;
  /** How long a body may take to arrive. */
  bodies?: TimeoutQueue;
  /** Counts a request that is no call; throws LIMIT_EXCEEDED. */
  countRequest?: ((principal: string, method: string) => void) | undefined;
  onCall(scope: RequestScope, session: Session, answer: CallAnswer): void;
  /** A caller as it is in a project that it names; throws where that is not its own. */
  switchProject(principal: string, project: string): string;
  /** Throws TOKEN_REQUIRED where whoever begins a session may not do so without a token. */
  checkNewcomer?(visit: Visit): void;
  /** What a client is told by status instead, where its user can get a token that mends an error. */
  stepUp?(principal: string, error: unknown): GatewayError | undefined;
}

/** A client at a door. */
export interface Visit {
  door: Door;
  request: Request;
  /** Who the request is made for. */
  principal: string;
  /** Of the connection; looked at when a session is made, which costs too much for every call. */
  info?: Deno.ServeHandlerInfo | undefined;
}

/** Streamable HTTP: answers in JSON where nothing streams, in server-sent events where something does. */
export function handleMcp(host: DoorHost, visit: Visit): Promise<Response> {
  return visit.request.method === "POST" ? handlePost(host, visit) : handleOther(host, visit);
}

async function handleOther(host: DoorHost, visit: Visit): Promise<Response> {
  switch (visit.request.method) {
    case "GET":
      host.countRequest?.(visit.principal, "GET");
      return await handleGet(host, visit);
    case "DELETE": {
      const session = await findSession(host, visit);
      if (session instanceof Response) return session;
      await host.sessions.end(session);
      return new Response(null, { status: 200 });
    }
    default:
      return new Response(null, { status: 405, headers: { allow: "GET, POST, DELETE" } });
  }
}

async function handlePost(host: DoorHost, visit: Visit): Promise<Response> {
  const { request } = visit;
  const type = request.headers.get("content-type");
  if (type !== "application/json" && (type === null || !/^application\/json\b/i.test(type))) {
    return refuse(415, -32000, "The content type must be application/json");
  }
  if (!accepts(request)) {
    return refuse(406, -32000, "The client must accept application/json and text/event-stream");
  }
  const text = await readText(request, host);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(400, -32700, "The body is not valid JSON");
  }
  if (Array.isArray(value)) {
    return refuse(400, -32600, "Batches are not supported: send one message at a time");
  }
  const message = classify(value);
  if (!message) return refuse(400, -32600, "The body is not a JSON-RPC 2.0 message");
  if (message.kind === "request" && message.method !== "tools/call") {
    host.countRequest?.(visit.principal, message.method);
  }
  const version = request.headers.get("mcp-protocol-version");
  if (message.kind === "request" && message.method === "server/discover") {
    return refuse(400, -32601, "Method not found: server/discover", message.id);
  }
  if (version !== null && !isKnownVersion(version)) return unsupportedVersion(version, message);
  if (message.kind === "request" && message.method === "initialize") {
    return await initialize(host, visit, message.id, message.params);
  }
  const found = findSession(host, visit, message);
  const session = found instanceof Promise ? await found : found;
  if (session instanceof Response) return session;
  session.touch();
  switch (message.kind) {
    case "response":
      session.answer(message.id, text);
      return new Response(null, { status: 202 });
    case "notification":
      notify(session, message.method, message.params, text);
      return new Response(null, { status: 202 });
    case "request":
      return await answer(host, visit, session, message, text);
  }
}

async function initialize(
  host: DoorHost,
  visit: Visit,
  id: RpcId,
  params: Record<string, unknown>,
): Promise<Response> {
  host.checkNewcomer?.(visit);
  const { door, principal, request, info } = visit;
  try {
    const client = negotiate(params);
    const introduction = await door.surface.introduce();
    const from = info && addressOf(request, info);
    const record = { door: door.key, principal, client, from };
    const session = host.sessions.create(record, door.surface);
    const result = { protocolVersion: client.protocolVersion, ...introduction };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    return new Response(body, { headers: { ...JSON_HEADERS, "mcp-session-id": session.id } });
  } catch (error) {
    const isOurs = !(error instanceof GatewayError && error.code === "INVALID_PARAMS");
    return new Response(rpcErrorText(id, "initialize", error), {
      status: isOurs ? 200 : 400,
      headers: JSON_HEADERS,
    });
  }
}

/** Answers in JSON, unless something has to be said before the answer. */
function answer(
  host: DoorHost,
  { door, request, principal }: Visit,
  session: Session,
  message: Extract<RpcMessage, { kind: "request" }>,
  text: string,
): Promise<Response> {
  const { id, method, params } = message;
  if (session.inFlight.has(id)) {
    return Promise.resolve(refuse(400, -32600, "A request with this id is in flight already", id));
  }
  const signal = new Cancellation();
  session.inFlight.set(id, signal);
  const started = performance.now();
  const response = Promise.withResolvers<Response>();
  let stream: EventStream | undefined;

  // A client that goes before there is a stream is noticed by it: to listen for that with every
  // request would cost more than the few calls it could end a moment earlier.
  function openStream(): EventStream {
    if (stream) return stream;
    const opened = stream = session.openStream(principal);
    opened.onDetach = () => {
      setTimeout(() => {
        if (opened.isAttached || opened.isFinished) return;
        signal.abort(new DOMException("The client has gone", "AbortError"));
      }, RESUME_MS);
    };
    response.resolve(streamResponse(session, opened.attach()));
    return opened;
  }
  function send(out: string): void {
    if (!signal.aborted) openStream().send(out);
  }

  const scope: RequestScope = { id, method, params, text, signal, send };
  const attributes = { "mcp.door": door.key, "mcp.method": method };
  function finish(out: string, refusal?: GatewayError): void {
    host.patience.delete(patience);
    session.inFlight.delete(id);
    session.touch();
    if (stream) {
      stream.send(out);
      stream.finish();
    } else if (refusal) {
      response.reject(refusal);
    } else {
      response.resolve(new Response(out, { headers: JSON_HEADERS }));
    }
    const ms = performance.now() - started;
    host.onCall(scope, session, { text: out, started, ms });
    // Nothing is gathered for a line that is not written.
    if (!host.log.isLevelEnabled("debug")) return;
    logCall(host.log, {
      door,
      method,
      params,
      correlationId: correlationId(request) ?? session.id,
      isError: looksFailed(out),
      ms,
    });
  }
  const asked = withSpan("mcp request", attributes, () => ask(host, session, principal, scope));
  // Only now, when the server has its request: what it needs comes first.
  const patience = host.patience.add(openStream);
  void asked.then(
    (out) => finish(out),
    (error: unknown) => {
      const isCancelled = signal.aborted;
      const refusal = isCancelled ? undefined : host.stepUp?.(scope.principal ?? principal, error);
      finish(failureText(id, method, error, { isCancelled, log: host.log }), refusal);
    },
  );
  return response.promise;
}

/** Asks what the client has open here, or in the project that this one request names. */
function ask(
  host: DoorHost,
  session: Session,
  principal: string,
  scope: RequestScope,
): Promise<string> {
  const { _meta: meta } = scope.params;
  const project = isObject(meta) ? meta.projectId : undefined;
  const isInOther = typeof project === "string" && project !== "";
  if (!isInOther && principal === session.principal) return session.surface.request(scope);
  return askAs(
    session,
    () => isInOther ? host.switchProject(principal, project) : principal,
    scope,
  );
}

/** With the rights of the token that came with this one request, in the project that it names. */
async function askAs(
  session: Session,
  principal: () => string,
  scope: RequestScope,
): Promise<string> {
  const asked = scope.principal = principal();
  return await session.surfaceAs(asked).request(scope);
}

async function handleGet(host: DoorHost, visit: Visit): Promise<Response> {
  const { request } = visit;
  if (!/text\/event-stream|\*\/\*/.test(request.headers.get("accept") ?? "")) {
    return refuse(406, -32000, "The client must accept text/event-stream");
  }
  const session = await findSession(host, visit);
  if (session instanceof Response) return session;
  session.touch();
  const lastEventId = request.headers.get("last-event-id");
  if (lastEventId === null) {
    // What belongs to no request is for the rights that the session was made with.
    if (session.principal !== visit.principal) {
      return refuse(
        403,
        -32000,
        "To listen takes a token with the same rights as the session's own",
      );
    }
    return streamResponse(session, session.common.attach());
  }
  const seen = parseEventId(lastEventId);
  if (!seen) return refuse(400, -32000, "Last-Event-ID is not one of this session's");
  const rest = session.resume(seen, visit.principal);
  // Not 404, which would say that the whole session is unknown.
  if (!rest) return refuse(400, -32000, "What came after this event is no longer known");
  return streamResponse(session, rest);
}

function streamResponse(session: Session, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "mcp-session-id": session.id,
    },
  });
}

/** At once where the session is in memory, as nearly all are. */
function findSession(
  host: DoorHost,
  { door, request, principal }: Visit,
  message?: RpcMessage,
): Session | Response | Promise<Session | Response> {
  const id = request.headers.get("mcp-session-id");
  const requestId = message && message.kind !== "notification" ? message.id : null;
  if (id === null) {
    return refuse(400, -32000, "The header Mcp-Session-Id is missing: initialize first", requestId);
  }
  const owned = { id, door: door.key, principal };
  const missing = () =>
    refuse(404, -32001, "There is no such session: initialize again", requestId);
  return host.sessions.peek(owned) ??
    host.sessions.find(owned, door.surface).then((session) => session ?? missing());
}

function readText(request: Request, { maxBody, bodies }: DoorHost): Promise<string> {
  // A declared length was checked before; only what declares none has to be counted.
  // Asked for by value: to look whether a header is there has all of them copied.
  if (request.headers.get("content-length") !== null) {
    return bodies ? readTextInTime(request, bodies) : request.text();
  }
  return readBody(request, maxBody).then((body) => new TextDecoder().decode(body));
}

function accepts(request: Request): boolean {
  const accept = request.headers.get("accept");
  if (accept === null || accept.includes("*/*")) return true;
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

function isKnownVersion(version: string): boolean {
  // Revisions in between, which we do not know by name, kept sessions as well.
  return PROTOCOL_VERSIONS.includes(version) ||
    (/^20\d\d-\d\d-\d\d$/.test(version) && version > "2024-11-05" && version < STATELESS_SINCE);
}

function unsupportedVersion(requested: string, message: RpcMessage): Response {
  const id = message.kind === "notification" ? null : message.id;
  const error = {
    code: -32022,
    message: `Protocol version ${requested.slice(0, 40)} is not supported`,
    data: { supported: PROTOCOL_VERSIONS, requested: requested.slice(0, 40) },
  };
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, error }), {
    status: 400,
    headers: JSON_HEADERS,
  });
}

function refuse(status: number, code: number, message: string, id: RpcId | null = null): Response {
  return new Response(errorText(id, code, message), { status, headers: JSON_HEADERS });
}
