import { offerOf } from "../catalog/listed_to.ts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  isStateless,
  type McpRequest,
  progressTokenOf,
  withdrawal,
} from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import {
  errorText,
  isObject,
  memberText,
  type MessageId,
  notificationText,
  resultText,
  type RpcMessage,
  withId,
} from "../core/rpc.ts";
import type { Call, Connection } from "../servers/connection.ts";
import { TransportClosed } from "../servers/transports/transport.ts";
import { backoffMs } from "../servers/shared_connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { isOnTask, type TaskCarrier } from "../servers/task_owners.ts";
import type { ConnectionUse } from "../servers/own_connections.ts";
import { isSessionLost } from "../servers/status.ts";
import { listToolTexts, ToolRefresher } from "../servers/tool_list.ts";
import { abortable } from "../core/async.ts";
import { hasTasks, LOG_LEVEL_KEY } from "../core/stateless.ts";
import { ConnectionState, isStateful } from "./connection_state.ts";
import { completeRounds, completeUrls, mayRequireUrls, type ServerAnswer } from "./input_rounds.ts";
import { olderCallAnswer } from "./older_output.ts";
import { ResourceWatch } from "./resource_watch.ts";
import { rootFolder } from "./root_folder.ts";
import { isTracing, tracedParams, withSpan } from "../telemetry/tracing.ts";

/** Consecutive attempts to reopen a connection without calls; about twenty minutes. */
const MAX_TRIES = 30;
const STEADY_MS = 30_000;
/** What calls in flight have left when the client's folder changes. */
const SETTLE_MS = 10_000;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
/** Requests of a stateless client that can be answered with a question. */
const CAN_ASK = new Set(["tools/call", "prompts/get", "resources/read"]);
/** Requests that are answered with a tool's output. */
const OUTPUT = new Set(["tools/call", "tasks/result"]);
/** Instances of one server for the folders of one stateless client. */
const MOST_FOLDERS = 20;
/** What clients get of a stateless server's log messages until they set a level. */
const DEFAULT_LEVEL = "info";

/** A connection being opened: first usable for answers, then with the client's state restored. */
interface OwnConnection {
  opened: Promise<Connection>;
  ready: Promise<Connection>;
  /** What the server has asked on it and the client has not answered, with the client's id of it. */
  questions: Map<MessageId, string>;
}

/**
 * Relays one client's requests to one server. A client that offers capabilities, or that the server
 * keeps state for, has a connection of its own, so nothing reaches anybody else; others share one.
 */
export class Relay implements AsyncDisposable, TaskCarrier {
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
  #watch: ResourceWatch | undefined;
  #folder: Promise<string | undefined> | undefined;
  /** Of a stateless client, the relays to the server's instances, by their folders; latest use last. */
  readonly #byFolder = new Map<string | undefined, Relay>();
  readonly #hasFolder: boolean;

  /** With a folder, the server's own instance starts there without asking the client. */
  constructor(
    server: ManagedServer,
    client: Client,
    onOwnTools?: (tools: string[]) => void,
    folder?: { path: string | undefined },
  ) {
    this.#server = server;
    this.#hasFolder = folder !== undefined;
    if (folder) this.#folder = Promise.resolve(folder.path);
    this.#client = client;
    this.#onOwnTools = onOwnTools;
    this.#needsOwn = offerOf(client.profile) !== "";
    this.#stopListening = server.onBroadcast((text) => {
      if (!folder && !this.hasOwn) client.push(text);
    });
  }

  get hasOwn(): boolean {
    return this.#own !== undefined || this.#byFolder.values().some((relay) => relay.hasOwn);
  }

  call(request: McpRequest, params: string | undefined): Promise<string> {
    const { method } = request;
    const isByFolder = !this.#hasFolder && this.#server.instance === "root" &&
      isStateless(this.#client.profile);
    if (isByFolder) return this.#callInFolder(request, params);
    // Only a server that speaks the revision can have made it: an older one would make a new call.
    if (request.params.requestState !== undefined && this.#isOlder()) {
      return Promise.reject(
        new GatewayError("INVALID_PARAMS", {
          message: "Unknown request state",
          recoverySteps: ["Make the call again without a request state"],
        }),
      );
    }
    if (hasTasks(this.#server.info?.capabilities ?? {})) request.deferral?.forbid();
    // A task outlives its call, and clients that share the connection could list and cancel it.
    const keepsState = isStateful(method) || request.params.task !== undefined;
    if (keepsState || this.#server.instance !== "shared") this.#needsOwn = true;
    const progressToken = progressTokenOf(request);
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
      principal: this.#client.principal,
    };
    if (!isTracing) return this.#call(request, call);
    const attributes = { "mcp.server": this.#server.name, "mcp.method": method };
    return withSpan("server call", attributes, (span) => {
      if (span) call.params = tracedParams(call.params, span);
      return this.#call(request, call);
    });
  }

  /** Whether the server is known to speak a revision with sessions. */
  #isOlder(): boolean {
    return this.#server.status.state === "ready" && !this.#server.isStateless;
  }

  /**
   * Several stateless clients can share this relay, each in a folder of its own, so each call says which
   * it is. Requests that cannot ask go where the last call went.
   */
  async #callInFolder(request: McpRequest, params: string | undefined): Promise<string> {
    const latest = [...this.#byFolder.keys()].at(-1);
    const folder = CAN_ASK.has(request.method) ? await rootFolder(this.#client, request) : latest;
    this.#closing.signal.throwIfAborted();
    const relay = this.#byFolder.get(folder) ??
      new Relay(this.#server, this.#client, this.#onOwnTools, { path: folder });
    this.#byFolder.delete(folder);
    this.#byFolder.set(folder, relay);
    for (const [oldest, idle] of this.#byFolder) {
      if (this.#byFolder.size <= MOST_FOLDERS) break;
      if (idle.#requests.size > 0) continue;
      this.#byFolder.delete(oldest);
      void idle[Symbol.asyncDispose]();
    }
    return await relay.call(request, params);
  }

  async #call(request: McpRequest, call: Call): Promise<string> {
    const { taskOwners } = this.#server;
    const { principal } = this.#client;
    if (isOnTask(request.method)) {
      const diverted = await taskOwners.divert(this.#client, request, call.params);
      if (diverted !== undefined) return diverted;
    }
    const isShared = !this.#needsOwn || await this.#isShared(call);
    const send = (call: Call) =>
      isShared ? this.#callShared(request, call) : this.#callOnOwn(request, call);
    let answer = await send(call);
    if (mayRequireUrls(answer.text) && isStateless(this.#client.profile)) {
      answer = await completeUrls(answer, this.#rounds(request, call, send));
    }
    const text = withId(answer.text, answer.id, request.id);
    return taskOwners.shown(principal, request, text, this);
  }

  callOnTask(
    { method, params }: { method: string; params: string },
    exchange: Pick<McpRequest, "signal" | "send" | "ask">,
  ): Promise<string> {
    const request = { id: 0, method, params: JSON.parse(params), text: params, ...exchange };
    return this.call(request, params);
  }

  #rounds(request: McpRequest, call: Call, send: (call: Call) => Promise<ServerAnswer>) {
    return {
      serverName: this.#server.name,
      request,
      client: this.#client,
      params: call.params,
      repeat: (params: string) => send({ ...call, params }),
    };
  }

  async #callShared(request: McpRequest, call: Call): Promise<ServerAnswer> {
    if (!this.#server.isStateless) {
      const answer = await this.#server.call(call);
      // Whether it is one may be known only now.
      return this.#server.isStateless ? this.#complete(answer, request, call) : answer;
    }
    if (isStateful(call.method)) return await this.#keepState(call);
    const own = { ...call, canBeAsked: false, logLevel: this.#logLevel(request) };
    return this.#complete(await this.#server.call(own), request, own);
  }

  /** What a stateless server still needs is asked of the client, if that has a session to be asked in. */
  #complete(
    answer: ServerAnswer,
    request: McpRequest,
    call: Call,
    send = (call: Call) => this.#server.call(call),
  ): ServerAnswer | Promise<ServerAnswer> {
    // The client of a task gets the server's questions when it asks about the task.
    if (isStateless(this.#client.profile) && !request.deferral?.isDeferred) return answer;
    const isOlder = !isStateless(this.#client.profile) && OUTPUT.has(call.method);
    return completeRounds(answer, this.#rounds(request, call, send))
      .then(({ id, text }) => ({ id, text: isOlder ? olderCallAnswer(text) : text }));
  }

  /** The log messages that a client wants of a stateless server, which sends none unless asked. */
  #logLevel({ params: { _meta: meta } }: McpRequest): string | undefined {
    if (isStateless(this.#client.profile)) {
      const level = isObject(meta) ? meta[LOG_LEVEL_KEY] : undefined;
      return typeof level === "string" ? level : undefined;
    }
    const isLogging = this.#server.info?.capabilities.logging !== undefined;
    return this.#state.level ?? (isLogging ? DEFAULT_LEVEL : undefined);
  }

  /** Does for a client with a session what a stateless server does not keep. */
  async #keepState(call: Call): Promise<ServerAnswer> {
    const done = { id: 0, text: resultText(0, "{}") };
    const { capabilities = {} } = this.#server.info ?? {};
    const isLevel = call.method === "logging/setLevel";
    if (capabilities[isLevel ? "logging" : "resources"] === undefined) {
      return { id: 0, text: errorText(0, METHOD_NOT_FOUND, "Method not found") };
    }
    this.#state.asked(call);
    this.#state.answered(call, done.text);
    if (isLevel) return done;
    try {
      this.#watch ??= new ResourceWatch(this.#server, () => this.#state.subscriptions, (uri) => {
        const updated = JSON.stringify({ uri });
        this.#client.push(notificationText("notifications/resources/updated", updated));
      });
      await abortable(this.#watch.update(), call.signal);
      return done;
    } catch (error) {
      this.#state.asked({ ...call, method: "resources/unsubscribe" });
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (typeof code !== "number") throw error;
      return { id: 0, text: errorText(0, code, String(error)) };
    }
  }

  /** A stateless server needs no connection for each client: every request says whose it is. */
  async #isShared({ signal }: Call): Promise<boolean> {
    if (this.#own || this.#server.instance !== "shared") return false;
    return await this.#server.speaksStateless(signal);
  }

  async #callOnOwn(request: McpRequest, call: Call): Promise<ServerAnswer> {
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

  async #callOnceOrTwice(request: McpRequest, call: Call): Promise<ServerAnswer> {
    try {
      return await this.#callOnce(request, call);
    } catch (error) {
      if (!isSessionLost(error)) throw error;
      return await this.#callOnce(request, call);
    }
  }

  async #callOnce(request: McpRequest, call: Call): Promise<ServerAnswer> {
    const own = this.#ownConnection(request);
    const connection = await abortable(own.ready, call.signal);
    const onMessage: Call["onMessage"] = (text, message) =>
      this.#onMessage(text, message, own, request);
    if (!connection.isStateless) return await connection.call({ ...call, onMessage });
    if (isStateful(call.method)) return await this.#keepState(call);
    const logLevel = this.#logLevel(request);
    const send = (call: Call) => connection.call({ ...call, onMessage, logLevel });
    return this.#complete(await send(call), request, call, send);
  }

  /** Passes a notification on to the client's own connection; the shared one has no use for it. */
  notify(method: string, text: string): void {
    const isRoots = method === "notifications/roots/list_changed";
    // With each call their client says where it is.
    if (!isRoots) this.#byFolder.forEach((relay) => relay.notify(method, text));
    if (isRoots && this.#folder !== undefined) {
      // The next call starts the program in the new folder.
      this.#folder = undefined;
      void this.#own?.opened.then((own) => own.end(SETTLE_MS)).catch(() => {});
      return;
    }
    void this.#own?.opened.then((own) => own.notify(method, memberText(text, "params")))
      .catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    this.#closing.abort();
    this.#watch?.[Symbol.dispose]();
    const { isStateless, instance, taskOwners } = this.#server;
    // Tasks on a connection that others share go on without this client.
    if (this.#needsOwn && (!isStateless || instance !== "shared")) taskOwners.release(this);
    await Promise.all(Array.from(this.#byFolder.values(), (relay) => relay[Symbol.asyncDispose]()));
    const own = await this.#own?.opened.catch(() => undefined);
    if (own) await own.end(0);
  }

  /** Where the client's instance of the server starts; asked with its first call. */
  #ownFolder(request: McpRequest | undefined): Promise<string | undefined> {
    if (!request) return this.#folder ?? Promise.resolve(undefined);
    return this.#folder ??= rootFolder(this.#client, request);
  }

  #ownConnection(request?: McpRequest): OwnConnection {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (this.#own) return this.#own;
    const { capabilities, clientInfo, protocolVersion } = this.#client.profile;
    const drop = () => {
      const isCurrent = this.#own === own;
      if (isCurrent) this.#own = undefined;
      return isCurrent;
    };
    const client = {
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
    } satisfies Parameters<ManagedServer["openOwn"]>[0];
    const opened = this.#server.instance === "root"
      ? this.#ownFolder(request).then((cwd) => this.#server.openOwn({ ...client, cwd }))
      : this.#server.openOwn(client);
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
      if (!this.#state.isEmpty && !own.isStateless) await this.#state.restore(own);
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
    // If we closed it, it was idle or had to make room: the client's next call reopens it.
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
      // On the connection that asked, even if it is closing: each numbers its own questions.
      const answer = (out: string) => {
        own?.questions.delete(message.id);
        void own?.opened.then((connection) => connection.answer(out)).catch(() => {});
      };
      const refuse = (why: string) =>
        answer(errorText(message.id, INTERNAL_ERROR, `Cannot relay ${message.method}: ${why}`));
      if (message.method === "ping") return answer(resultText(message.id, "{}"));
      if (!request && message.method !== "roots/list" && this.#isAmbiguous()) {
        return refuse("several calls are in flight, and the request names none of them");
      }
      const about = request ?? this.#likeliest();
      const asked = (about?.ask ? about : this.#client).ask!(text, message.id, answer);
      own?.questions.set(message.id, memberText(asked, "id")!);
      return this.#send(asked, request);
    }
    // Clients of 2026-07-28 that look the same share a session: the message may be about either's call.
    const isLog = message.method === "notifications/message";
    if (isLog && !request && this.#isAmbiguous()) return this.#server.hear(text, message);
    const out = message.method === "notifications/cancelled"
      ? withdrawal(text, message.params.requestId, own?.questions)
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

  /** The request in flight that a message is most likely about; list requests never ask anything. */
  #likeliest(): McpRequest | undefined {
    const requests = [...this.#requests];
    return requests.findLast(({ method }) => !method.endsWith("/list")) ?? requests.at(-1);
  }

  /** Whether a question may belong to one of several calls, perhaps of different clients. */
  #isAmbiguous(): boolean {
    if (!isStateless(this.#client.profile)) return false;
    return [...this.#requests].filter(({ method }) => !method.endsWith("/list")).length > 1;
  }

  #send(text: string, request = this.#likeliest()): void {
    if (request) request.send(text);
    else this.#client.push(text);
  }
}
