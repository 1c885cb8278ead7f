import { SERVER_INFO_KEY, TASKS_EXTENSION } from "../core/stateless.ts";
import { Cancellation } from "../core/async.ts";
import { progressTokenOf } from "../core/client.ts";
import type { GatewayError } from "../core/errors.ts";
import { isObject, memberSpans, type MessageId, resultText, type RpcMessage } from "../core/rpc.ts";
import { type HttpRequest, JsonResponse } from "../http/exchange.ts";
import { isForwarded } from "../http/guard.ts";
import { correlationId } from "../http/handle_request.ts";
import { addressOf } from "../http/request_origin.ts";
import {
  type EndpointHost,
  JSON_HEADERS,
  projectIn,
  refuse,
  STREAM_HEADERS,
  type Visit,
} from "./endpoint_host.ts";
import { BRIDGE_HEADER, type Envelope, type RpcRequest } from "./envelope.ts";
import { EventBody } from "./event_body.ts";
import { Listen, type ListenSink } from "./listen.ts";
import { PROTOCOL_VERSIONS } from "./protocol.ts";
import {
  fingerprintOf,
  refusedText,
  type Round,
  StatelessCall,
  type StatelessCallOptions,
} from "./stateless_call.ts";
import { type StatelessSession, statelessSession } from "./stateless_session.ts";
import type { View } from "./view.ts";

/** Descriptions of endpoints change only with their servers. */
const DISCOVER_TTL_MS = 60_000;

/** Streamable HTTP without sessions: each request says what it needs to be answered. */
export async function handleStateless(
  host: EndpointHost,
  visit: Visit,
  message: Exclude<RpcMessage, { kind: "response" }>,
  text: string,
): Promise<Response> {
  // A client cancels by closing its stream, so there are no notifications to process.
  if (message.kind === "notification") return new Response(null, { status: 202 });
  const { id } = message;
  const opened = host.envelopes.open(message, text, visit.request.headers);
  if ("code" in opened) {
    return refuse(opened.status, opened.code, opened.message, id, opened.data);
  }
  host.checkNewcomer?.(visit);
  return await answer(host, visit, opened.envelope, message, opened.text);
}

/** Rejects with errors that need an HTTP status; all other errors are answers. */
function answer(
  host: EndpointHost,
  visit: Visit,
  { profile, identity, logLevel }: Envelope,
  message: RpcRequest,
  text: string,
): Promise<Response> {
  const { endpoint, request, info } = visit;
  const { id, method, params } = message;
  const from = () => info && addressOf(request, info);
  let session: StatelessSession | undefined;
  const refused = (error: unknown) =>
    new Response(refusedText(id, method, error, session?.view), { headers: JSON_HEADERS });
  try {
    const project = projectIn(params);
    const principal = project === undefined
      ? visit.principal
      : host.switchProject(visit.principal, project);
    if (method === "server/discover") {
      return discover(host, endpoint.view, principal, id)
        .then((text) => new JsonResponse(text)).catch(refused);
    }
    const visitor = { endpoint: endpoint.key, principal, profile, identity, from };
    session = statelessSession(host, visitor, endpoint.view);
    session.touch();
    if (method === "subscriptions/listen") return listen(session).catch(refused);
    const round = new HttpRound(message, text);
    runRound(round, {
      host,
      endpoint,
      session,
      message,
      text,
      logLevel,
      correlationId: () => correlationId(request),
      header: isBridged(request) ? undefined : (name) => request.headers.get(name),
    });
    round.wait(host);
    return round.response;
  } catch (error) {
    return Promise.resolve(refused(error));
  }

  async function listen(session: StatelessSession): Promise<Response> {
    const closing = Promise.withResolvers<void>();
    const body = new EventBody(closing.resolve);
    const sink: ListenSink = {
      send: (text) => body.send(text),
      heartbeat: () => body.comment("still here"),
      end: () => body.close(),
    };
    const open = await Listen.open(session, endpoint.view, message, () => sink, host.held);
    void closing.promise.then(() => open.close());
    return new Response(body.stream, { headers: STREAM_HEADERS });
  }
}

/** A proxy in between could not have read the headers that are missing, so it may not be there. */
function isBridged(request: HttpRequest): boolean {
  return request.headers.get(BRIDGE_HEADER) !== null && !isForwarded(request);
}

const TASK_METHODS = ["tasks/get", "tasks/update", "tasks/cancel"] as const;

/** Makes a call, or continues the one that the request's state stands for; throws INVALID_PARAMS. */
export function runRound(
  round: Round,
  request: StatelessCallOptions,
): Pick<StatelessCall, "cancel"> {
  const { host, message, text, endpoint, session } = request;
  const { requestState: state, taskId } = message.params;
  const { principal, view } = session;
  const refused = (error: unknown) => refusedText(message.id, message.method, error, view);
  const onTask = TASK_METHODS.find((method) => method === message.method);
  if (onTask && host.held.isOurs(taskId)) {
    const answers = [...inputResponses(message, text)];
    const about = { taskId, endpoint: endpoint.key, principal, method: onTask, answers };
    host.held.askTask(about, { round, refused });
    return { cancel() {} };
  }
  if (host.held.isOurs(state)) {
    const retry = { state, endpoint: endpoint.key, principal, fingerprint: fingerprintOf(message) };
    return host.held.resume(retry, { round, answers: inputResponses(message, text), refused });
  }
  const call = new StatelessCall(request, round);
  call.run();
  return call;
}

export async function discover(
  { held }: Pick<EndpointHost, "held">,
  view: View,
  principal: string,
  id: MessageId,
): Promise<string> {
  const { capabilities, serverInfo, instructions } = await view.introduce(principal);
  // Tasks are an extension now: the gateway's own, and those of servers of this revision.
  const { tasks: _, ...offered } = isObject(capabilities) ? capabilities : {};
  const { extensions } = offered;
  const own = held.slow && offered.tools !== undefined ? { [TASKS_EXTENSION]: {} } : undefined;
  if (own) offered.extensions = { ...own, ...isObject(extensions) ? extensions : {} };
  return resultText(
    id,
    JSON.stringify({
      resultType: "complete",
      supportedVersions: PROTOCOL_VERSIONS,
      capabilities: offered,
      ...(instructions === undefined ? {} : { instructions }),
      ttlMs: DISCOVER_TTL_MS,
      cacheScope: "private",
      _meta: { [SERVER_INFO_KEY]: serverInfo },
    }),
  );
}

/** The client's answers as the text that came, by the ids of the questions. */
function inputResponses({ params }: RpcRequest, text: string): Map<string, string> {
  if (!isObject(params.inputResponses)) return new Map();
  const sent = memberSpans(text).get("params")!;
  const responses = memberSpans(text, sent.start).get("inputResponses")!;
  const answers = memberSpans(text, responses.start);
  return new Map(
    Array.from(answers).filter(([id]) => isObject(Reflect.get(params.inputResponses!, id)))
      .map(([id, { start, end }]) => [id, text.slice(start, end)]),
  );
}

/** A round over HTTP: answered in JSON, or on a stream if something comes before the answer. */
class HttpRound implements Round {
  readonly id: MessageId;
  readonly progressToken;
  readonly gone = new Cancellation();
  readonly #response = Promise.withResolvers<Response>();
  #body: EventBody | undefined;
  #stopWaiting: (() => void) | undefined;
  #isOver = false;

  constructor({ id, params }: RpcRequest, text: string) {
    this.id = id;
    this.progressToken = progressTokenOf({ params, text });
  }

  get response(): Promise<Response> {
    return this.#response.promise;
  }

  /** Opens a stream if the answer takes long: with one, a client that goes away is noticed. */
  wait({ held: { patience } }: Pick<EndpointHost, "held">): void {
    if (this.#isOver) return;
    const waiting = patience.add(() => this.#open());
    this.#stopWaiting = () => patience.delete(waiting);
  }

  send(text: string): void {
    if (!this.#isOver) this.#open().send(text);
  }

  end(text: string, status: number, refusal?: GatewayError): void {
    this.#isOver = true;
    this.#stopWaiting?.();
    if (this.#body) {
      this.#body.send(text);
      this.#body.close();
    } else if (refusal) this.#response.reject(refusal);
    else if (status === 200) this.#response.resolve(new JsonResponse(text));
    else this.#response.resolve(new Response(text, { status, headers: JSON_HEADERS }));
  }

  #open(): EventBody {
    if (this.#body) return this.#body;
    const body = this.#body = new EventBody(() => {
      if (!this.#isOver) this.gone.abort(undefined);
    });
    this.#response.resolve(new Response(body.stream, { headers: STREAM_HEADERS }));
    return body;
  }
}
