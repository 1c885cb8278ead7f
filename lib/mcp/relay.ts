import type { RequestId } from "@modelcontextprotocol/sdk/types";
import { offerOf } from "../catalog/listed_to.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type McpRequest, progressTokenOf } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import {
  isObject,
  memberSpans,
  memberText,
  notificationText,
  replaceSpan,
  resultText,
  type RpcMessage,
  withId,
} from "../core/rpc.ts";
import type { Call, Connection } from "../servers/connection.ts";
import { TransportClosed } from "../servers/transports/transport.ts";
import { backoffMs } from "../servers/shared_connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { ConnectionUse } from "../servers/own_connections.ts";
import { isSessionLost } from "../servers/status.ts";
import { listToolTexts, ToolRefresher } from "../servers/tool_list.ts";
import { abortable } from "../core/async.ts";
import { isTracing, withSpan } from "../telemetry/tracing.ts";

/** Tries in a row to win back a connection that nobody calls on; about twenty minutes. */
const MAX_TRIES = 30;
const STEADY_MS = 30_000;

/** A connection on its way: there to be answered on, then with the client's state to be used. */
interface OwnConnection {
  opened: Promise<Connection>;
  ready: Promise<Connection>;
  /** What the server has asked on it and the client has not answered, with the client's id of it. */
  questions: Map<RequestId, string>;
}

/**
 * Relays one client's requests to one server. If the client offers capabilities, by which the server
 * may ask it something or act in another way, or if the server keeps state for it, the client has a connection of its own, so that nothing reaches anybody else; all
 * others share one.
 */
export class Relay implements AsyncDisposable {
  readonly #server: ManagedServer;
  readonly #client: Client;
  /** Called with the tools that the server lists for this client, which may differ from all others'. */
  readonly #onOwnTools: ((tools: string[]) => void) | undefined;
  readonly #closing = new AbortController();
  readonly #refresher = new ToolRefresher(() => this.#listOwnTools(), this.#closing.signal);
  readonly #requests = new Set<McpRequest>();
  readonly #state = new ConnectionState();
  readonly #stopListening: () => void;
  #needsOwn: boolean;
  #own: OwnConnection | undefined;
  /** Whether there may be tasks on the connection, which nobody could restore. */
  #hasTasks = false;
  #openedAt = 0;
  #tries = 0;
  #isReopening = false;

  constructor(server: ManagedServer, client: Client, onOwnTools?: (tools: string[]) => void) {
    this.#server = server;
    this.#client = client;
    this.#onOwnTools = onOwnTools;
    this.#needsOwn = offerOf(client.profile) !== "";
    this.#stopListening = server.onBroadcast((text) => {
      if (!this.hasOwn) client.push(text);
    });
  }

  get hasOwn(): boolean {
    return this.#own !== undefined;
  }

  call(request: McpRequest, params: string | undefined): Promise<string> {
    const { method } = request;
    // A task outlives its call, and clients that share the connection could list and cancel it.
    if (isStateful(method) || request.params.task !== undefined) this.#needsOwn = true;
    const progressToken = progressTokenOf(request.params);
    const call: Call = {
      method,
      params,
      progressToken,
      timeoutMs: this.#server.timeoutMs,
      canBeAsked: this.#needsOwn,
      streams: this.#needsOwn || progressToken !== undefined,
      onMessage: (text, message) => this.#onMessage(text, message, undefined, request),
      signal: request.signal,
      client: this.#client.profile,
    };
    if (!isTracing) return this.#call(request, call);
    const attributes = { "mcp.server": this.#server.name, "mcp.method": method };
    return withSpan("server call", attributes, () => this.#call(request, call));
  }

  async #call(request: McpRequest, call: Call): Promise<string> {
    const isShared = !this.#needsOwn || await this.#isShared(call);
    const { id, text } = isShared
      ? await this.#server.call(call)
      : await this.#callOnOwn(request, call);
    return withId(text, id, request.id);
  }

  /** A stateless server needs no connection for each client: every request says whose it is. */
  async #isShared({ signal }: Call): Promise<boolean> {
    return !this.#own && await this.#server.speaksStateless(signal);
  }

  async #callOnOwn(request: McpRequest, call: Call): Promise<{ id: number; text: string }> {
    this.#requests.add(request);
    try {
      if (isStateful(call.method)) this.#state.asked(call);
      const answer = await this.#callOnceOrTwice(request, call);
      this.#tries = 0;
      if (isStateful(call.method)) this.#state.answered(call, answer.text);
      if (request.params.task !== undefined) this.#hasTasks = true;
      return answer;
    } finally {
      this.#requests.delete(request);
    }
  }

  async #callOnceOrTwice(request: McpRequest, call: Call): Promise<{ id: number; text: string }> {
    try {
      return await this.#callOnce(request, call);
    } catch (error) {
      if (!isSessionLost(error)) throw error;
      return await this.#callOnce(request, call);
    }
  }

  async #callOnce(request: McpRequest, call: Call): Promise<{ id: number; text: string }> {
    const own = this.#ownConnection();
    const connection = await abortable(own.ready, call.signal);
    return await connection.call({
      ...call,
      onMessage: (text, message) => this.#onMessage(text, message, own, request),
    });
  }

  /** Passes a notification on to the client's own connection; the shared one has no use for it. */
  notify(method: string, text: string): void {
    void this.#own?.opened.then((own) => own.notify(method, memberText(text, "params")))
      .catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    const own = await this.#own?.opened.catch(() => undefined);
    if (own) await own.end(0);
  }

  #ownConnection(): OwnConnection {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (this.#own) return this.#own;
    const { capabilities, clientInfo, protocolVersion } = this.#client.profile;
    const drop = () => {
      const isCurrent = this.#own === own;
      if (isCurrent) this.#own = undefined;
      return isCurrent;
    };
    const opened = this.#server.openOwn({
      capabilities,
      ...(clientInfo ? { clientInfo } : {}),
      protocolVersion,
      signal,
      stake: () => this.#stake(),
      events: {
        onLog: () => {},
        onMessage: (text, message) => this.#onMessage(text, message, own),
        onClose: (reason) => {
          // Closed by us, it still serves calls in flight and their questions.
          if (reason.kind !== "closed") this.#withdrawAll(own);
          if (drop()) this.#onClose(reason);
        },
      },
    });
    const own: OwnConnection = {
      opened,
      ready: opened.then((opened) => this.#restore(opened)),
      questions: new Map(),
    };
    this.#own = own;
    // A server may list other tools for a client that it can ask, and need not say so.
    void own.ready.then(() => this.#refresher.request(), drop);
    return own;
  }

  /** Restores on this connection what the server kept for the client on the last one. */
  async #restore(own: Connection): Promise<Connection> {
    this.#openedAt = Date.now();
    try {
      if (!this.#state.isEmpty) await this.#state.restore(own);
      return own;
    } catch (error) {
      await own.end(0);
      throw error;
    }
  }

  #stake(): ConnectionUse {
    if (this.#requests.size > 0) return "calls";
    const isNeeded = this.#state.hasSubscriptions || this.#hasTasks || this.#own?.questions.size;
    return isNeeded ? "state" : "nothing";
  }

  #onClose({ kind }: TransportClosed): void {
    this.#hasTasks = false;
    // Closed by us it was idle, or had to make room: it comes back with the client's next call.
    if (kind === "closed" || this.#state.isEmpty || this.#isReopening) return;
    if (Date.now() - this.#openedAt > STEADY_MS) this.#tries = 0;
    void this.#reopen();
  }

  /** Wins back a connection on which the client only listens. */
  async #reopen(): Promise<void> {
    const { signal } = this.#closing;
    this.#isReopening = true;
    while (!this.#own && this.#tries < MAX_TRIES && !signal.aborted) {
      const wait = backoffMs(++this.#tries);
      await sleep(wait, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.#ownConnection().ready.catch(() => {});
    }
    this.#isReopening = false;
  }

  /** What the server says: to the request it belongs to, else to one in flight, else to the client. */
  #onMessage(
    text: string,
    message: RpcMessage,
    own: OwnConnection | undefined,
    request?: McpRequest,
  ): void {
    if (message.kind === "response") return;
    if (message.kind === "notification" && message.method === "notifications/tools/list_changed") {
      void this.#refresher.request();
      return;
    }
    if (message.kind === "request") {
      // Where it was asked, even if that is on its way out: each connection counts its questions.
      const answer = (out: string) => {
        own?.questions.delete(message.id);
        void own?.opened.then((connection) => connection.answer(out)).catch(() => {});
      };
      if (message.method === "ping") return answer(resultText(message.id, "{}"));
      const asked = this.#client.ask(text, message.id, answer);
      own?.questions.set(message.id, memberText(asked, "id")!);
      return this.#send(asked, request);
    }
    const out = message.method === "notifications/cancelled"
      ? withdrawal(text, message.params.requestId, own)
      : text;
    if (out !== undefined) this.#send(out, request);
  }

  async #listOwnTools(): Promise<void> {
    const own = this.#onOwnTools && await this.#own?.ready.catch(() => undefined);
    if (!own) return;
    try {
      this.#onOwnTools?.(await listToolTexts(own, this.#server.name));
    } catch { /* the client keeps the list it has */ }
  }

  /** The server is gone: its open questions to the client are withdrawn. */
  #withdrawAll({ questions }: OwnConnection): void {
    for (const asked of questions.values()) {
      const params = `{"requestId":${asked},"reason":"The server is gone"}`;
      this.#send(notificationText("notifications/cancelled", params));
    }
    questions.clear();
  }

  #send(text: string, request = [...this.#requests].at(-1)): void {
    if (request) request.send(text);
    else this.#client.push(text);
  }
}

/** A server's withdrawal of a question under the id that the client knows it by, if it asked it. */
function withdrawal(text: string, id: unknown, own: OwnConnection | undefined): string | undefined {
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  const asked = own?.questions.get(id);
  own?.questions.delete(id);
  const params = memberSpans(text).get("params");
  if (asked === undefined || !params) return undefined;
  const span = memberSpans(text, params.start).get("requestId");
  return span && replaceSpan(text, span, asked);
}

/** Methods whose effect stays with the connection they were sent on. */
const STATEFUL = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);
/** More than any client watches; what is remembered has to end somewhere. */
const MAX_SUBSCRIPTIONS = 10_000;
const RESTORE_TIMEOUT_MS = 10_000;
/** More at once would flood a server, and be in vain where it is lost again. */
const RESTORED_AT_ONCE = 20;

type Asked = Pick<Call, "method" | "params">;

function isStateful(method: string): boolean {
  return STATEFUL.has(method);
}

/** What a server keeps for one client, to be asked of it again on the client's next connection. */
export class ConnectionState {
  readonly #subscriptions = new Set<string>();
  readonly #limit: number;
  #level: string | undefined;

  constructor(limit = MAX_SUBSCRIPTIONS) {
    this.#limit = limit;
  }

  get hasSubscriptions(): boolean {
    return this.#subscriptions.size > 0;
  }

  get isEmpty(): boolean {
    return this.#level === undefined && !this.hasSubscriptions;
  }

  asked(call: Asked): void {
    const { uri } = paramsOf(call);
    if (typeof uri !== "string") return;
    // However it is answered, its client has no more use for it.
    if (call.method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    if (call.method !== "resources/subscribe" || this.#subscriptions.has(uri)) return;
    if (this.#subscriptions.size < this.#limit) return;
    throw new GatewayError("LIMIT_EXCEEDED", {
      message: `A client can subscribe to at most ${this.#limit} resources of a server`,
      recoveryAction: "Unsubscribe from some first",
    });
  }

  answered(call: Asked, answer: string): void {
    if (memberText(answer, "result") === undefined) return;
    const { method } = call;
    const { uri, level } = paramsOf(call);
    if (method === "resources/subscribe" && typeof uri === "string") this.#subscriptions.add(uri);
    if (method === "logging/setLevel" && typeof level === "string") this.#level = level;
  }

  /** Asks all of it of a new connection; throws where that is lost over it. */
  async restore(connection: Pick<Connection, "call">): Promise<void> {
    const requests = Array.from(
      this.#subscriptions,
      (uri) => ({ method: "resources/subscribe", params: JSON.stringify({ uri }) }),
    );
    if (this.#level !== undefined) {
      const params = JSON.stringify({ level: this.#level });
      requests.unshift({ method: "logging/setLevel", params });
    }
    const left = requests.values();
    // Calls wait for this: what a slow server has not been asked by then, it is not asked.
    const end = Date.now() + RESTORE_TIMEOUT_MS;
    let isLost = false;
    async function askInTurn(): Promise<void> {
      for (const request of left) {
        try {
          await connection.call({ ...request, timeoutMs: RESTORE_TIMEOUT_MS, streams: false });
        } catch (error) {
          // A server that takes long over one of them is still of use for everything else.
          if (!(error instanceof GatewayError) || error.cause instanceof TransportClosed) {
            isLost = true;
            throw error;
          }
        }
        if (isLost || Date.now() > end) return;
      }
    }
    await Promise.all(Array.from({ length: RESTORED_AT_ONCE }, askInTurn));
  }
}

/** As they are sent to the server, which may differ from what the client sent. */
function paramsOf({ params }: Asked): Record<string, unknown> {
  const value: unknown = JSON.parse(params ?? "{}");
  return isObject(value) ? value : {};
}
