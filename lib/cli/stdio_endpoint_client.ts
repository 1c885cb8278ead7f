import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayError } from "../core/errors.ts";
import {
  errorText,
  idText,
  isObject,
  memberSpans,
  type MessageId,
  readMessage,
  replaceSpan,
  requestText,
  type RpcMessage,
} from "../core/rpc.ts";
import {
  BodyReader,
  discard,
  FetchResponse,
  type HttpResponse,
  networkFailureText,
  readText,
} from "../servers/transports/http_response.ts";
import { hasType, isEventStream, SseParser } from "../servers/transports/sse_stream.ts";
import { rpcErrorText } from "../mcp/protocol.ts";
import { parseError } from "../core/error_body.ts";
import type { Credential } from "./gateway_client.ts";

/** The gateway has a limit for what servers send; this one is only against a gateway gone mad. */
const MESSAGE_LIMIT = 64 * 1024 * 1024;
const ASK_LIMIT_MS = 10_000;
const GOODBYE_LIMIT_MS = 1_500;
/** Tries to take up a stream again with nothing coming. */
const MAX_RESUMES = 5;
const RESUME_WAIT_MS = 100;

/** The gateway cannot be reached, or no longer knows the session. */
export class EndpointLost extends Error {
  override readonly name = "EndpointLost";
  /** Whether it may have begun to work on what was sent. */
  readonly wasTaken: boolean;

  constructor(message: string, { wasTaken }: { wasTaken: boolean }) {
    super(message);
    this.wasTaken = wasTaken;
  }
}

type MessageListener = (text: string, message?: RpcMessage) => void;

export interface EndpointExchange {
  id: MessageId;
  method: string;
  text: string;
  /** Called with the answer, and with all that comes before it. */
  onMessage: MessageListener;
  signal: AbortSignal;
  /** The headers of a request that needs no session. */
  headers?: Record<string, string> | undefined;
}

export interface EndpointClientOptions {
  url: string;
  /** Called with each message that belongs to no request. */
  onMessage: MessageListener;
  /** Asked before more is read of a stream. */
  ready(): Promise<void>;
  /** Whether the gateway of before is still there; asked when one of its streams broke off. */
  isStillThere(): Promise<boolean>;
  credential?: Credential | undefined;
}

/** One session at an endpoint of a running gateway. Messages pass through as the text they are. */
export class EndpointClient {
  readonly #options: EndpointClientOptions;
  #sessionId: string | undefined;
  #protocolVersion: string | undefined;
  /** Where the stream of messages outside any request can be resumed. */
  #lastEventId: string | undefined;

  constructor(options: EndpointClientOptions) {
    this.#options = options;
  }

  /** The same session, at a gateway that came up in the place of the one before. */
  movedTo(options: EndpointClientOptions): EndpointClient {
    const moved = new EndpointClient(options);
    moved.#sessionId = this.#sessionId;
    moved.#protocolVersion = this.#protocolVersion;
    return moved;
  }

  /** Begins a session; gives the whole answer, which may be a refusal. */
  async initialize(id: MessageId, text: string, signal: AbortSignal): Promise<string> {
    this.#sessionId = this.#protocolVersion = this.#lastEventId = undefined;
    const response = await this.#post(text, signal);
    if (response.status !== 200) return await this.#refusal(response, id, "initialize");
    const answer = await this.#read(response);
    const { result } = JSON.parse(answer);
    if (!isObject(result)) return answer;
    this.#sessionId = response.headers.get("mcp-session-id") ?? undefined;
    this.#protocolVersion = String(result.protocolVersion);
    return answer;
  }

  async request(exchange: EndpointExchange): Promise<void> {
    const { id, method, text, onMessage, signal, headers } = exchange;
    const response = await this.#post(text, signal, headers);
    if (isEventStream(response)) return await this.#streamedAnswer(response, exchange);
    onMessage(
      response.status === 200 && hasType(response, "application/json")
        ? await this.#read(response)
        : await this.#refusal(response, id, method, headers !== undefined),
    );
  }

  /** Sends a notification, or an answer to a request of a server's. */
  async send(text: string): Promise<void> {
    const response = await this.#post(text, AbortSignal.timeout(ASK_LIMIT_MS));
    if (response.status < 400) return await discard(response);
    const { status } = response;
    const refusal = await this.#refusal(response, 0, "");
    throw new Error(`The gateway refused a message (HTTP ${status}): ${refusal.slice(0, 500)}`);
  }

  /** Whether the gateway knows the session; throws if its endpoint is shut. */
  async isKnown(): Promise<boolean> {
    if (this.#sessionId === undefined) return false;
    const text = requestText("quartermaster-bridge", "ping");
    const response = await this.#post(text, AbortSignal.timeout(ASK_LIMIT_MS));
    if (response.status !== 404) {
      await discard(response);
      return response.status < 300;
    }
    const shut = parseRefused(await response.text());
    if (shut) throw new EndpointLost(shut.message, { wasTaken: false });
    return false;
  }

  /** Hands on what belongs to no request, until the stream breaks off. */
  async listen(signal: AbortSignal): Promise<void> {
    const response = await this.#get(this.#lastEventId, signal);
    if (!isEventStream(response)) {
      await discard(response);
      throw new EndpointLost(`The gateway refused the event stream (HTTP ${response.status})`, {
        wasTaken: false,
      });
    }
    await this.#readEvents(response, {
      onMessage: this.#options.onMessage,
      onEventId: (id) => this.#lastEventId = id,
      isDone: () => false,
    });
  }

  async end(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const signal = AbortSignal.timeout(GOODBYE_LIMIT_MS);
    // The gateway forgets it by itself otherwise.
    await this.#fetch("DELETE", this.#sessionHeaders(), signal).then(discard).catch(() => {});
  }

  async #streamedAnswer(
    first: HttpResponse,
    { id, onMessage, signal }: EndpointExchange,
  ): Promise<void> {
    let lastEventId: string | undefined;
    let failures = 0;
    let isAnswered = false;
    const take: MessageListener = (text, message) => {
      if (message?.kind === "response" && message.id === id) isAnswered = true;
      onMessage(text, message);
    };
    for (let response: HttpResponse | undefined = first;;) {
      if (response) {
        const seen = lastEventId;
        const reading = this.#readEvents(response, {
          onMessage: take,
          onEventId: (id) => lastEventId = id,
          isDone: () => isAnswered,
        });
        await reading.catch((error) => {
          if (signal.aborted) throw error;
        });
        if (isAnswered) return;
        if (lastEventId !== seen) failures = 0;
      }
      const canResume = lastEventId !== undefined && failures++ < MAX_RESUMES &&
        await this.#options.isStillThere();
      if (!canResume) {
        throw new EndpointLost("Lost the connection to the gateway before the response", {
          wasTaken: true,
        });
      }
      await sleep(RESUME_WAIT_MS * failures, undefined, { signal });
      response = await this.#get(lastEventId, signal).catch((error) => {
        if (signal.aborted) throw error;
        return undefined;
      });
      if (response && !isEventStream(response)) {
        await discard(response);
        throw new EndpointLost("The gateway no longer has the response", { wasTaken: true });
      }
    }
  }

  async #readEvents(response: HttpResponse, { onMessage, onEventId, isDone }: {
    onMessage: MessageListener;
    onEventId(id: string): void;
    isDone(): boolean;
  }): Promise<void> {
    const reader = new BodyReader(response);
    const parser = new SseParser(MESSAGE_LIMIT, (data) => onMessage(data, readMessage(data)));
    for (;;) {
      const piece = await reader.read();
      if (piece === undefined) return;
      parser.push(piece);
      if (parser.lastEventId) onEventId(parser.lastEventId);
      if (isDone()) return await reader.cancel();
      await this.#options.ready();
    }
  }

  /** The error of a response that is not an answer; throws if the session is gone. */
  async #refusal(
    response: HttpResponse,
    id: MessageId,
    method: string,
    isStateless = false,
  ): Promise<string> {
    const { status } = response;
    const body = await this.#read(response);
    const refused = parseRefused(body);
    if (refused) return rpcErrorText(id, method, refused);
    if (status === 404 && this.#sessionId !== undefined && !isStateless) {
      throw new EndpointLost("The session no longer exists on the gateway", { wasTaken: false });
    }
    return findErrorText(body, id) ??
      errorText(id, -32000, `The gateway refused the request (HTTP ${status})`);
  }

  async #read(response: HttpResponse): Promise<string> {
    try {
      return await readText(response, MESSAGE_LIMIT);
    } catch (error) {
      throw lost(error, true);
    }
  }

  #post(
    body: string,
    signal: AbortSignal,
    stateless?: Record<string, string>,
  ): Promise<HttpResponse> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...stateless ?? this.#sessionHeaders(),
    };
    return this.#fetch("POST", headers, signal, body);
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpResponse> {
    const headers = {
      accept: "text/event-stream",
      ...this.#sessionHeaders(),
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    return this.#fetch("GET", headers, signal);
  }

  #sessionHeaders(): Record<string, string> {
    return {
      ...(this.#sessionId === undefined ? {} : { "mcp-session-id": this.#sessionId }),
      ...(this.#protocolVersion === undefined
        ? {}
        : { "mcp-protocol-version": this.#protocolVersion }),
    };
  }

  async #fetch(
    method: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    body: string | null = null,
  ): Promise<HttpResponse> {
    try {
      const init: RequestInit = { method, headers, body, signal, redirect: "error" };
      const { url, credential } = this.#options;
      const send = credential ? credential.fetch(url, init) : fetch(url, init);
      return new FetchResponse(await send);
    } catch (error) {
      if (signal.aborted) throw error;
      // Only if no connection was made is it certain that nothing was sent.
      const cause = error instanceof Error ? String(error.cause) : "";
      throw lost(error, !cause.includes("client error (Connect)"));
    }
  }
}

function lost(error: unknown, wasTaken: boolean): EndpointLost {
  const message = `Cannot reach the gateway: ${networkFailureText(error)}`;
  return new EndpointLost(message, { wasTaken });
}

function parseRefused(body: string): GatewayError | undefined {
  try {
    return parseError(JSON.parse(body)?.error);
  } catch {
    return undefined;
  }
}

/** An error as JSON-RPC tells it, under the id of what it is for: the gateway may not have known it. */
function findErrorText(body: string, id: MessageId): string | undefined {
  try {
    const span = memberSpans(body).get("id");
    return span && replaceSpan(body, span, idText(id));
  } catch {
    return undefined;
  }
}
