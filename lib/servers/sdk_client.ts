import {
  Client,
  type JSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport as SdkTransport,
} from "@modelcontextprotocol/client";
import { DiscoverResultSchema, ImplementationSchema } from "@modelcontextprotocol/core";
import * as z from "zod";
import { Cancellation } from "../core/async.ts";
import { STATELESS_VERSION } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { isObject, memberText, notificationText, parseJson, requestText } from "../core/rpc.ts";
import { SERVER_INFO_KEY, SUBSCRIPTION_ID_KEY, TASKS_EXTENSION } from "../core/stateless.ts";
import { durationText } from "../core/text.ts";
import { GATEWAY_INFO, requestHeaders } from "./stateless_request.ts";
import { NO_LIST, notListed, readToolListPage, type ToolListPage } from "./tool_list.ts";
import {
  type MessageListener,
  ScopeRequired,
  type Transport,
  TransportClosed,
} from "./transports/transport.ts";

/** What the SDK's clients share with the calls that are relayed beside them. */
export interface Channel {
  transport: Transport;
  nextId(): number;
  /** Of each open subscription, what hears its notifications. */
  subscriptions: Map<number, MessageListener>;
  onHeard(): void;
}

export const DISCOVER = "server/discover";
const TOOLS_LIST = "tools/list";
const LISTEN = "subscriptions/listen";
export const INITIALIZE = "initialize";
const INITIALIZE_ID = 0;

type SendOptions = Parameters<SdkTransport["send"]>[1];

interface ActiveRequest {
  id: number;
  method: string;
  /** On transports that cannot abandon a request by its id. */
  wait: Cancellation | undefined;
}

/**
 * The wire of one SDK client: its messages travel over our transport, between the relayed calls.
 * What the SDK would refuse as a whole for one bad part is trimmed first: see `readResponse`.
 */
export class SdkWire implements SdkTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The end of a request's stream is what cancels it for a stateless server. */
  readonly hasPerRequestStream = true;
  // The SDK looks for these two: a transport that has them may stay silent on a probe.
  readonly stderr = null;
  readonly pid = null;
  readonly #channel: Channel;
  readonly #onResponse: (method: string, text: string) => void;
  readonly #onAcknowledged: (filter: Record<string, unknown>) => void;
  readonly #active = new Map<string | number, ActiveRequest>();
  #isStateless = false;
  #probe: Promise<unknown> = Promise.resolve();

  constructor(
    channel: Channel,
    onResponse: (method: string, text: string) => void = () => {},
    onAcknowledged: (filter: Record<string, unknown>) => void = () => {},
  ) {
    this.#channel = channel;
    this.#onResponse = onResponse;
    this.#onAcknowledged = onAcknowledged;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    for (const [key, { method }] of this.#active) {
      // A probe outlives a handshake that was refused: its answer may still say why.
      if (method !== DISCOVER || this.#isStateless) this.#end(key, "The connection was closed");
    }
    this.onclose?.();
    return Promise.resolve();
  }

  setProtocolVersion(version: string): void {
    this.#isStateless = version === STATELESS_VERSION;
    this.#channel.transport.setProtocolVersion(version);
  }

  /** Resolves when the probe was answered, or will not be. */
  get probeEnded(): Promise<unknown> {
    return this.#probe;
  }

  /** Stops waiting for the probe: what it finds is no longer of use. */
  abandonProbe(): void {
    for (const [key, { id, method, wait }] of this.#active) {
      if (method !== DISCOVER) continue;
      const reason = new DOMException("The server was initialized instead", "AbortError");
      this.#active.delete(key);
      this.#channel.transport.abandon?.(id, reason);
      wait?.abort(reason);
    }
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!("method" in message)) return;
    if (!("id" in message)) return await this.#notify(message.method, message.params);
    const { id: key, method } = message;
    const stop = () => this.#end(key, "No longer needed");
    options?.requestSignal?.addEventListener("abort", stop);
    const exchange = this.#exchange(key, method, message.params).finally(() => {
      options?.requestSignal?.removeEventListener("abort", stop);
    });
    if (method === DISCOVER) this.#probe = exchange.catch(() => {});
    if (method !== LISTEN) return await exchange;
    // It stays open: how it ends is told apart from whether it could be sent.
    exchange.catch((error) => {
      this.onerror?.(error);
      options?.onRequestStreamEnd?.();
    });
  }

  async #exchange(
    key: string | number,
    method: string,
    params: JSONRPCMessageParams,
  ): Promise<void> {
    const { transport, subscriptions, nextId, onHeard } = this.#channel;
    const id = method === INITIALIZE ? INITIALIZE_ID : nextId();
    const wait = transport.abandon ? undefined : new Cancellation();
    const isProbe = method === DISCOVER && !this.#isStateless;
    const text = params === undefined ? undefined : JSON.stringify(params);
    const onMessage = (message: string) => this.#pass(message, key);
    this.#active.set(key, { id, method, wait });
    if (method === LISTEN) subscriptions.set(id, onMessage);
    try {
      const answer = await transport.request(id, requestText(id, method, text), {
        streams: method === LISTEN,
        onMessage: method === LISTEN ? onMessage : () => {},
        signal: wait,
        headers: isProbe || (this.#isStateless && transport.takesHeaders)
          ? [
            ...(isProbe ? [["mcp-protocol-version", STATELESS_VERSION] as [string, string]] : []),
            ...requestHeaders(method, text, new Map()),
          ]
          : undefined,
        ...(isProbe ? { isProbe } : {}),
      });
      onHeard();
      this.#onResponse(method, answer);
      this.onmessage?.(readResponse(answer, key, method));
    } catch (error) {
      throw isProbe ? asProbeFailure(error) : error;
    } finally {
      this.#active.delete(key);
      subscriptions.delete(id);
    }
  }

  async #notify(method: string, params: JSONRPCMessageParams): Promise<void> {
    if (method === "notifications/cancelled") {
      const key = params?.requestId;
      if (typeof key === "number" || typeof key === "string") this.#end(key, "Timed out");
      return;
    }
    const text = params === undefined ? undefined : JSON.stringify(params);
    await this.#channel.transport.send(notificationText(method, text));
  }

  /** Gives up on a request. Over HTTP a stateless server is told by the end of its stream. */
  #end(key: string | number, why: string): void {
    const request = this.#active.get(key);
    if (!request) return;
    this.#active.delete(key);
    const { id, method, wait } = request;
    const { transport } = this.#channel;
    const isTold = (!this.#isStateless || !wait) && method !== INITIALIZE;
    if (isTold) {
      const params = JSON.stringify({ requestId: id, reason: why });
      void transport.send(notificationText("notifications/cancelled", params)).catch(() => {});
    }
    const reason = new DOMException(why, "AbortError");
    if (wait) wait.abort(reason);
    else transport.abandon?.(id, reason);
  }

  /** Hands a notification on under the id that the client knows, not that of the connection. */
  #pass(text: string, key: string | number): void {
    const message = JSON.parse(text);
    const { _meta: meta, notifications } = isObject(message.params) ? message.params : {};
    if (isObject(meta) && SUBSCRIPTION_ID_KEY in meta) meta[SUBSCRIPTION_ID_KEY] = key;
    // The SDK drops what extensions add to it.
    const isAcknowledged = message.method === "notifications/subscriptions/acknowledged";
    if (isAcknowledged && isObject(notifications)) this.#onAcknowledged(notifications);
    this.onmessage?.(message);
  }
}

type JSONRPCMessageParams = Extract<JSONRPCMessage, { method: string }>["params"];

/** A refused probe is how an older server answers: for the SDK, any HTTP status in the 400s. */
function asProbeFailure(error: unknown): unknown {
  const isRefused = error instanceof TransportClosed && error.kind === "refused" &&
    // A login without the scope for it says nothing of what the server speaks.
    !(error instanceof ScopeRequired);
  if (!isRefused) return error;
  const { message } = error;
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, message, { status: 400 });
}

/** A response as the SDK takes it, under the id that its client knows. */
function readResponse(text: string, id: string | number, method: string): JSONRPCMessage {
  const result = memberText(text, "result");
  if (result === undefined) {
    const error = parseJson(memberText(text, "error") ?? "null");
    const { code, message, data } = isObject(error) ? error : {};
    return {
      jsonrpc: "2.0",
      id,
      error: {
        code: Number.isInteger(code) ? Number(code) : -32603,
        message: typeof message === "string" ? message : "its response is invalid",
        ...(data === undefined ? {} : { data }),
      },
    };
  }
  const value = method === TOOLS_LIST ? readPageResult(result) : parseJson(result);
  return { jsonrpc: "2.0", id, result: trimmed(isObject(value) ? value : {}, method) };
}

/**
 * A result without what one mistake would make the SDK refuse as a whole: capabilities that are no
 * objects, an implementation without a version. The gateway itself keeps what the server said.
 */
function trimmed(result: Record<string, unknown>, method: string): Record<string, unknown> {
  const complete = { resultType: "complete", ...result };
  if (method !== INITIALIZE && method !== DISCOVER) return complete;
  const { capabilities, instructions, serverInfo, _meta } = result;
  const own = method === INITIALIZE
    ? { protocolVersion: result.protocolVersion, serverInfo: implementation(serverInfo) }
    : {
      resultType: "complete",
      supportedVersions: result.supportedVersions,
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [SERVER_INFO_KEY]: implementation(isObject(_meta) ? _meta[SERVER_INFO_KEY] : {}) },
    };
  return {
    ...own,
    capabilities: Object.fromEntries(
      Object.entries(isObject(capabilities) ? capabilities : {}).filter(([, value]) =>
        isObject(value)
      ),
    ),
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}

function implementation(said: unknown): unknown {
  const { data } = ImplementationSchema.safeParse(said);
  if (data) return data;
  const { name, version } = isObject(said) ? said : {};
  return { name, version: typeof version === "string" ? version : "" };
}

/** For the SDK a page is empty, or it would check each tool with all of its schemas: see ADR 22. */
const PageResult = z.looseObject({ page: z.custom<ToolListPage>(isObject) });

function readPageResult(result: string): Record<string, unknown> {
  const page = readToolListPage(result);
  return page ? { tools: [], ttlMs: 0, cacheScope: "private", page } : {};
}

interface SdkSessionOptions {
  client: Client;
  channel: Channel;
  serverName: string;
}

/** The SDK's client on one connection. It does what is not relayed. */
export class SdkSession {
  readonly #options: SdkSessionOptions;

  constructor(options: SdkSessionOptions) {
    this.#options = options;
  }

  /** Rejects if the server does not answer in time, or is no longer what it was. */
  async checkAlive(timeoutMs: number): Promise<void> {
    const { client } = this.#options;
    const isStateless = client.getProtocolEra() === "modern";
    const options = { timeout: timeoutMs };
    try {
      if (!isStateless) return void await client.ping(options);
      const { supportedVersions } = await client.discover(options);
      if (supportedVersions.includes(STATELESS_VERSION)) return;
    } catch (error) {
      const hasAnswered = error instanceof ProtocolError ||
        isCode(error, SdkErrorCode.InvalidResult);
      if (!hasAnswered) throw this.#asOurs(error, isStateless ? DISCOVER : "ping", timeoutMs);
      // An error is a sign of life, too.
      if (!isStateless) return;
    }
    throw new Error(`The server no longer speaks MCP ${STATELESS_VERSION}`);
  }

  /** One page of the server's tools. */
  async listTools(cursor: string | undefined, timeoutMs: number): Promise<ToolListPage> {
    const { client, serverName } = this.#options;
    const request = { method: TOOLS_LIST, ...(cursor === undefined ? {} : { params: { cursor } }) };
    try {
      return (await client.request(request, PageResult, { timeout: timeoutMs })).page;
    } catch (error) {
      if (error instanceof ProtocolError) throw notListed(serverName, error.message);
      if (isCode(error, SdkErrorCode.InvalidResult)) throw notListed(serverName, NO_LIST);
      throw this.#asOurs(error, TOOLS_LIST, timeoutMs);
    }
  }

  /** A client of its own for a subscription: notifications are not told apart within a client. */
  async openListener(
    onAcknowledged?: (filter: Record<string, unknown>) => void,
  ): Promise<Client> {
    const { client, channel } = this.#options;
    const discover = DiscoverResultSchema.parse(client.getDiscoverResult());
    const capabilities = { extensions: { [TASKS_EXTENSION]: {} } };
    const listener = new Client(GATEWAY_INFO, { capabilities });
    const wire = new SdkWire(channel, undefined, onAcknowledged);
    await listener.connect(wire, { prior: { kind: "modern", discover } });
    return listener;
  }

  #asOurs(error: unknown, method: string, timeoutMs: number): unknown {
    if (!isCode(error, SdkErrorCode.RequestTimeout)) return error;
    return new GatewayError("TIMEOUT", {
      message: `Server "${this.#options.serverName}" did not answer ${method} within ${
        durationText(timeoutMs)
      }`,
    });
  }
}

function isCode(error: unknown, code: SdkErrorCode): boolean {
  return error instanceof SdkError && error.code === code;
}
