import { setTimeout as sleep } from "node:timers/promises";
import { Cancellation, within } from "../core/async.ts";
import { type McpRequest, STATELESS_VERSION } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { classify, type MessageId, parseJson, resultText, type RpcMessage } from "../core/rpc.ts";
import { type HttpRequest, JsonResponse } from "../http/exchange.ts";
import { readBody, readTextInTime } from "../http/request_body.ts";
import { addressOf } from "../http/request_origin.ts";
import { correlationId } from "../http/handle_request.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import {
  type EndpointHost,
  JSON_HEADERS,
  projectIn,
  refuse,
  STREAM_HEADERS,
  tracedRequest,
  type Visit,
} from "./endpoint_host.ts";
import { isStatelessMessage, unsupportedVersion } from "./envelope.ts";
import { type EventStream, parseEventId } from "./event_stream.ts";
import {
  failureText,
  negotiate,
  nobodyAsked,
  notify,
  rpcErrorText,
  SESSION_VERSIONS,
} from "./protocol.ts";
import type { Session } from "./session.ts";
import { handleStateless } from "./stateless.ts";
import type { Answer } from "./view.ts";

/** How long a client whose stream broke off may take to come back before its call is cancelled. */
const RESUME_MS = 400;
/** How much longer if it may come back to another gateway, which then has to ask this one. */
const RESUME_ELSEWHERE_MS = 2_000;

/** How long a new client waits for its session to be stored, without which no other gateway knows it. */
const SAVE_MS = 5_000;

/** Requests that change what servers send to a session, at every gateway that it uses. */
const FOR_THE_SESSION = new Set(["logging/setLevel", "resources/unsubscribe"]);

/** Streamable HTTP: answers in JSON where nothing streams, in server-sent events where something does. */
export function handleMcp(host: EndpointHost, visit: Visit): Promise<Response> {
  return visit.request.method === "POST" ? handlePost(host, visit) : handleOther(host, visit);
}

async function handleOther(host: EndpointHost, visit: Visit): Promise<Response> {
  switch (visit.request.method) {
    case "GET":
      host.countRequest?.(visit.principal, "GET");
      return await handleGet(host, visit);
    case "DELETE": {
      const session = await findSession(host, visit);
      if (session instanceof Response) return session;
      await Promise.all([host.sessions.end(session), host.peers?.end(session)]);
      return new Response(null, { status: 200 });
    }
    default:
      return new Response(null, { status: 405, headers: { allow: "GET, POST, DELETE" } });
  }
}

async function handlePost(host: EndpointHost, visit: Visit): Promise<Response> {
  const { request } = visit;
  const type = request.headers.get("content-type");
  if (type !== "application/json" && (type === null || !/^application\/json\b/i.test(type))) {
    return refuse(415, -32000, "The content type must be application/json");
  }
  if (!accepts(request)) {
    return refuse(406, -32000, "The client must accept application/json and text/event-stream");
  }
  const text = request.wholeText ?? await readText(request, host);
  const value = parseJson(text);
  if (value === undefined) return refuse(400, -32700, "The body is not valid JSON");
  if (Array.isArray(value)) {
    return refuse(400, -32600, "Batches are not supported: send one message at a time");
  }
  const message = classify(value, text);
  if (!message) return refuse(400, -32600, "The body is not a JSON-RPC 2.0 message");
  if (message.kind === "request" && message.method !== "tools/call") {
    host.countRequest?.(visit.principal, message.method);
  }
  const version = request.headers.get("mcp-protocol-version");
  if (message.kind !== "response" && isStatelessMessage(message, version)) {
    return await handleStateless(host, visit, message, text);
  }
  if (version !== null && !isKnownVersion(version)) {
    const id = message.kind === "notification" ? null : message.id;
    const { status, code, message: why, data } = unsupportedVersion(version);
    return refuse(status, code, why, id, data);
  }
  if (message.kind === "request" && message.method === "server/discover") {
    return refuse(400, -32601, "Method not found: server/discover", message.id);
  }
  if (message.kind === "request" && message.method === "initialize") {
    return await initialize(host, visit, message.id, message.params);
  }
  const found = findSession(host, visit, message);
  const session = found instanceof Promise ? await found : found;
  if (session instanceof Response) return session;
  session.touch();
  switch (message.kind) {
    case "response":
      // Not 404, which would tell the client that its session is gone.
      if (
        !session.answer(message.id, text) &&
        !await host.peers?.answer(session, visit.principal, message.id, text)
      ) {
        return refuse(400, -32600, nobodyAsked(message.id));
      }
      return new Response(null, { status: 202 });
    case "notification":
      if (!notify(session, message.method, message.params, text)) {
        host.peers?.repeat(session, visit.principal, text);
      }
      return new Response(null, { status: 202 });
    case "request":
      if (FOR_THE_SESSION.has(message.method)) host.peers?.repeat(session, visit.principal, text);
      return await answer(host, visit, session, message, text);
  }
}

async function initialize(
  host: EndpointHost,
  visit: Visit,
  id: MessageId,
  params: Record<string, unknown>,
): Promise<Response> {
  host.checkNewcomer?.(visit);
  const { endpoint, principal, request, info } = visit;
  try {
    const profile = negotiate(params);
    const introduction = await endpoint.view.introduce(principal);
    const from = info && addressOf(request, info);
    const record = { endpoint: endpoint.key, principal, profile, from };
    const session = host.sessions.create(record, endpoint.view);
    // The client's next request may reach another gateway, which has to find it.
    if (host.peers) await within(session.saved, SAVE_MS);
    const result = { protocolVersion: profile.protocolVersion, ...introduction };
    const body = resultText(id, JSON.stringify(result));
    return new Response(body, { headers: { ...JSON_HEADERS, "mcp-session-id": session.id } });
  } catch (error) {
    const isOurs = !(error instanceof GatewayError && error.code === "INVALID_PARAMS");
    return new Response(rpcErrorText(id, "initialize", error), {
      status: isOurs ? 200 : 400,
      headers: JSON_HEADERS,
    });
  }
}

/** Answers in JSON, unless something has to be sent before the response. */
function answer(
  host: EndpointHost,
  { endpoint, request: http, principal }: Visit,
  session: Session,
  message: Extract<RpcMessage, { kind: "request" }>,
  text: string,
): Promise<Response> {
  const { id, method, params } = message;
  if (session.inFlight.has(id)) {
    return Promise.resolve(
      refuse(400, -32600, "A request with this ID is already in progress", id),
    );
  }
  const signal = new Cancellation();
  session.inFlight.set(id, signal);
  const started = performance.now();
  const response = Promise.withResolvers<Response>();
  let stream: EventStream | undefined;
  let caller = principal;

  // A client that goes before there is a stream is noticed by it: to listen for that with every
  // request would cost more than the few calls it could end a moment earlier.
  function openStream(): EventStream {
    if (stream) return stream;
    const opened = stream = session.openStream(principal);
    const isGone = () => !opened.isAttached && !opened.isFinished;
    opened.onDetach = async () => {
      await sleep(RESUME_MS);
      if (isGone() && await host.peers?.areThere()) await sleep(RESUME_ELSEWHERE_MS);
      if (isGone()) signal.abort(new DOMException("The client disconnected", "AbortError"));
    };
    response.resolve(streamResponse(session, opened.attach()));
    return opened;
  }
  function send(out: string): void {
    if (!signal.aborted) openStream().send(out);
  }

  function finish(out: string, call: CallRecord | undefined, refusal?: GatewayError): void {
    host.patience.delete(patience);
    session.inFlight.delete(id);
    session.touch();
    if (stream) {
      stream.send(out);
      stream.finish();
    } else if (refusal) {
      response.reject(refusal);
    } else {
      response.resolve(new JsonResponse(out));
    }
    const ms = performance.now() - started;
    const answer = { text: out, started, ms };
    host.onAnswered({ method, request: text, principal: caller, session, call, answer });
    const correlation = () => correlationId(http);
    host.calls?.write({ endpoint, message, session, call, answer, correlationId: correlation });
  }
  function fail(error: unknown, call?: CallRecord): void {
    const isCancelled = signal.aborted;
    const refusal = isCancelled ? undefined : host.stepUp?.(caller, error);
    const shown = session.view.explain?.(error) ?? error;
    finish(failureText(id, method, shown, { isCancelled, log: host.log }), call, refusal);
  }
  /** With the rights of the token that came with this request, in the project that it names. */
  async function askAs(): Promise<Answer> {
    if (project !== undefined) caller = host.switchProject(principal, project);
    return await tracedRequest(endpoint.key, request, session.viewAs(caller));
  }
  const request: McpRequest = { id, method, params, text, signal, send };
  const project = projectIn(params);
  const isOwn = project === undefined && principal === session.principal;
  const answered = isOwn ? tracedRequest(endpoint.key, request, session.view) : askAs();
  // Only now, when the server has its request: what it needs comes first.
  const patience = host.patience.add(openStream);
  void answered.then(
    (answer) =>
      "error" in answer ? fail(answer.error, answer.call) : finish(answer.text, answer.call),
    (error: unknown) => fail(error),
  );
  return response.promise;
}

async function handleGet(host: EndpointHost, visit: Visit): Promise<Response> {
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
      return refuse(403, -32000, "Listening requires a token with the session's rights");
    }
    const stream = session.common.attach();
    host.peers?.listens(session);
    return streamResponse(session, stream);
  }
  const seen = parseEventId(lastEventId);
  if (!seen) return refuse(400, -32000, "Last-Event-ID does not belong to this session");
  const rest = session.hasSent(seen)
    ? undefined
    : await host.peers?.resume(session, visit.principal, seen);
  if (rest) return streamResponse(session, rest);
  const own = session.resume(seen, visit.principal);
  // Not 404, which would say that the whole session is unknown.
  if (!own) {
    return refuse(400, -32000, "Cannot resume: the events after this one are no longer stored");
  }
  if (seen.stream === session.common.id) host.peers?.listens(session);
  return streamResponse(session, own);
}

function streamResponse(session: Session, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: { ...STREAM_HEADERS, "mcp-session-id": session.id },
  });
}

function findSession(
  host: EndpointHost,
  { endpoint, request, principal }: Visit,
  message?: RpcMessage,
): Session | Response | Promise<Session | Response> {
  const id = request.headers.get("mcp-session-id");
  const requestId = message && message.kind !== "notification" ? message.id : null;
  if (id === null) {
    return refuse(400, -32000, "The header Mcp-Session-Id is missing: initialize first", requestId);
  }
  const owned = { id, endpoint: endpoint.key, principal };
  const missing = () => refuse(404, -32001, "Session not found: initialize again", requestId);
  return host.sessions.peek(owned) ??
    host.sessions.find(owned, endpoint.view).then((session) => session ?? missing());
}

function readText(request: HttpRequest, { maxBody, bodies }: EndpointHost): Promise<string> {
  // A declared length was checked before; only what declares none has to be counted.
  // Read by value: checking whether a header exists would copy all of them.
  if (request.headers.get("content-length") !== null) {
    return bodies ? readTextInTime(request, bodies) : request.text();
  }
  return readBody(request, maxBody).then((body) => new TextDecoder().decode(body));
}

function accepts(request: HttpRequest): boolean {
  const accept = request.headers.get("accept");
  if (accept === null || accept.includes("*/*")) return true;
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

function isKnownVersion(version: string): boolean {
  // Revisions in between, which we do not know by name, kept sessions as well.
  return SESSION_VERSIONS.includes(version) ||
    (/^20\d\d-\d\d-\d\d$/.test(version) && version > "2024-11-05" && version < STATELESS_VERSION);
}
