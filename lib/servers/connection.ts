import type {
  Implementation,
  InitializeResult,
  ProgressToken,
  RequestId,
  ServerCapabilities,
} from "@modelcontextprotocol/sdk/types";
import type { ClientProfile } from "../core/client.ts";
import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import {
  isObject,
  memberSpans,
  memberText,
  notificationText,
  replaceSpan,
  requestText,
  type RpcMessage,
  type Unchecked,
} from "../core/rpc.ts";
import { VERSION } from "../core/product.ts";
import {
  type Exchange,
  type MessageListener,
  type Transport,
  TransportClosed,
  type TransportEvents,
} from "./transports/transport.ts";
import { abortable, type CancelSignal, type Timeout, TimeoutQueue } from "../core/async.ts";

export interface ConnectionOptions extends Introduction {
  serverName: string;
  openTransport: (events: TransportEvents, signal: AbortSignal) => Transport | Promise<Transport>;
  /** For the start and the handshake, not counting an install. */
  startTimeoutMs: number;
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
  progressToken?: ProgressToken | undefined;
  /** Whether what the server asks during the call may go to its caller. */
  canBeAsked?: boolean;
  timeoutMs: number;
  /** Whether notifications or requests may come before the answer. */
  streams: boolean;
  /** What comes before the answer, in order; progress under the caller's own token. */
  onMessage?: MessageListener | undefined;
  signal?: CancelSignal | undefined;
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
  heardAt: number;
  /** Tells that it is over, the first time it is called. */
  close(reason: TransportClosed): void;
}

/** An MCP session with one server: shakes hands, counts ids, keeps time, maps progress tokens. */
export class Connection implements AsyncDisposable {
  readonly info: ServerInfo;
  readonly #limits = new Map<number, TimeoutQueue>();
  readonly #transport: Transport;
  readonly #options: ConnectionOptions;
  readonly #traffic: Traffic;
  readonly #onIdle: (() => void)[] = [];
  #nextId = 1;

  private constructor(
    transport: Transport,
    info: ServerInfo,
    options: ConnectionOptions,
    traffic: Traffic,
  ) {
    this.#transport = transport;
    this.info = info;
    this.#options = options;
    this.#traffic = traffic;
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
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
    const traffic: Traffic = {
      pending: new Map(),
      heardAt: Date.now(),
      close(reason) {
        if (isOver) return;
        isOver = true;
        events.onClose(reason);
      },
    };
    let transport: Transport | undefined;
    try {
      transport = await options.openTransport({
        onClose: (reason) => traffic.close(reason),
        onLog: events.onLog,
        onMessage: (text, message) => deliver(traffic, events.onMessage, text, message),
        onInstall(reason) {
          if (!isOpening || ended.aborted) return;
          clearTimeout(timer);
          if (reason === undefined) timer = setTimeout(expire, startTimeoutMs);
          events.onInstall?.(reason);
        },
      }, ended);
      const info = await abortable(initialize(transport, serverName, options), ended);
      return new Connection(transport, info, options, traffic);
    } catch (error) {
      await transport?.[Symbol.asyncDispose]();
      throw error;
    } finally {
      isOpening = false;
      clearTimeout(timer);
    }
  }

  has(capability: keyof ServerCapabilities): boolean {
    return this.info.capabilities[capability] !== undefined;
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
    const id = this.#nextId++;
    const params = call.progressToken === undefined
      ? call.params
      : withMember(call.params!, ["_meta", "progressToken"], id);
    const transport = this.#transport;
    const wait = transport.abandon ? undefined : new AbortController();
    const end = (why: string, reason: unknown) => {
      const params = JSON.stringify({ requestId: id, reason: why });
      void this.notify("notifications/cancelled", params).catch(() => {});
      if (wait) wait.abort(reason);
      else transport.abandon?.(id, reason);
    };
    const expire = () => {
      const message = `Server "${serverName}" did not answer ${call.method} within ${
        durationText(call.timeoutMs)
      }`;
      end("Timed out", new GatewayError("TIMEOUT", { message }));
    };
    const limits = this.#limitsOf(call.timeoutMs);
    let limit: Timeout | undefined;
    const touch = () => {
      if (limit) limits.delete(limit);
      limit = limits.add(expire);
    };
    const abort = () => end("Cancelled by the client", call.signal?.reason);
    const pending: Pending = { call, touch };
    this.#traffic.pending.set(id, pending);
    const exchange: Exchange = {
      streams: call.streams,
      ...(wait ? { signal: wait.signal } : {}),
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

  /** Nearly all calls of a connection have the same limit. */
  #limitsOf(ms: number): TimeoutQueue {
    let queue = this.#limits.get(ms);
    if (!queue) this.#limits.set(ms, queue = new TimeoutQueue(ms));
    return queue;
  }

  notify(method: string, params?: string): Promise<void> {
    return this.#transport.send(notificationText(method, params));
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
    deliver(this.#traffic, listener, text, message);
  }
}

function durationText(ms: number): string {
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`;
}

/** Hands progress to the call it belongs to, and everything else to `otherwise`. */
function deliver(
  traffic: Traffic,
  otherwise: MessageListener | undefined,
  text: string,
  message: RpcMessage,
): void {
  traffic.heardAt = Date.now();
  if (message.kind !== "notification" || message.method !== "notifications/progress") {
    otherwise?.(text, message);
    return;
  }
  const { progressToken } = message.params;
  const entry = typeof progressToken === "number" || typeof progressToken === "string"
    ? traffic.pending.get(Number(progressToken))
    : undefined;
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

function withMember(text: string, path: string[], value: RequestId): string {
  let start = 0;
  for (const [index, name] of path.entries()) {
    const span = memberSpans(text, start).get(name);
    if (!span) return text;
    if (index === path.length - 1) return replaceSpan(text, span, JSON.stringify(value));
    start = span.start;
  }
  return text;
}

const PROTOCOL_VERSION = "2025-11-25";

export interface ServerInfo extends Pick<InitializeResult, "protocolVersion" | "instructions"> {
  capabilities: Unchecked<ServerCapabilities>;
  serverInfo: Unchecked<Implementation> & Pick<Implementation, "name">;
}

const ServerInfo: z.ZodType<ServerInfo> = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()).default({}),
  serverInfo: z.looseObject({ name: z.string(), version: z.string().optional() }),
  instructions: z.string().optional(),
});

/** The client behind this connection; for a shared one the gateway, without capabilities. */
type Introduction = Partial<ClientProfile> & Pick<ClientProfile, "capabilities">;

async function initialize(
  transport: Transport,
  serverName: string,
  introduction: Introduction,
): Promise<ServerInfo> {
  const params = JSON.stringify({
    protocolVersion: introduction.protocolVersion ?? PROTOCOL_VERSION,
    capabilities: introduction.capabilities,
    clientInfo: introduction.clientInfo ??
      { name: "quartermaster", title: "Quartermaster", version: VERSION },
  });
  const exchange = { streams: false, onMessage: () => {} };
  const text = await transport.request(0, requestText(0, "initialize", params), exchange);
  const result = ServerInfo.safeParse(JSON.parse(memberText(text, "result") ?? "null"));
  if (!result.success) {
    throw new GatewayError("SERVER_DISCONNECTED", {
      message: `Server "${serverName}" refused the handshake: ${initializeError(text)}`,
    });
  }
  transport.setProtocolVersion(result.data.protocolVersion);
  await transport.send(notificationText("notifications/initialized"));
  return result.data;
}

function initializeError(text: string): string {
  const { error } = JSON.parse(text);
  return isObject(error) ? String(error.message) : "its response to initialize is invalid";
}
