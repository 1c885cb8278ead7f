import type { ServerCapabilities } from "@modelcontextprotocol/sdk/types";
import { type ClientProfile, isStateless } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { SUBSCRIPTION_ID_KEY } from "../core/stateless.ts";
import { failureCause } from "../core/failure_cause.ts";
import { totalLimitMs } from "../core/server.ts";
import { durationText } from "../core/text.ts";
import {
  errorText,
  idText,
  isObject,
  memberSpans,
  memberText,
  type MessageId,
  notificationText,
  replaceSpan,
  requestText,
  type RpcMessage,
} from "../core/rpc.ts";
import type { Era, Handshake, ServerInfo } from "./negotiation.ts";
import type { SdkSession } from "./sdk_client.ts";
import type { ManagedServer } from "./server.ts";
import {
  type HeaderParameters,
  type Introduction,
  isMethodName,
  requestHeaders,
  withEnvelope,
} from "./stateless_request.ts";
import {
  type Exchange,
  type MessageListener,
  type Transport,
  TransportClosed,
  type TransportEvents,
} from "./transports/transport.ts";
import {
  abortable,
  Cancellation,
  type CancelSignal,
  type Timeout,
  TimeoutQueue,
} from "../core/async.ts";

const METHOD_NOT_FOUND = -32601;
/** On a shared connection they are the same whoever asks. */
const COMMON_LISTS = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
]);
/** The handshake's own request is number 0. */
const FIRST_ID = 1;

export interface ConnectionOptions extends Introduction {
  serverName: string;
  openTransport: (events: TransportEvents, signal: AbortSignal) => Transport | Promise<Transport>;
  /** For the start and the handshake, not counting an install. */
  startTimeoutMs: number;
  /** What the server spoke last, if that is known. */
  era?: Era | undefined;
  probeMs?: number | undefined;
  /** Ends the opening; of no meaning once the connection is open. */
  signal?: AbortSignal;
  events: ConnectionEvents;
  /** What a caller is told in place of a transport's failure. */
  explain?: (error: TransportClosed) => Error;
}

interface ConnectionEvents {
  /** A notification or request of the server's that belongs to no call in particular. */
  onMessage: MessageListener;
  /** Called once: new calls have to go elsewhere. */
  onClose(reason: TransportClosed): void;
  onLog: TransportEvents["onLog"];
  onInstall?: TransportEvents["onInstall"];
}

export interface Call {
  method: string;
  /** The text of its params, relayed as it is but for the progress token. */
  params?: string | undefined;
  /** The caller's progress token, if its params have one. */
  progressToken?: MessageId | undefined;
  /** Whether what the server asks during the call may go to its caller. */
  canBeAsked?: boolean;
  timeoutMs: number;
  /** Time limit however much progress the server reports. Default: an hour, or `timeoutMs`. */
  maxTimeoutMs?: number | undefined;
  /** Whether notifications or requests may come before the answer. */
  streams: boolean;
  /** What comes before the answer, in order; progress under the caller's own token. */
  onMessage?: MessageListener | undefined;
  signal?: CancelSignal | undefined;
  /** Whose call it is; a stateless server is told with each request. */
  client?: ClientProfile | undefined;
  /** With whose rights; missing if it is the gateway's own. */
  principal?: string | undefined;
  /** The least important log messages that its caller wants of a stateless server. */
  logLevel?: string | undefined;
}

/** The time limits that a server's entry has for its calls. */
export function callLimits({ timeoutMs, server }: Pick<ManagedServer, "timeoutMs" | "server">) {
  return { timeoutMs, maxTimeoutMs: server.spec.maxTimeoutMs };
}

interface Pending {
  /** Undefined once it is over: see TimeoutQueue for why nothing may hang on an entry then. */
  call: Call | undefined;
  /** Restarts the time limit: a server that reports progress is alive. */
  touch: (() => void) | undefined;
}

/** What is under way on a connection; it is there before the connection, for what comes early. */
interface Traffic {
  pending: Map<number, Pending>;
  /** Of each open subscription, what hears its notifications. */
  subscriptions: Map<number, MessageListener>;
  lastId: number;
  /** The principals that have requested anything but a list since the connection was opened. */
  callers: Callers;
  heardAt: number;
  /** Tells that it is over, the first time it is called. */
  close(reason: TransportClosed): void;
}

/** Nobody yet, one principal, or several. */
type Callers = { only: string | undefined } | "none" | "several";

/** A connection to one server: relays calls, counts ids, keeps time, maps progress tokens. */
export class Connection implements AsyncDisposable {
  readonly info: ServerInfo;
  /** Whether the server keeps nothing between requests, so that all clients can share it. */
  readonly isStateless: boolean;
  /** How the next connection to the server should begin. */
  readonly nextEra: Era;
  /** What is not relayed: the SDK's client does it. */
  readonly session: SdkSession;
  /** The parameters of the server's tools that headers repeat. */
  headerParameters: HeaderParameters = new Map();
  readonly #over = new AbortController();
  readonly #limits = new Map<number, TimeoutQueue>();
  readonly #transport: Transport;
  readonly #options: ConnectionOptions;
  readonly #traffic: Traffic;
  readonly #onIdle: (() => void)[] = [];

  private constructor(
    transport: Transport,
    { info, era, next, session }: Handshake,
    options: ConnectionOptions,
    traffic: Traffic,
  ) {
    this.#transport = transport;
    this.info = info;
    this.isStateless = era === "stateless";
    this.nextEra = next;
    this.session = session;
    this.#options = options;
    this.#traffic = traffic;
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
    try {
      return await Connection.#open(options);
    } catch (error) {
      // Some programs end when anything comes before they are initialized.
      const isEnded = error instanceof ProgramEnded && failureCause(error.message) === undefined;
      if (!isEnded || options.era !== undefined || options.signal?.aborted) throw error;
      return await Connection.#open({ ...options, era: "sessions" });
    }
  }

  static async #open(options: ConnectionOptions): Promise<Connection> {
    const { serverName, events, startTimeoutMs, signal } = options;
    signal?.throwIfAborted();
    const limit = new AbortController();
    const expire = () => {
      const message = `Server "${serverName}" did not complete the MCP handshake within ${
        durationText(startTimeoutMs)
      }`;
      limit.abort(new GatewayError("TIMEOUT", { message }));
    };
    let timer = setTimeout(expire, startTimeoutMs);
    let isOpening = true;
    const ended = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    let isOver = false;
    let early: TransportClosed | undefined;
    const traffic: Traffic = {
      pending: new Map(),
      subscriptions: new Map(),
      lastId: FIRST_ID - 1,
      callers: "none",
      heardAt: Date.now(),
      close(reason) {
        if (isOver) return;
        // Told once it is open; if it never is, open() itself tells.
        if (isOpening) return void (early ??= reason);
        isOver = true;
        events.onClose(reason);
      },
    };
    let transport: Transport | undefined;
    try {
      transport = await options.openTransport({
        onClose: (reason) => traffic.close(reason),
        onLog: events.onLog,
        onMessage: (text, message) =>
          deliver(traffic, events, loneCaller(traffic, message) ?? events.onMessage, text, message),
        onInstall(reason) {
          if (!isOpening || ended.aborted) return;
          clearTimeout(timer);
          if (reason === undefined) timer = setTimeout(expire, startTimeoutMs);
          events.onInstall?.(reason);
        },
      }, ended);
      const channel = {
        transport,
        subscriptions: traffic.subscriptions,
        nextId: () => ++traffic.lastId,
        onHeard: () => void (traffic.heardAt = Date.now()),
      };
      // The SDK is loaded with the first connection: the gateway answers before that.
      const { shakeHands } = await import("./negotiation.ts");
      const handshake = await abortable(shakeHands(channel, options), ended);
      isOpening = false;
      if (early) traffic.close(early);
      return new Connection(transport, handshake, options, traffic);
    } catch (error) {
      await transport?.[Symbol.asyncDispose]();
      const hasEnded = transport?.abandon !== undefined && error instanceof TransportClosed &&
        error.kind === "lost";
      throw hasEnded ? new ProgramEnded("lost", error.message, { cause: error }) : error;
    } finally {
      isOpening = false;
      clearTimeout(timer);
    }
  }

  has(capability: keyof ServerCapabilities): boolean {
    return this.info.capabilities[capability] !== undefined;
  }

  /** Aborts when the connection is of no more use. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get inFlight(): number {
    return this.#traffic.pending.size;
  }

  /** When anything last came from the server, in ms since the epoch. */
  get heardAt(): number {
    return this.#traffic.heardAt;
  }

  /** Relays a call and resolves with the text of its answer, whose id is `id` of the result. */
  async call(call: Call): Promise<{ id: number; text: string }> {
    call.signal?.throwIfAborted();
    const { serverName, explain } = this.#options;
    const id = ++this.#traffic.lastId;
    if (this.isStateless && !isMethodName(call.method)) {
      return { id, text: errorText(id, METHOD_NOT_FOUND, "Method not found") };
    }
    const params = this.#paramsOf(call, id);
    const transport = this.#transport;
    const wait = transport.abandon ? undefined : new Cancellation();
    const end = (why: string, reason: unknown) => this.#cancel(id, why, reason, wait);
    const maxTimeoutMs = totalLimitMs(call);
    const timeoutMs = Math.min(call.timeoutMs, maxTimeoutMs);
    const expire = (limitMs = timeoutMs, though = "") => {
      const message = `Server "${serverName}" did not answer ${call.method} within ${
        durationText(limitMs)
      }${though}`;
      pending.touch = undefined;
      end("Timed out", new GatewayError("TIMEOUT", { message }));
    };
    const limits = this.#limitsOf(timeoutMs);
    let limit: Timeout | undefined;
    let endsAt = Infinity;
    const touch = () => {
      if (limit) limits.delete(limit);
      limit = limits.add(expire);
      const now = limit.at - timeoutMs;
      if (endsAt === Infinity) endsAt = now + maxTimeoutMs;
      else if (now > endsAt) expire(maxTimeoutMs, " in all");
    };
    const abort = () => end("Cancelled by the client", call.signal?.reason);
    const pending: Pending = { call, touch };
    this.#traffic.pending.set(id, pending);
    this.#noteCaller(call);
    const exchange: Exchange = {
      streams: call.streams,
      signal: wait,
      headers: this.#headersOf(call.method, call.params),
      onMessage: (text, message) => this.#onExchanged(call, text, message),
    };
    try {
      const answered = transport.request(id, requestText(id, call.method, params), exchange);
      // Only now, while the server is at work.
      touch();
      call.signal?.addEventListener("abort", abort);
      const answer = await answered;
      this.#traffic.heardAt = Date.now();
      return { id, text: answer };
    } catch (error) {
      throw explain && error instanceof TransportClosed ? explain(error) : error;
    } finally {
      if (limit) limits.delete(limit);
      call.signal?.removeEventListener("abort", abort);
      this.#traffic.pending.delete(id);
      pending.call = pending.touch = undefined;
      if (this.inFlight === 0) { for (const resolve of this.#onIdle.splice(0)) resolve(); }
    }
  }

  #noteCaller({ principal, method }: Call): void {
    // The gateway's own reads, and lists that are the same for everyone, reveal nothing about a caller.
    if (principal === undefined ? method !== "tools/call" : COMMON_LISTS.has(method)) return;
    const { callers } = this.#traffic;
    if (callers === "none") this.#traffic.callers = { only: principal };
    else if (callers !== "several" && callers.only !== principal) this.#traffic.callers = "several";
  }

  #paramsOf({ params, progressToken, client, logLevel }: Call, id: number): string | undefined {
    const own = progressToken === undefined
      ? params
      : withMember(params!, ["_meta", "progressToken"], id);
    return this.isStateless ? withEnvelope(own, client ?? this.#options, logLevel) : own;
  }

  #headersOf(method: string, params: string | undefined): Exchange["headers"] {
    if (!this.isStateless || !this.#transport.takesHeaders) return undefined;
    return requestHeaders(method, params, this.headerParameters);
  }

  /** Gives up on a request. Over HTTP a stateless server is told by the end of its stream. */
  #cancel(id: number, why: string, reason: unknown, wait: Cancellation | undefined): void {
    if (!this.isStateless || !wait) {
      const params = JSON.stringify({ requestId: id, reason: why });
      void this.notify("notifications/cancelled", params).catch(() => {});
    }
    if (wait) wait.abort(reason);
    else this.#transport.abandon?.(id, reason);
  }

  /** Nearly all calls of a connection have the same limit. */
  #limitsOf(ms: number): TimeoutQueue {
    let queue = this.#limits.get(ms);
    if (!queue) this.#limits.set(ms, queue = new TimeoutQueue(ms));
    return queue;
  }

  notify(method: string, params?: string): Promise<void> {
    const own = this.isStateless ? withEnvelope(params, this.#options) : params;
    return this.#transport.send(notificationText(method, own));
  }

  answer(text: string): Promise<void> {
    return this.#transport.send(text);
  }

  /**
   * Closes it once no call is in flight, the time is up or the signal aborts; that it is over is
   * told at once, with the reason if there is one besides that nobody needs it.
   */
  async end(settleMs: number, hurry?: AbortSignal, reason?: TransportClosed): Promise<void> {
    const message = `The connection to server "${this.#options.serverName}" was closed`;
    this.#traffic.close(reason ?? new TransportClosed("closed", message));
    this.#over.abort();
    if (this.inFlight > 0 && settleMs > 0 && !hurry?.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, settleMs);
      const onHurry = () => resolve();
      hurry?.addEventListener("abort", onHurry);
      this.#onIdle.push(resolve);
      await promise;
      clearTimeout(timer);
      hurry?.removeEventListener("abort", onHurry);
    }
    await this.#transport[Symbol.asyncDispose]();
    for (const queue of this.#limits.values()) queue[Symbol.dispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end(0);
  }

  /** That a list has changed is everybody's news, on whichever call's stream it comes. */
  #onExchanged(call: Call, text: string, message: RpcMessage): void {
    const isForAll = message.kind === "notification" && message.method.endsWith("/list_changed");
    // Only a client with a connection of its own can be asked; else the connection answers itself.
    const isForUs = message.kind === "request" && !call.canBeAsked;
    const listener = isForAll || isForUs ? this.#options.events.onMessage : call.onMessage;
    deliver(this.#traffic, this.#options.events, listener, text, message);
  }
}

/** Hands on one message. A listener that fails on it must not end the connection for all. */
function deliver(
  traffic: Traffic,
  { onLog }: Pick<ConnectionEvents, "onLog">,
  listener: MessageListener | undefined,
  text: string,
  message: RpcMessage,
): void {
  traffic.heardAt = Date.now();
  try {
    route(traffic, listener, text, message);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown error";
    onLog(`Ignored an invalid message: ${reason}`, "warning");
  }
}

/** Hands progress to the call it belongs to, and everything else to `otherwise`. */
function route(
  traffic: Traffic,
  otherwise: MessageListener | undefined,
  text: string,
  message: RpcMessage,
): void {
  if (message.kind !== "notification" || message.method !== "notifications/progress") {
    const hearer = message.kind === "notification" ? subscriberOf(traffic, message) : undefined;
    (hearer ?? otherwise)?.(text, message);
    return;
  }
  const { progressToken } = message.params;
  const entry = isId(progressToken) ? traffic.pending.get(Number(progressToken)) : undefined;
  const call = entry?.call;
  // Late or invented: nobody waits for it.
  if (call?.progressToken === undefined) return;
  entry?.touch?.();
  const restored = notificationText(
    message.method,
    withMember(memberText(text, "params")!, ["progressToken"], call.progressToken),
  );
  call.onMessage?.(restored, {
    ...message,
    params: { ...message.params, progressToken: call.progressToken },
  });
}

/** On a wire that all requests share, the subscription that a notification belongs to. */
function subscriberOf(
  { subscriptions }: Traffic,
  { params }: Extract<RpcMessage, { kind: "notification" }>,
): MessageListener | undefined {
  const id = isObject(params._meta) ? params._meta[SUBSCRIPTION_ID_KEY] : undefined;
  return isId(id) ? subscriptions.get(Number(id)) : undefined;
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/**
 * On a wire that all requests share, who hears a log message: the client whose calls are in flight, if
 * that is only one. It may come late and speak of an earlier call, so nobody hears it once the
 * connection was used with other rights as well.
 */
function loneCaller({ pending, callers }: Traffic, message: RpcMessage) {
  if (message.kind !== "notification" || message.method !== "notifications/message") {
    return undefined;
  }
  if (callers === "several") return undefined;
  // Others have only listed: what is logged meanwhile may still be about the caller's last call.
  const isTheirs = ({ principal }: Call) => callers === "none" || principal === callers.only;
  const calls = Array.from(pending.values(), ({ call }) => call)
    .filter((call) => call !== undefined && call.method !== "ping" && isTheirs(call));
  // A stateless server logs only for calls that ask for it.
  const listening = calls.filter((call) => call?.logLevel !== undefined);
  if (listening.length > 0) return listening.length === 1 ? listening[0]?.onMessage : undefined;
  const clients = new Set(calls.map((call) => call?.client));
  if (clients.size !== 1) return undefined;
  // Listing makes a server log nothing.
  const speaking = calls.filter((call) => !call?.method.endsWith("/list"));
  const [client] = clients;
  // Clients of 2026-07-28 that look the same share a session: the calls may belong to two of them.
  if (client && isStateless(client) && speaking.length > 1) return undefined;
  return (speaking.at(-1) ?? calls.at(-1))?.onMessage;
}

function withMember(text: string, path: string[], value: MessageId): string {
  let start = 0;
  for (const [index, name] of path.entries()) {
    const span = memberSpans(text, start).get(name);
    if (!span) return text;
    if (index === path.length - 1) return replaceSpan(text, span, idText(value));
    start = span.start;
  }
  return text;
}

/** A program that ended before its handshake was complete. */
class ProgramEnded extends TransportClosed {}
