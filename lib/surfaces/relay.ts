import { memberText, resultText, type RpcId, type RpcMessage, withId } from "../core/rpc.ts";
import { memberSpans, replaceSpan } from "../core/json_spans.ts";
import type { Call, Connection } from "../downstream/connection.ts";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { isSessionLost } from "../downstream/server_trouble.ts";
import { listToolTexts } from "../downstream/tool_listing.ts";
import { ToolRefresher } from "../downstream/tool_refresher.ts";
import { withSpan } from "../telemetry/spans.ts";
import type { ClientPort, RequestScope } from "./surface.ts";

/** Capabilities with which a server may ask its client something. */
const ASKING = ["sampling", "elicitation", "roots"];
/** Methods whose effect stays with the connection they were sent on. */
const STATEFUL = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/**
 * One client's way to one server. Where the server could ask the client something, or keeps state for
 * it, the client has a connection of its own, so that nothing can reach anybody else; all others
 * share one.
 */
export class Relay implements AsyncDisposable {
  readonly #server: ManagedServer;
  readonly #port: ClientPort;
  /** Called with the tools that the server lists for this client, which may be for it alone. */
  readonly #onOwnTools: (tools: string[]) => void;
  readonly #closing = new AbortController();
  readonly #refresher = new ToolRefresher(() => this.#listOwnTools(), this.#closing.signal);
  readonly #scopes = new Set<RequestScope>();
  #needsOwn: boolean;
  #own: Promise<Connection> | undefined;

  constructor(server: ManagedServer, port: ClientPort, onOwnTools: (tools: string[]) => void) {
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
  async call(scope: RequestScope, method: string, params: string | undefined): Promise<string> {
    // A task outlives its call, and whoever shares the connection could list and cancel it.
    if (STATEFUL.has(method) || scope.params.task !== undefined) this.#needsOwn = true;
    const progressToken = progressTokenOf(scope.params);
    const call: Call = {
      method,
      params,
      progressToken,
      timeoutMs: this.#server.timeoutMs,
      canBeAsked: this.#needsOwn,
      streams: this.#needsOwn || progressToken !== undefined,
      onMessage: (text, message) => this.#onMessage(text, message, scope),
      signal: scope.signal,
    };
    const attributes = { "mcp.server": this.#server.name, "mcp.method": method };
    return await withSpan("downstream call", attributes, async () => {
      const { id, text } = this.#needsOwn
        ? await this.#callOnOwn(scope, call)
        : await this.#server.call(call);
      return withId(text, id, scope.id);
    });
  }

  async #callOnOwn(scope: RequestScope, call: Call): Promise<{ id: number; text: string }> {
    this.#scopes.add(scope);
    try {
      return await (await this.#ownConnection()).call(call);
    } catch (error) {
      if (!isSessionLost(error)) throw error;
      return await (await this.#ownConnection()).call(call);
    } finally {
      this.#scopes.delete(scope);
    }
  }

  /** Passes a notification on to the client's own connection; the shared one has no use for it. */
  notify(method: string, text: string): void {
    void this.#own?.then((own) => own.notify(method, memberText(text, "params"))).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const own = await this.#own?.catch(() => undefined);
    if (own) await this.#server.closeOwn(own);
  }

  #ownConnection(): Promise<Connection> {
    if (this.#own) return this.#own;
    const opening = this.#server.openOwn({
      capabilities: this.#port.client.capabilities,
      ...(this.#port.client.clientInfo ? { clientInfo: this.#port.client.clientInfo } : {}),
      protocolVersion: this.#port.client.protocolVersion,
      events: {
        onLog: () => {},
        onMessage: (text, message) => this.#onMessage(text, message),
        onClose: () => {
          if (this.#own === opening) this.#own = undefined;
        },
      },
    });
    this.#own = opening;
    // A server may list other tools for a client that it can ask, and need not say so.
    void opening.then(() => this.#refresher.request(), () => {
      if (this.#own === opening) this.#own = undefined;
    });
    return opening;
  }

  /** What the server says: to the request it belongs to, else to one in flight, else to the client. */
  #onMessage(text: string, message: RpcMessage, scope?: RequestScope): void {
    if (message.kind === "response") return;
    if (message.kind === "notification" && message.method === "notifications/tools/list_changed") {
      void this.#refresher.request();
      return;
    }
    const target = scope ?? [...this.#scopes].at(-1);
    const send = (out: string) => target ? target.send(out) : this.#port.push(out);
    if (message.kind === "request") {
      const asker = this.#own;
      // A server that was started anew counts its questions anew: an old answer is not for it.
      const answer = (out: string) => {
        if (this.#own === asker) void asker?.then((own) => own.answer(out)).catch(() => {});
      };
      if (message.method === "ping") return answer(resultText(message.id, "{}"));
      return send(this.#port.ask(text, message.id, answer));
    }
    if (message.method === "notifications/cancelled") {
      return this.#withdraw(text, message.params.requestId, send);
    }
    send(text);
  }

  async #listOwnTools(): Promise<void> {
    const own = await this.#own?.catch(() => undefined);
    if (!own) return;
    try {
      this.#onOwnTools(await listToolTexts(own, this.#server.name));
    } catch { /* the client keeps the list it has */ }
  }

  #withdraw(text: string, id: unknown, send: (text: string) => void): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    const asked = this.#port.askedAs(id);
    const params = memberSpans(text).get("params");
    if (asked === undefined || !params) return;
    const span = memberSpans(text, params.start).get("requestId");
    if (span) send(replaceSpan(text, span, JSON.stringify(asked)));
  }
}

function progressTokenOf(params: Record<string, unknown>): RpcId | undefined {
  const token = (params._meta as { progressToken?: unknown } | undefined)?.progressToken;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}
