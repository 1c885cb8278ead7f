import { EVERYONE } from "../core/principal.ts";
import { errorText, resultText, type RpcId, type RpcMessage } from "../core/rpc.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionManager } from "../sessions/session_manager.ts";
import { StdioSession } from "../sessions/stdio_session.ts";
import type { ClientIdentity, RequestScope } from "../surfaces/surface.ts";
import type { Logger } from "../telemetry/logs.ts";
import { withSpan } from "../telemetry/spans.ts";
import type { CallAnswer, Door } from "./mcp_door.ts";
import { failureText, logCall, looksFailed, negotiate, notify } from "./protocol.ts";
import { rpcErrorText } from "./rpc_errors.ts";

export interface StdioDoorOptions {
  host: {
    sessions: SessionManager;
    log: Logger;
    onCall(scope: RequestScope, session: Session, answer: CallAnswer): void;
  };
  /** Finds the door, or throws: what it leads to may come and go. */
  open(): Door;
  write(text: string): void;
}

type RpcRequest = Extract<RpcMessage, { kind: "request" }>;

/** A door for the one client at this process's own pipes. */
export class StdioDoor implements AsyncDisposable {
  readonly #options: StdioDoorOptions;
  readonly #running = new Set<Promise<void>>();
  #initializing: Promise<void> | undefined;
  #client: ClientIdentity | undefined;
  #session: Session | undefined;
  #door: Door | undefined;

  constructor(options: StdioDoorOptions) {
    this.#options = options;
  }

  /** Takes one message; what there is to say to it is written in its time. */
  take(message: RpcMessage, text: string): void {
    const taken = this.#initializing
      ? this.#initializing.then(() => this.#handle(message, text))
      : this.#handle(message, text);
    if (!taken) return;
    this.#running.add(taken);
    void taken.finally(() => this.#running.delete(taken));
  }

  /** Resolves once every request was answered. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    await this.settled();
  }

  #handle(message: RpcMessage, text: string): Promise<void> | undefined {
    switch (message.kind) {
      case "response":
        this.#session?.answer(message.id, text);
        return;
      case "notification":
        if (this.#session) notify(this.#session, message.method, message.params, text);
        return;
      case "request":
        return this.#request(message, text);
    }
  }

  #request(message: RpcRequest, text: string): Promise<void> | undefined {
    const { id, method } = message;
    if (method === "initialize") {
      return this.#initializing = this.#initialize(message).finally(() =>
        this.#initializing = undefined
      );
    }
    if (method === "server/discover") {
      return this.#refuse(id, -32601, "Method not found: server/discover");
    }
    if (!this.#client) {
      // The one request that is allowed before.
      if (method === "ping") return void this.#options.write(resultText(id, "{}"));
      return this.#refuse(id, -32000, "Initialize first");
    }
    try {
      return this.#answer(this.#openSession(this.#client), message, text);
    } catch (error) {
      this.#options.write(rpcErrorText(id, method, error));
    }
  }

  async #initialize({ id, params }: RpcRequest): Promise<void> {
    try {
      const client = negotiate(params);
      await this.#end();
      const introduction = await this.#options.open().surface.introduce();
      this.#client = client;
      this.#openSession(client);
      const result = { protocolVersion: client.protocolVersion, ...introduction };
      this.#options.write(resultText(id, JSON.stringify(result)));
    } catch (error) {
      this.#options.write(rpcErrorText(id, "initialize", error));
    }
  }

  /** The client's session; a new one where the old one went with the server behind the door. */
  #openSession(client: ClientIdentity): Session {
    const { host, open, write } = this.#options;
    if (this.#session && host.sessions.has(this.#session)) return this.#session;
    const door = this.#door = open();
    const record = { door: door.key, principal: EVERYONE, client, from: "stdio" };
    this.#session = new StdioSession(record, door.surface, write);
    host.sessions.adopt(this.#session);
    return this.#session;
  }

  async #answer(session: Session, message: RpcRequest, text: string): Promise<void> {
    const { host, write } = this.#options;
    const { id, method, params } = message;
    if (session.inFlight.has(id)) {
      return this.#refuse(id, -32600, "A request with this id is in flight already");
    }
    const controller = new AbortController();
    const { signal } = controller;
    session.inFlight.set(id, controller);
    const started = performance.now();
    const send = (out: string) => {
      if (!signal.aborted) write(out);
    };
    const scope: RequestScope = { id, method, params, text, signal, send };
    const attributes = { "mcp.door": session.door, "mcp.method": method };
    let out: string;
    try {
      out = await withSpan("mcp request", attributes, () => session.surface.request(scope));
    } catch (error) {
      out = failureText(id, method, error, { isCancelled: signal.aborted, log: host.log });
    }
    session.inFlight.delete(id);
    // Whoever cancelled does not wait for an answer any more.
    send(out);
    const ms = performance.now() - started;
    host.onCall(scope, session, { text: out, started, ms });
    if (!host.log.isLevelEnabled("debug")) return;
    const door = this.#door ?? { key: session.door };
    const isError = looksFailed(out);
    logCall(host.log, { door, method, params, correlationId: session.id, isError, ms });
  }

  #refuse(id: RpcId, code: number, message: string): undefined {
    this.#options.write(errorText(id, code, message));
  }

  async #end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (session) await this.#options.host.sessions.end(session);
  }
}
