import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { memberSpans, replaceSpan } from "../core/json_spans.ts";
import {
  isObject,
  memberText,
  notificationText,
  requestText,
  type RpcId,
  type RpcMessage,
} from "../core/rpc.ts";
import { VERSION } from "../core/version.ts";
import type { Exchange, Link, LinkEvents, MessageListener } from "./link.ts";

export const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** What a server says of itself in the handshake. */
const InitializeResult = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()).default({}),
  serverInfo: z.looseObject({ name: z.string(), version: z.string().optional() }),
  instructions: z.string().optional(),
});
export type ServerInfo = z.infer<typeof InitializeResult>;

export interface ConnectionOptions {
  serverName: string;
  openLink: (events: LinkEvents) => Link | Promise<Link>;
  /** The capabilities of the client behind this connection; none for a shared one. */
  capabilities: Record<string, unknown>;
  /** The client as it introduced itself; the gateway for a shared connection. */
  clientInfo?: Record<string, unknown>;
  protocolVersion?: string;
  connectTimeoutMs: number;
  events: ConnectionEvents;
}

export interface ConnectionEvents {
  /** A notification or request of the server's that belongs to no call in particular. */
  onMessage: MessageListener;
  onClose(reason: Error): void;
  onLog: LinkEvents["onLog"];
}

/** One call downstream. */
export interface Call {
  method: string;
  /** The text of its params, relayed as it is but for the progress token. */
  params?: string | undefined;
  /** The caller's progress token, if its params have one. */
  progressToken?: RpcId | undefined;
  timeoutMs: number;
  /** Whether notifications or requests may come before the answer. */
  streams: boolean;
  /** What comes before the answer, in order; progress under the caller's own token. */
  onMessage?: MessageListener | undefined;
  signal?: AbortSignal | undefined;
}

interface Pending {
  call: Call;
  /** Starts the time limit anew; a server that reports progress is alive. */
  touch(): void;
}

/** An MCP session with one server: shakes hands, counts ids, keeps time, maps progress tokens. */
export class Connection implements AsyncDisposable {
  readonly info: ServerInfo;
  readonly #link: Link;
  readonly #serverName: string;
  readonly #pending: Map<number, Pending>;
  #nextId: number;

  private constructor(
    link: Link,
    info: ServerInfo,
    serverName: string,
    pending: Map<number, Pending>,
    nextId: number,
  ) {
    this.#link = link;
    this.info = info;
    this.#serverName = serverName;
    this.#pending = pending;
    this.#nextId = nextId;
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
    const { serverName, events } = options;
    const pending = new Map<number, Pending>();
    const link = await options.openLink({
      onClose: events.onClose,
      onLog: events.onLog,
      onMessage: (text, message) => deliver(pending, events.onMessage, text, message),
    });
    try {
      const info = await shakeHands(link, options);
      return new Connection(link, info, serverName, pending, 1);
    } catch (error) {
      await link[Symbol.asyncDispose]();
      throw error;
    }
  }

  has(capability: string): boolean {
    return this.info.capabilities[capability] !== undefined;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** Relays a call and resolves with the text of its answer, whose id is `id` of the result. */
  async call(call: Call): Promise<{ id: number; text: string }> {
    const id = this.#nextId++;
    const params = call.progressToken === undefined
      ? call.params
      : withProgressToken(call.params!, id);
    const text = requestText(id, call.method, params);
    const ended = Promise.withResolvers<never>();
    let timer = setTimeout(expire, call.timeoutMs);
    const touch = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, call.timeoutMs);
    };
    const cancel = (reason: string) => {
      void this.notify("notifications/cancelled", JSON.stringify({ requestId: id, reason })).catch(
        () => {},
      );
    };
    const serverName = this.#serverName;
    function expire() {
      const message =
        `Server "${serverName}" did not answer ${call.method} within ${call.timeoutMs} ms`;
      cancel("Timed out");
      ended.reject(new GatewayError("TIMEOUT", { message }));
    }
    const abort = () => {
      cancel("Cancelled by the client");
      ended.reject(call.signal?.reason);
    };
    call.signal?.addEventListener("abort", abort);
    this.#pending.set(id, { call, touch });
    const exchange: Exchange = {
      streams: call.streams,
      onMessage: (text, message) => deliver(this.#pending, call.onMessage, text, message),
    };
    try {
      const answer = this.#link.request(id, text, exchange);
      // Whichever loses the race is told, and its late rejection is nobody's news.
      answer.catch(() => {});
      ended.promise.catch(() => {});
      if (call.signal?.aborted) abort();
      return { id, text: await Promise.race([answer, ended.promise]) };
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", abort);
      this.#pending.delete(id);
    }
  }

  notify(method: string, params?: string): Promise<void> {
    return this.#link.send(notificationText(method, params));
  }

  /** Sends an answer to a request of the server's, under the server's own id. */
  answer(text: string): Promise<void> {
    return this.#link.send(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link[Symbol.asyncDispose]();
  }
}

async function shakeHands(link: Link, options: ConnectionOptions): Promise<ServerInfo> {
  const params = JSON.stringify({
    protocolVersion: options.protocolVersion ?? PROTOCOL_VERSIONS[0],
    capabilities: options.capabilities,
    clientInfo: options.clientInfo ??
      { name: "quartermaster", title: "Quartermaster", version: VERSION },
  });
  const limit = Promise.withResolvers<never>();
  limit.promise.catch(() => {});
  const timer = setTimeout(() => {
    limit.reject(
      new GatewayError("TIMEOUT", {
        message:
          `Server "${options.serverName}" did not shake hands within ${options.connectTimeoutMs} ms`,
      }),
    );
  }, options.connectTimeoutMs);
  try {
    const exchange: Exchange = { streams: false, onMessage: () => {} };
    const answer = link.request(0, requestText(0, "initialize", params), exchange);
    answer.catch(() => {});
    const text = await Promise.race([answer, limit.promise]);
    const result = InitializeResult.safeParse(JSON.parse(memberText(text, "result") ?? "null"));
    if (!result.success) {
      throw new GatewayError("SERVER_DISCONNECTED", {
        message: `Server "${options.serverName}" refused the handshake: ${refusal(text)}`,
      });
    }
    link.setProtocolVersion(result.data.protocolVersion);
    await link.send(notificationText("notifications/initialized"));
    return result.data;
  } finally {
    clearTimeout(timer);
  }
}

function refusal(text: string): string {
  const { error } = JSON.parse(text);
  return isObject(error) ? String(error.message) : "its answer is not one to initialize";
}

/** Hands progress to the call it belongs to, and everything else to `otherwise`. */
function deliver(
  pending: Map<number, Pending>,
  otherwise: MessageListener | undefined,
  text: string,
  message: RpcMessage,
): void {
  if (message.kind !== "notification" || message.method !== "notifications/progress") {
    otherwise?.(text, message);
    return;
  }
  const entry = pending.get(Number(message.params.progressToken));
  // Late or invented: nobody waits for it.
  if (!entry || entry.call.progressToken === undefined) return;
  entry.touch();
  const restored = notificationText(
    message.method,
    withMember(memberText(text, "params")!, ["progressToken"], entry.call.progressToken),
  );
  entry.call.onMessage?.(restored, {
    ...message,
    params: { ...message.params, progressToken: entry.call.progressToken },
  });
}

function withProgressToken(params: string, token: number): string {
  return withMember(params, ["_meta", "progressToken"], token);
}

/** A JSON text with the member at `path` replaced, the rest as it came. */
function withMember(text: string, path: string[], value: RpcId): string {
  let start = 0;
  for (const [index, name] of path.entries()) {
    const span = memberSpans(text, start).get(name);
    if (!span) return text;
    if (index === path.length - 1) return replaceSpan(text, span, JSON.stringify(value));
    start = span.start;
  }
  return text;
}
