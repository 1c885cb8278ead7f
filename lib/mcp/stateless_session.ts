import { createHash } from "node:crypto";
import { statelessUnit } from "../catalog/served_texts.ts";
import { ownerOf } from "../core/access.ts";
import type { ClientProfile } from "../core/client.ts";
import { getOrMake } from "../core/defined.ts";
import { errorText, memberText, readMessage, requestText, type RpcMessage } from "../core/rpc.ts";
import type { EndpointHost } from "./endpoint_host.ts";
import { type RpcRequest } from "./envelope.ts";
import { FOLLOW_TASK, LOG_LEVELS } from "../core/stateless.ts";
import type { Listen } from "./listen.ts";
import type { ListeningSession } from "./list_changes.ts";
import { Session, type SessionRecord } from "./session.ts";
import type { TaskSource } from "./task_follower.ts";
import type { View } from "./view.ts";

/** Questions of servers that no request could carry yet. */
const MAX_POSTPONED = 20;
/** Longer keys of sessions are hashed. */
const LONG_KEY = 1_024;
/** Calls of one client that wait for its answers, and streams it listens on. */
export const MAX_WAITING = 100;

/** A question of a server, under the id with which the session takes its answer. */
export interface Question {
  message: RpcRequest;
  text: string;
}

type StatelessRecord = Omit<SessionRecord, "id"> & { key: string };

/**
 * What the gateway keeps for a client that keeps nothing itself: its view, with the connections to
 * servers that ask or remember. All requests at one endpoint with the same principal and profile
 * share one, because nothing in them tells their clients apart.
 */
export class StatelessSession extends Session {
  override readonly isKept = false;
  override readonly key: string;
  readonly listens = new Set<Listen>();
  /** Those that wait for servers to confirm their subscriptions. */
  opening = 0;
  isEnded = false;
  /** Resources that are subscribed to, with the number of streams that listen for each. */
  readonly #subscribed = new Map<string, { listeners: number; confirmed: Promise<boolean> }>();
  readonly #postponed: Question[] = [];
  #level = LOG_LEVELS.length;
  #leveled: Promise<unknown> | undefined;
  /** Calls that wait for an answer of the client. */
  readonly held = new Set<object>();
  #requests = 0;

  constructor(record: StatelessRecord, view: View) {
    super({ id: crypto.randomUUID(), ...record }, view);
    this.key = record.key;
  }

  /** Clients choose their ids, and two of them may choose the same. */
  nextRequest(): string {
    return `#${this.#requests++}`;
  }

  override push(text: string): void {
    const message = readMessage(text);
    if (message?.kind === "request") this.postpone({ message, text });
    else if (message?.kind !== "notification") return;
    else if (message.method === "notifications/cancelled") this.#withdraw(message.params.requestId);
    else this.announce(message, text);
  }

  override *listeners(): Iterable<ListeningSession> {
    yield* this.listens;
  }

  override stopListening(): void {
    for (const listen of this.listens) listen.end();
  }

  override get unit(): string {
    return statelessUnit(this);
  }

  override get isBusy(): boolean {
    // The client at this process's own pipes is there as long as they are.
    return this.listens.size > 0 || this.from === "stdio" || super.isBusy;
  }

  override heartbeat(): void {
    for (const listen of this.listens) listen.heartbeat();
  }

  /** Tells those who listen for it. */
  announce(message: Extract<RpcMessage, { kind: "notification" }>, text: string): void {
    for (const listen of this.listens) listen.take(message, text);
  }

  /**
   * A question that belongs to no request has to wait for one. Only that for the roots does, which
   * servers ask at any time; a user would not know what another question is about.
   */
  postpone(question: Question): void {
    const { id, method } = question.message;
    if (method === "roots/list" && this.#postponed.length < MAX_POSTPONED) {
      this.#postponed.push(question);
      return;
    }
    const why = `Cannot relay ${method}: the client answers questions only during its own requests`;
    this.answer(id, errorText(id, -32603, why));
  }

  takePostponed(): Question[] {
    return this.#postponed.splice(0);
  }

  #withdraw(id: unknown): void {
    const at = this.#postponed.findIndex(({ message }) => message.id === id);
    if (at !== -1) this.#postponed.splice(at, 1);
  }

  /** Has servers send log messages of this level; they send them to all requests of the session. */
  async raiseLevel(level: string): Promise<void> {
    const wanted = LOG_LEVELS.indexOf(level);
    if (wanted < this.#level) {
      this.#level = wanted;
      this.#leveled = this.#request("logging/setLevel", { level });
    }
    await this.#leveled;
  }

  /** Whether updates of the resource are announced from now on. */
  async subscribe(uri: string): Promise<boolean> {
    const subscription = getOrMake(this.#subscribed, uri, () => ({
      listeners: 0,
      confirmed: this.#request("resources/subscribe", { uri }),
    }));
    subscription.listeners++;
    if (await subscription.confirmed) return true;
    this.#leave(uri);
    return false;
  }

  unsubscribe(uri: string): void {
    if (this.#leave(uri)) void this.#request("resources/unsubscribe", { uri });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.isEnded = true;
    this.stopListening();
    await super[Symbol.asyncDispose]();
  }

  /** True if nobody is left. */
  #leave(uri: string): boolean {
    const subscription = this.#subscribed.get(uri);
    if (!subscription || --subscription.listeners > 0) return false;
    this.#subscribed.delete(uri);
    return true;
  }

  /** A server's task, whose client listens for its changes. */
  taskSource(taskId: string): TaskSource {
    return {
      state: () => this.#ask("tasks/get", { taskId }),
      follow: (send, signal) => this.#ask(FOLLOW_TASK, { taskId }, { send, signal }),
    };
  }

  /** A request of the gateway's own for what this revision has no request for; true if it worked. */
  async #request(method: string, params: Record<string, unknown>): Promise<boolean> {
    return await this.#ask(method, params).catch(() => undefined) !== undefined;
  }

  /** The result; undefined if the answer is an error. */
  async #ask(
    method: string,
    params: Record<string, unknown>,
    { signal = new AbortController().signal, send = (out: string) => this.push(out) } = {},
  ): Promise<string | undefined> {
    const text = requestText(0, method, JSON.stringify(params));
    const answer = await this.view.request({ id: 0, method, params, text, signal, send });
    return "text" in answer ? memberText(answer.text, "result") : undefined;
  }
}

interface Visitor {
  endpoint: string;
  principal: string;
  profile: ClientProfile;
  /** How the client introduces itself (envelope.ts). */
  identity: string;
  from(): string | undefined;
}

/** The session of a client's requests, made with the first of them; throws LIMIT_EXCEEDED. */
export function statelessSession(
  { sessions, countRequest }: Pick<EndpointHost, "sessions" | "countRequest">,
  { endpoint, principal, profile, identity, from }: Visitor,
  view: View,
): StatelessSession {
  const whole = `${endpoint} ${principal} ${identity}`;
  const key = whole.length > LONG_KEY ? createHash("sha256").update(whole).digest("base64") : whole;
  const known = sessions.findByKey(key);
  if (known instanceof StatelessSession) return known;
  // It costs as much as a session that a client opens itself.
  countRequest?.(principal, "initialize");
  sessions.makeRoom(ownerOf(principal));
  const session = new StatelessSession({ key, endpoint, principal, profile, from: from() }, view);
  sessions.adopt(session);
  return session;
}
