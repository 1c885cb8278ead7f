import { type ClientProfile, type McpRequest, progressTokenOf } from "../core/client.ts";
import { EVERYONE } from "../core/access.ts";
import { errorText, type MessageId, resultText, type RpcMessage } from "../core/rpc.ts";
import type { CallRecord } from "../telemetry/call_recorder.ts";
import { type EndpointHost, type McpEndpoint, tracedRequest } from "./endpoint_host.ts";
import { isStatelessMessage, type RpcRequest } from "./envelope.ts";
import { Listen, type ListenSink } from "./listen.ts";
import {
  cancelledId,
  failureText,
  negotiate,
  nobodyAsked,
  notify,
  rpcErrorText,
} from "./protocol.ts";
import { Session, type SessionRecord } from "./session.ts";
import { discover, runRound } from "./stateless.ts";
import { refusedText, type Round } from "./stateless_call.ts";
import { type StatelessSession, statelessSession } from "./stateless_session.ts";
import type { View } from "./view.ts";

interface StdioEndpointOptions {
  host: Pick<EndpointHost, "envelopes" | "held" | "sessions" | "log" | "calls" | "onAnswered">;
  /** Finds the endpoint, or throws: its server or toolset may come and go. */
  open(): McpEndpoint;
  write(text: string): void;
}

/** The endpoint of the one client at this process's own pipes. */
export class StdioEndpoint implements AsyncDisposable {
  readonly #options: StdioEndpointOptions;
  readonly #running = new Set<Promise<void>>();
  #initializing: Promise<void> | undefined;
  #profile: ClientProfile | undefined;
  #session: Session | undefined;
  readonly #stateless = new Set<Session>();
  /** What a client without a session can cancel, by the ids of its requests. */
  readonly #cancels = new Map<MessageId, () => void>();
  #endpoint: McpEndpoint | undefined;

  constructor(options: StdioEndpointOptions) {
    this.#options = options;
  }

  take(message: RpcMessage, text: string): void {
    const taken = this.#initializing
      ? this.#initializing.then(() => this.#handle(message, text))
      : this.#handle(message, text);
    if (!taken) return;
    this.#running.add(taken);
    void taken.finally(() => this.#running.delete(taken));
  }

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
        if (!this.#session?.answer(message.id, text)) {
          // A response has no reply, so this can only be logged.
          this.#options.host.log.warn({ endpoint: this.#endpoint?.key }, nobodyAsked(message.id));
        }
        return;
      case "notification":
        if (this.#cancel(message, text)) return;
        if (this.#session) notify(this.#session, message.method, message.params, text);
        return;
      case "request":
        return this.#request(message, text);
    }
  }

  #request(message: RpcRequest, text: string): Promise<void> | undefined {
    const { id, method } = message;
    if (isStatelessMessage(message, null)) return this.#answerStateless(message, text);
    if (method === "initialize") {
      return this.#initializing = this.#initialize(message)
        .finally(() => this.#initializing = undefined);
    }
    if (method === "server/discover") {
      return this.#refuse(id, -32601, "Method not found: server/discover");
    }
    if (!this.#profile) {
      if (method === "ping") return void this.#options.write(resultText(id, "{}"));
      return this.#refuse(id, -32000, "Initialize first");
    }
    try {
      return this.#answer(this.#openSession(this.#profile), message, text);
    } catch (error) {
      this.#options.write(rpcErrorText(id, method, error));
    }
  }

  async #initialize({ id, params }: RpcRequest): Promise<void> {
    try {
      const profile = negotiate(params);
      await this.#end();
      const introduction = await this.#options.open().view.introduce(EVERYONE);
      this.#profile = profile;
      this.#openSession(profile);
      const result = { protocolVersion: profile.protocolVersion, ...introduction };
      this.#options.write(resultText(id, JSON.stringify(result)));
    } catch (error) {
      this.#options.write(rpcErrorText(id, "initialize", error));
    }
  }

  /** The client's session; a new one if the old one ended with its server. */
  #openSession(profile: ClientProfile): Session {
    const { host, open, write } = this.#options;
    if (this.#session && host.sessions.has(this.#session)) return this.#session;
    const endpoint = this.#endpoint = open();
    const record = { endpoint: endpoint.key, principal: EVERYONE, profile, from: "stdio" };
    this.#session = new StdioSession(record, endpoint.view, write);
    host.sessions.adopt(this.#session);
    return this.#session;
  }

  async #answer(session: Session, message: RpcRequest, text: string): Promise<void> {
    const { host, write } = this.#options;
    const { id, method, params } = message;
    if (session.inFlight.has(id)) {
      return this.#refuse(id, -32600, "A request with this ID is already in progress");
    }
    const controller = new AbortController();
    const { signal } = controller;
    session.inFlight.set(id, controller);
    const started = performance.now();
    const send = (out: string) => {
      if (!signal.aborted) write(out);
    };
    const request: McpRequest = { id, method, params, text, signal, send };
    let out: string;
    let call: CallRecord | undefined;
    try {
      const answer = await tracedRequest(session.endpoint, request, session.view);
      call = answer.call;
      if ("error" in answer) throw answer.error;
      out = answer.text;
    } catch (error) {
      const shown = session.view.explain?.(error) ?? error;
      out = failureText(id, method, shown, { isCancelled: signal.aborted, log: host.log });
    }
    session.inFlight.delete(id);
    // A client that cancelled does not wait for a response.
    send(out);
    const ms = performance.now() - started;
    const { principal } = session;
    const answer = { text: out, started, ms };
    host.onAnswered({ method, request: text, principal, session, call, answer });
    const endpoint = this.#endpoint ?? { key: session.endpoint };
    const correlationId = () => undefined;
    host.calls?.write({ endpoint, message, session, call, answer, correlationId });
  }

  /** A request that comes without a session, in the revision that has none. */
  async #answerStateless(message: RpcRequest, sent: string): Promise<void> {
    const { host, write, open } = this.#options;
    const { id, method, params } = message;
    const opened = host.envelopes.open(message, sent);
    if ("code" in opened) {
      return write(errorText(id, opened.code, opened.message, opened.data));
    }
    const { text } = opened;
    if (this.#cancels.has(id)) {
      return this.#refuse(id, -32600, "A request with this ID is already in progress");
    }
    const done = Promise.withResolvers<void>();
    let [isCancelled, isOver] = [false, false];
    const over = () => {
      isOver = true;
      this.#cancels.delete(id);
      done.resolve();
    };
    let session: StatelessSession | undefined;
    try {
      const endpoint = open();
      if (method === "server/discover") {
        return write(await discover(host, endpoint.view, EVERYONE, id));
      }
      const { profile, identity, logLevel } = opened.envelope;
      const visitor = {
        endpoint: endpoint.key,
        principal: EVERYONE,
        profile,
        identity,
        from: () => "stdio",
      };
      session = statelessSession(host, visitor, endpoint.view);
      this.#stateless.add(session);
      session.touch();
      if (method === "subscriptions/listen") {
        const sink: ListenSink = {
          send: (out) => {
            if (!isCancelled) write(out);
          },
          heartbeat: () => {},
          end: over,
        };
        this.#cancels.set(id, () => isCancelled = true);
        const listen = await Listen.open(session, endpoint.view, message, () => sink, host.held);
        if (isCancelled) listen.close();
        else if (session.listens.has(listen)) this.#cancels.set(id, () => listen.close());
        // Not waited for: it lasts as long as the client wants.
        return;
      }
      const round: Round = {
        id,
        progressToken: progressTokenOf({ params, text }),
        send: write,
        end: (out) => {
          if (!isCancelled) write(out);
          over();
        },
      };
      const call = runRound(round, { host, endpoint, session, message, text, logLevel });
      if (isOver) return;
      this.#cancels.set(id, () => {
        isCancelled = true;
        call.cancel("Cancelled by the client");
      });
    } catch (error) {
      write(refusedText(id, method, error, session?.view));
      over();
    }
    await done.promise;
  }

  #cancel(
    { method, params }: { method: string; params: Record<string, unknown> },
    text: string,
  ): boolean {
    const id = method === "notifications/cancelled" ? cancelledId(params, text) : undefined;
    const cancel = id === undefined ? undefined : this.#cancels.get(id);
    cancel?.();
    return cancel !== undefined;
  }

  #refuse(id: MessageId, code: number, message: string): undefined {
    this.#options.write(errorText(id, code, message));
  }

  async #end(): Promise<void> {
    const open = [...this.#session ? [this.#session] : [], ...this.#stateless];
    this.#session = undefined;
    this.#stateless.clear();
    const { sessions } = this.#options.host;
    for (const session of open) if (sessions.has(session)) await sessions.end(session);
  }
}

/** The session of the client at this process's own pipes: it lasts as long as they do. */
export class StdioSession extends Session {
  override readonly isKept = false;
  readonly #write: (text: string) => void;

  constructor(record: Omit<SessionRecord, "id">, view: View, write: (text: string) => void) {
    super({ id: crypto.randomUUID(), ...record }, view);
    this.#write = write;
  }

  override push(text: string): void {
    this.#write(text);
  }

  override idleMs(): number {
    return 0;
  }
}
