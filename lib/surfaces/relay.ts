import { setTimeout as sleep } from "node:timers/promises";
import {
  isObject,
  memberText,
  resultText,
  type RpcId,
  type RpcMessage,
  withId,
} from "../core/rpc.ts";
import { memberSpans, replaceSpan } from "../core/json_spans.ts";
import { backoffMs } from "../downstream/backoff.ts";
import type { Call, Connection } from "../downstream/connection.ts";
import type { LinkClosed } from "../downstream/link.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import type { Stake } from "../downstream/own_connections.ts";
import { isSessionLost } from "../downstream/server_trouble.ts";
import { listToolTexts } from "../downstream/tool_listing.ts";
import { ToolRefresher } from "../downstream/tool_refresher.ts";
import { unlessAborted } from "../downstream/unless_aborted.ts";
import { withSpan } from "../telemetry/spans.ts";
import { isStateful, KeptState } from "./kept_state.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** Capabilities with which a server may ask its client something. */
const ASKING = ["sampling", "elicitation", "roots"];
/** Tries in a row to win back a connection that nobody calls on; about twenty minutes. */
const MAX_TRIES = 30;
/** A connection that held this long was a good one. */
const STEADY_MS = 30_000;

/** A connection on its way: there to be answered on, then with the client's state to be used. */
interface OwnConnection {
  opened: Promise<Connection>;
  ready: Promise<Connection>;
  /** What the server has asked on it and the client has not answered, with the client's id of it. */
  questions: Map<RpcId, string>;
}

/**
 * One client's way to one server. Where the server could ask the client something, or keeps state for
 * it, the client has a connection of its own, so that nothing can reach anybody else; all others
 * share one.
 */
export class Relay implements AsyncDisposable {
  readonly #server: ManagedServer;
  readonly #port: ClientPort;
  /** Called with the tools that the server lists for this client, which may be for it alone. */
  readonly #onOwnTools: ((tools: string[]) => void) | undefined;
  readonly #closing = new AbortController();
  readonly #refresher = new ToolRefresher(() => this.#listOwnTools(), this.#closing.signal);
  readonly #scopes = new Set<RequestScope>();
  readonly #kept = new KeptState();
  #needsOwn: boolean;
  #own: OwnConnection | undefined;
  /** Whether there may be tasks on the connection, which nobody could restore. */
  #hasTasks = false;
  #openedAt = 0;
  #tries = 0;
  #isReopening = false;

  constructor(server: ManagedServer, port: ClientPort, onOwnTools?: (tools: string[]) => void) {
    this.#server = server;
    this.#port = port;
    this.#onOwnTools = onOwnTools;
    this.#needsOwn = ASKING.some((name) => port.client.capabilities[name] !== undefined);
  }

  /** Whether this client hears the server itself, without the shared connection. */
  get hasOwn(): boolean {
    return this.#own !== undefined;
  }

  /** Relays a request and resolves with the answer under the client's id. */
  call(scope: RequestScope, method: string, params: string | undefined): Promise<string> {
    // A task outlives its call, and whoever shares the connection could list and cancel it.
    if (isStateful(method) || scope.params.task !== undefined) this.#needsOwn = true;
    const progressToken = progressTokenOf(scope.params);
    const call: Call = {
      method,
      params,
      progressToken,
      timeoutMs: this.#server.timeoutMs,
      canBeAsked: this.#needsOwn,
      streams: this.#needsOwn || progressToken !== undefined,
      onMessage: (text, message) => this.#onMessage(text, message, undefined, scope),
      signal: scope.signal,
    };
    const attributes = { "mcp.server": this.#server.name, "mcp.method": method };
    const start = performance.now();
    return withSpan("downstream call", attributes, async () => {
      try {
        const { id, text } = this.#needsOwn
          ? await this.#callOnOwn(scope, call)
          : await this.#server.call(call);
        return withId(text, id, scope.id);
      } finally {
        scope.atServer = { start, ms: performance.now() - start };
      }
    });
  }

  async #callOnOwn(scope: RequestScope, call: Call): Promise<{ id: number; text: string }> {
    this.#scopes.add(scope);
    try {
      if (isStateful(call.method)) this.#kept.asked(call);
      const answer = await this.#callOnceOrTwice(scope, call);
      this.#tries = 0;
      if (isStateful(call.method)) this.#kept.answered(call, answer.text);
      if (scope.params.task !== undefined) this.#hasTasks = true;
      return answer;
    } finally {
      this.#scopes.delete(scope);
    }
  }

  async #callOnceOrTwice(scope: RequestScope, call: Call): Promise<{ id: number; text: string }> {
    try {
      return await this.#callOnce(scope, call);
    } catch (error) {
      if (!isSessionLost(error)) throw error;
      return await this.#callOnce(scope, call);
    }
  }

  async #callOnce(scope: RequestScope, call: Call): Promise<{ id: number; text: string }> {
    const own = this.#ownConnection();
    const connection = await unlessAborted(own.ready, call.signal);
    return await connection.call({
      ...call,
      onMessage: (text, message) => this.#onMessage(text, message, own, scope),
    });
  }

  /** Passes a notification on to the client's own connection; the shared one has no use for it. */
  notify(method: string, text: string): void {
    void this.#own?.opened.then((own) => own.notify(method, memberText(text, "params")))
      .catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const own = await this.#own?.opened.catch(() => undefined);
    if (own) await this.#server.closeOwn(own);
  }

  #ownConnection(): OwnConnection {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (this.#own) return this.#own;
    const { capabilities, clientInfo, protocolVersion } = this.#port.client;
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

  /** Has what the server kept for the client on the last connection on this one too. */
  async #restore(own: Connection): Promise<Connection> {
    this.#openedAt = Date.now();
    try {
      if (!this.#kept.isEmpty) await this.#kept.restore(own);
      return own;
    } catch (error) {
      await this.#server.closeOwn(own);
      throw error;
    }
  }

  #stake(): Stake {
    if (this.#scopes.size > 0) return "calls";
    const isAsked = this.#own !== undefined && this.#own.questions.size > 0;
    const isNeeded = this.#kept.hasSubscriptions || this.#hasTasks || isAsked;
    return isNeeded ? "state" : "nothing";
  }

  #onClose({ kind }: LinkClosed): void {
    this.#hasTasks = false;
    // Closed by us it was idle, or had to make room: it comes back with the client's next call.
    if (kind === "closed" || this.#kept.isEmpty || this.#isReopening) return;
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
    scope?: RequestScope,
  ): void {
    if (message.kind === "response") return;
    if (message.kind === "notification" && message.method === "notifications/tools/list_changed") {
      void this.#refresher.request();
      return;
    }
    const target = scope ?? [...this.#scopes].at(-1);
    const send = (out: string) => target ? target.send(out) : this.#port.push(out);
    if (message.kind === "request") {
      // Where it was asked, even if that is on its way out: each connection counts its questions.
      const answer = (out: string) => {
        own?.questions.delete(message.id);
        void own?.opened.then((connection) => connection.answer(out)).catch(() => {});
      };
      if (message.method === "ping") return answer(resultText(message.id, "{}"));
      const asked = this.#port.ask(text, message.id, answer);
      own?.questions.set(message.id, memberText(asked, "id")!);
      return send(asked);
    }
    if (message.method === "notifications/cancelled") {
      return this.#withdraw(text, message.params.requestId, own, send);
    }
    send(text);
  }

  async #listOwnTools(): Promise<void> {
    const own = this.#onOwnTools && await this.#own?.ready.catch(() => undefined);
    if (!own) return;
    try {
      this.#onOwnTools?.(await listToolTexts(own, this.#server.name));
    } catch { /* the client keeps the list it has */ }
  }

  #withdraw(
    text: string,
    id: unknown,
    own: OwnConnection | undefined,
    send: (text: string) => void,
  ): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    const asked = own?.questions.get(id);
    own?.questions.delete(id);
    const params = memberSpans(text).get("params");
    if (asked === undefined || !params) return;
    const span = memberSpans(text, params.start).get("requestId");
    if (span) send(replaceSpan(text, span, asked));
  }
}

function progressTokenOf(params: Record<string, unknown>): RpcId | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}
