import { offerOf } from "../catalog/listed_to.ts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  isStateless,
  type McpRequest,
  progressTokenOf,
  withdrawal,
} from "../core/client.ts";
import {
  errorText,
  memberText,
  type MessageId,
  notificationText,
  resultText,
  type RpcMessage,
  withId,
} from "../core/rpc.ts";
import { type Call, callLimits, type Connection } from "../servers/connection.ts";
import { TransportClosed } from "../servers/transports/transport.ts";
import { backoffMs } from "../servers/shared_connection.ts";
import type { ManagedServer } from "../servers/server.ts";
import { isOnTask, requestOnTask, type TaskCarrier } from "../servers/task_owners.ts";
import type { ConnectionUse } from "../servers/own_connections.ts";
import { isSessionLost } from "../servers/status.ts";
import { LIST_GAP_MS, listToolTexts } from "../servers/tool_list.ts";
import { abortable, Refresher } from "../core/async.ts";
import { hasTasks } from "../core/stateless.ts";
import { ConnectionState, isStateful } from "./connection_state.ts";
import { completeAnswer } from "./awaited_task.ts";
import { completeUrls, mayRequireUrls, type ServerAnswer, unknownState } from "./input_rounds.ts";
import { KeptState } from "./kept_state.ts";
import { olderCallAnswer } from "./older_output.ts";
import { RelayBranches } from "./relay_branches.ts";
import { RequestsInFlight } from "./requests_in_flight.ts";
import { RelayGuard } from "./relay_guard.ts";
import { rootFolder } from "./root_folder.ts";
import type { ContentGuard } from "../trust/content_guard/guard.ts";
import { isTracing, mcpSpan, tracedParams, withSpan } from "../telemetry/tracing.ts";

/** Consecutive attempts to reopen a connection without calls; about twenty minutes. */
const MAX_TRIES = 30;
const STEADY_MS = 30_000;
/** What calls in flight have left when the client's folder changes. */
const SETTLE_MS = 10_000;
const INTERNAL_ERROR = -32603;
/** Requests of a stateless client that can be answered with a question. */
const CAN_ASK = new Set(["tools/call", "prompts/get", "resources/read"]);
/** Requests that are answered with a tool's output. */
const OUTPUT = new Set(["tools/call", "tasks/result"]);

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
  readonly #guard: RelayGuard;
  /** Called with the tools that the server lists for this client, which may differ from all others'. */
  readonly #onOwnTools: ((tools: string[]) => void) | undefined;
  readonly #closing = new AbortController();
  readonly #refresher = new Refresher(
    () => this.#listOwnTools(),
    this.#closing.signal,
    LIST_GAP_MS,
  );
  readonly #requests = new RequestsInFlight();
  readonly #state = new ConnectionState();
  readonly #kept: KeptState;
  readonly #stopListening: () => void;
  #needsOwn: boolean;
  #own: OwnConnection | undefined;
  /** Whether there may be tasks on the connection, which nobody could restore. */
  #hasTasks = false;
  #openedAt = 0;
  #tries = 0;
  #isReopening = false;
  #folder: Promise<string | undefined> | undefined;
  readonly #branches = new RelayBranches<Relay>();
  readonly #hasFolder: boolean;
  readonly #isLane: boolean;
  /** Calls in flight here that a server could ask something for. */
  #asking = 0;

  /** With a folder, the server's own instance starts there without asking the client. */
  constructor(
    server: ManagedServer,
    client: Client,
    onOwnTools?: (tools: string[]) => void,
    guard?: ContentGuard,
    folder?: { path: string | undefined; isLane?: boolean },
  ) {
    this.#server = server;
    this.#guard = new RelayGuard(guard, server, client);
    this.#hasFolder = folder !== undefined;
    this.#isLane = folder?.isLane ?? false;
    if (folder) this.#folder = Promise.resolve(folder.path);
    this.#client = client;
    this.#onOwnTools = onOwnTools;
    this.#kept = new KeptState(server, client, this.#state);
    this.#needsOwn = offerOf(client.profile) !== "";
    this.#stopListening = server.onBroadcast((text) => {
      if (!folder && !this.hasOwn) client.push(text);
    });
  }

  get hasOwn(): boolean {
    return this.#own !== undefined || this.#branches.all.some((relay) => relay.hasOwn);
  }

  /** Whether nothing is in flight on a connection of its own. */
  get isIdle(): boolean {
    return this.#requests.size === 0 && this.#asking === 0;
  }

  call(request: McpRequest, params: string | undefined): Promise<string> {
    const { method } = request;
    const isByFolder = !this.#hasFolder && this.#server.instance === "root" &&
      isStateless(this.#client.profile);
    if (isByFolder) return this.#callInFolder(request, params);
    if (CAN_ASK.has(method) && this.#needsOwn && isStateless(this.#client.profile)) {
      return this.#callApart(request, params);
    }
    return this.#callHere(request, params);
  }

  /**
   * Clients of 2026-07-28 that look the same share this relay. If a server's questions do not name their
   * call, each call gets a connection to itself, so that its question cannot reach another client.
   */
  #callApart(request: McpRequest, params: string | undefined): Promise<string> {
    const needsLane = this.#server.era.asksUnnamed && !this.#isLane && this.#asking > 0;
    const lane = needsLane ? this.#branches.freeLane(() => this.#openLane()) : undefined;
    if (lane) return lane.call(request, params);
    this.#asking++;
    return this.#callHere(request, params).finally(() => this.#asking--);
  }

  #callHere(request: McpRequest, params: string | undefined): Promise<string> {
    // Only a server that speaks the revision can have made it: an older one would make a new call.
    const isOlder = this.#server.status.state === "ready" && !this.#server.isStateless;
    if (request.params.requestState !== undefined && isOlder) return Promise.reject(unknownState());
    if (hasTasks(this.#server.info?.capabilities ?? {})) request.deferral?.forbid();
    // A task outlives its call, and clients that share the connection could list and cancel it.
    const keepsState = isStateful(request.method) || request.params.task !== undefined;
    if (keepsState || this.#server.instance !== "shared") this.#needsOwn = true;
    const progressToken = progressTokenOf(request);
    const call: Call = {
      method: request.method,
      params,
      progressToken,
      ...callLimits(this.#server),
      canBeAsked: this.#needsOwn,
      streams: this.#needsOwn || progressToken !== undefined,
      onMessage: (text, message) => this.#onMessage(text, message, undefined, request),
      signal: request.signal,
      client: this.#client.profile,
      principal: this.#client.principal,
    };
    if (!isTracing) return this.#call(request, call);
    const own = { "quartermaster.server": this.#server.name };
    return withSpan(mcpSpan("client", call.method, params, own), (span) => {
      if (span) call.params = tracedParams(call.params, span);
      return this.#call(request, call);
    });
  }

  /**
   * Several stateless clients can share this relay, each in a folder of its own, so each call says which
   * it is. Requests that cannot ask go where the last call went.
   */
  async #callInFolder(request: McpRequest, params: string | undefined): Promise<string> {
    const folder = CAN_ASK.has(request.method)
      ? await rootFolder(this.#client, request)
      : this.#branches.latestFolder;
    this.#closing.signal.throwIfAborted();
    const relay = this.#branches.inFolder(folder, () => {
      return new Relay(this.#server, this.#client, this.#onOwnTools, this.#guard.guard, {
        path: folder,
      });
    });
    return await relay.call(request, params);
  }

  #openLane(): Relay {
    const folder = { path: undefined, isLane: true };
    const lane = new Relay(this.#server, this.#client, this.#onOwnTools, this.#guard.guard, folder);
    lane.#folder = this.#folder ?? lane.#folder;
    lane.#state.keepLevel(this.#state.level);
    return lane;
  }

  async #call(request: McpRequest, call: Call): Promise<string> {
    this.#guard.checkArguments(request, call);
    const { taskOwners } = this.#server;
    if (isOnTask(request.method)) {
      const diverted = await taskOwners.divert(this.#client, request, call.params);
      if (diverted !== undefined) return diverted;
    }
    const isShared = !this.#needsOwn || await this.#isShared(call);
    const sent = (call: Call) =>
      isShared ? this.#callShared(request, call) : this.#callOnOwn(request, call);
    const send = (call: Call) => this.#guard.failure(request, sent(call));
    let answer = await send(call);
    if (mayRequireUrls(answer.text) && isStateless(this.#client.profile)) {
      answer = await completeUrls(answer, this.#rounds(request, call, send));
    }
    const text = withId(this.#guard.answer(request, answer.text), answer.id, request.id);
    return taskOwners.shown(this.#client.principal, request, text, this);
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
      ...this.#guard.screens(request),
      limits: call,
      repeat: (params: string, more?: Partial<Call>) => send({ ...call, params, ...more }),
    };
  }

  async #callShared(request: McpRequest, call: Call): Promise<ServerAnswer> {
    if (!this.#server.isStateless) {
      const answer = await this.#server.call(call);
      // Whether it is one may be known only now.
      return this.#server.isStateless ? this.#complete(answer, request, call) : answer;
    }
    if (isStateful(call.method)) return await this.#kept.keep(call);
    const own = { ...call, canBeAsked: false, logLevel: this.#kept.logLevel(request) };
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
    return completeAnswer(answer, this.#rounds(request, call, send))
      .then(({ id, text }) => ({ id, text: isOlder ? olderCallAnswer(text) : text }));
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
      if (call.method === "logging/setLevel") this.#levelLanes(call);
      if (request.params.task !== undefined) this.#hasTasks = true;
      return answer;
    } finally {
      this.#requests.delete(request);
    }
  }

  #levelLanes(call: Call): void {
    for (const lane of this.#branches.lanes) {
      lane.#state.keepLevel(this.#state.level);
      void lane.#own?.ready.then((own) => own.call({ ...call, signal: undefined })).catch(() => {});
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
    if (isStateful(call.method)) return await this.#kept.keep({ ...call, onMessage }, connection);
    const logLevel = this.#kept.logLevel(request);
    const send = (call: Call) => connection.call({ ...call, onMessage, logLevel });
    return this.#complete(await send(call), request, call, send);
  }

  /** Passes a notification on to the client's own connection; the shared one has no use for it. */
  notify(method: string, text: string): void {
    const isRoots = method === "notifications/roots/list_changed";
    // With each call their client says where it is.
    if (!isRoots) this.#branches.all.forEach((relay) => relay.notify(method, text));
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
    this.#kept[Symbol.dispose]();
    const { isStateless, instance, taskOwners } = this.#server;
    // Tasks on a connection that others share go on without this client.
    if (this.#needsOwn && (!isStateless || instance !== "shared")) taskOwners.release(this);
    await this.#branches[Symbol.asyncDispose]();
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
      return void this.#refresher.request();
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
      const named = request ?? requestOnTask(this.#requests, message.params);
      if (!named && message.method !== "roots/list") {
        void this.#server.era.noteAsking(this.#server.server).catch(() => {});
        if (this.#isAmbiguous()) {
          return refuse(
            "several calls are in flight, and the request names none of them. Make the call again",
          );
        }
      }
      const about = named ?? this.#requests.likeliest;
      const shown = this.#guard.question(about, text, message);
      if ("refusal" in shown) return answer(shown.refusal);
      const asked = (about?.ask ? about : this.#client).ask!(shown.text, message.id, answer);
      own?.questions.set(message.id, memberText(asked, "id")!);
      return this.#send(asked, named);
    }
    // Clients of 2026-07-28 that look the same share a session: the message may be about either's call.
    const isLog = message.method === "notifications/message";
    if (isLog && !request && this.#isAmbiguous()) return this.#server.hear(text, message);
    request ??= requestOnTask(this.#requests, message.params);
    const out = message.method === "notifications/cancelled"
      ? withdrawal(text, message.params.requestId, own?.questions)
      : this.#guard.notification(request ?? this.#requests.likeliest, message.method, text);
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

  /** Whether a question may belong to one of several calls, perhaps of different clients. */
  #isAmbiguous(): boolean {
    // Only one client is at the other end of a pipe.
    if (!isStateless(this.#client.profile) || this.#client.from === "stdio") return false;
    return this.#requests.isAmbiguous;
  }

  #send(text: string, request = this.#requests.likeliest): void {
    if (request) request.send(text);
    else this.#client.push(text);
  }
}
