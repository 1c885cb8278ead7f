import type { ClientProfile } from "../core/client.ts";
import { errorText, readMessage, requestText, type RpcMessage } from "../core/rpc.ts";
import { LOG_LEVELS, type RpcRequest } from "./envelope.ts";
import type { Listen } from "./listen.ts";
import type { ListeningSession } from "./list_changes.ts";
import { Session, type SessionRecord, type Sessions } from "./session.ts";
import type { View } from "./view.ts";

/** Questions of servers that no request could carry yet. */
const MAX_POSTPONED = 20;
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
  /** Resources that are subscribed to, with the number of streams that listen for each. */
  readonly #subscribed = new Map<string, number>();
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
    else if (message?.kind === "notification") this.announce(message, text);
  }

  override *listeners(): Iterable<ListeningSession> {
    yield* this.listens;
  }

  override stopListening(): void {
    for (const listen of this.listens) listen.end();
  }

  override idleMs(now: number): number {
    // The client at this process's own pipes is there as long as they are.
    return this.listens.size > 0 || this.from === "stdio" ? 0 : super.idleMs(now);
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
    const why = `Cannot ask ${method}: the client takes questions only as part of its requests`;
    this.answer(id, errorText(id, -32603, why));
  }

  takePostponed(): Question[] {
    return this.#postponed.splice(0);
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
    const count = this.#subscribed.get(uri) ?? 0;
    this.#subscribed.set(uri, count + 1);
    if (count > 0 || await this.#request("resources/subscribe", { uri })) return true;
    this.#leave(uri);
    return false;
  }

  unsubscribe(uri: string): void {
    if (this.#leave(uri)) void this.#request("resources/unsubscribe", { uri });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    await super[Symbol.asyncDispose]();
  }

  /** True if nobody is left. */
  #leave(uri: string): boolean {
    const count = (this.#subscribed.get(uri) ?? 1) - 1;
    if (count > 0) this.#subscribed.set(uri, count);
    else this.#subscribed.delete(uri);
    return count === 0;
  }

  /** A request of the gateway's own for what this revision has no request for; true if it worked. */
  async #request(method: string, params: Record<string, unknown>): Promise<boolean> {
    const text = requestText(0, method, JSON.stringify(params));
    const { signal } = new AbortController();
    const request = { id: 0, method, params, text, signal, send: (out: string) => this.push(out) };
    try {
      const answer = await this.view.request(request);
      return "text" in answer && "result" in JSON.parse(answer.text);
    } catch {
      return false;
    }
  }
}

interface Visitor {
  endpoint: string;
  principal: string;
  profile: ClientProfile;
  from(): string | undefined;
}

/** The session of a client's requests, made with the first of them. */
export function statelessSession(
  sessions: Sessions,
  { endpoint, principal, profile, from }: Visitor,
  view: View,
): StatelessSession {
  const key = JSON.stringify([endpoint, principal, profile.capabilities, profile.clientInfo]);
  const known = sessions.findByKey(key);
  if (known instanceof StatelessSession) return known;
  const session = new StatelessSession({ key, endpoint, principal, profile, from: from() }, view);
  sessions.adopt(session);
  return session;
}
