import type { Client, ClientProfile, SentTokens } from "../core/client.ts";
import { GatewayError } from "../core/errors.ts";
import { credentialOf, ownerOf, projectOf } from "../core/access.ts";
import { type MessageId, notificationText, withId } from "../core/rpc.ts";
import type { SessionsRepository } from "../storage/access_repositories.ts";
import { type EventId, EventStream } from "./event_stream.ts";
import type { ClientLists, ListeningSession } from "./list_changes.ts";
import type { View, ViewSession } from "./view.ts";

/** Streams of ended requests that a client can still resume. */
const KEPT_STREAMS = 16;
const KEPT_MS = 60_000;
/** The same for large results: a client that lost one comes back within a second, or not at all. */
const LARGE_KEPT_MS = 5_000;
/** Requests of servers that a client has not answered. */
const MAX_ASKED = 1_000;
/** Projects and tokens with other rights that a client can work with beside its own. */
const MAX_OTHERS = 8;
/** From this version on clients know events without data. */
const PRIMING_SINCE = "2025-11-25";

export interface SessionRecord {
  id: string;
  endpoint: string;
  /** Who the client acts for; nobody else may continue the session. */
  principal: string;
  profile: ClientProfile;
  /** The address it was made from, or `stdio`. */
  from?: string | undefined;
}

/** What a client has done since it connected. */
export interface SessionUse {
  connectedAt: number;
  calls: number;
  errors: number;
  searches: number;
  lastCall?: { server: string; tool: string; at: number; ok: boolean };
}

/** One client at one endpoint: what it can do, what it has in flight, and the streams to it. */
export class Session implements Client, AsyncDisposable {
  readonly id: string;
  readonly endpoint: string;
  readonly principal: string;
  readonly profile: ClientProfile;
  readonly from: string | undefined;
  readonly view: ViewSession;
  /** Whether it has a record, with which it can be revived. */
  readonly isKept: boolean = true;
  /** Begins the ids of questions: an answer that reaches another gateway is passed on by it. */
  questionPrefix = "";
  /** Called when a message waits for a client that does not listen here. */
  onWaiting: (() => void) | undefined;
  /** Finds a session that no client knows by its id. */
  readonly key: string | undefined = undefined;
  saved: Promise<void> = Promise.resolve();
  savedAt = 0;
  readonly sent: SentTokens = { baseline: 0, listed: 0, answered: 0 };
  readonly use: SessionUse = { connectedAt: Date.now(), calls: 0, errors: 0, searches: 0 };
  readonly inFlight = new Map<MessageId, Pick<AbortController, "abort">>();
  readonly #open: View;
  readonly #others = new Map<string, ViewSession>();
  readonly #streams = new Map<number, EventStream>();
  readonly #asked = new Map<MessageId, { id: MessageId; onAnswer: (text: string) => void }>();
  /** Distinguishes what clients saw of this process from what they saw of an earlier one. */
  readonly #life = crypto.randomUUID().slice(0, 8);
  #nextStream = 1;
  #lastSeen = Date.now();

  constructor({ id, endpoint, principal, profile, from }: SessionRecord, view: View) {
    this.id = id;
    this.endpoint = endpoint;
    this.principal = principal;
    this.profile = profile;
    this.from = from;
    this.#streams.set(0, this.#newStream(0, principal));
    this.#open = view;
    this.view = view.open(this);
  }

  /** The view as another principal sees it: in another project, or with a token of other rights. */
  viewAs(principal: string): ViewSession {
    if (principal === this.principal) return this.view;
    let other = this.#others.get(principal);
    if (other) return other;
    if (this.#others.size >= MAX_OTHERS) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `A session can use at most ${MAX_OTHERS} projects or tokens with other rights ` +
          "besides its own",
        recoverySteps: ["Open another session for more"],
      });
    }
    const client: Client = {
      profile: this.profile,
      principal,
      endpoint: this.endpoint,
      from: this.from,
      unit: this.unit,
      sessionId: this.sessionId,
      sent: this.sent,
      // A listener uses the session's own token, which may see less than this one.
      push: (text) => {
        if (credentialOf(principal) === credentialOf(this.principal)) this.push(text);
      },
      ask: (text, id, onAnswer) => this.ask(text, id, onAnswer),
    };
    other = this.#open.open(client);
    this.#others.set(principal, other);
    return other;
  }

  /** The lists that the client hears about: also of other projects, but not of other tokens. */
  *lists(): Iterable<ClientLists> {
    if (this.view.lists) yield this.view.lists;
    for (const [principal, { lists }] of this.#others) {
      if (lists && credentialOf(principal) === credentialOf(this.principal)) yield lists;
    }
  }

  /** Those to whom changes of lists are announced. */
  *listeners(): Iterable<ListeningSession> {
    yield this;
  }

  /** Ends what would delay a stop of the gateway to its limit. */
  stopListening(): void {
    this.common.finish();
  }

  /** Closes what was opened with tokens that have ended; the rest goes on. */
  async release(hasEnded: (principal: string) => boolean): Promise<void> {
    for (const stream of this.#streams.values()) {
      if (hasEnded(stream.principal)) stream.release();
    }
    const ended = [...this.#others].filter(([principal]) => hasEnded(principal));
    for (const [principal] of ended) this.#others.delete(principal);
    await Promise.all(ended.map(([, view]) => view[Symbol.asyncDispose]()));
  }

  get unit(): string {
    return this.id;
  }

  get sessionId(): string {
    return this.key ?? this.id;
  }

  get lastSeenAt(): number {
    return this.#lastSeen;
  }

  touch(): void {
    this.#lastSeen = Date.now();
  }

  /** Whether the client waits for something. */
  get isBusy(): boolean {
    return this.inFlight.size > 0 ||
      [...this.#streams.values()].some((stream) => stream.isAttached);
  }

  idleMs(now: number): number {
    return this.isBusy ? 0 : now - this.#lastSeen;
  }

  /** For messages that belong to no request. */
  get common(): EventStream {
    return this.#streams.get(0)!;
  }

  findStream(id: number): EventStream | undefined {
    return this.#streams.get(id);
  }

  /** Whether an event was sent by this process, in this life of the session. */
  hasSent({ life }: EventId): boolean {
    return life === this.#life;
  }

  /** All events after this one; undefined if they are no longer stored, or not the caller's. */
  resume(
    seen: EventId,
    principal = this.principal,
  ): ReadableStream<Uint8Array> | undefined {
    const stream = this.findStream(seen.stream);
    if (stream?.principal !== principal) return undefined;
    if (this.hasSent(seen)) return stream.attach(seen.event);
    // Requests ended with the life they were made in; what belongs to none of them goes on.
    return stream === this.common ? stream.attach() : undefined;
  }

  /** A stream for the messages of one request, which came with a token of the session's person. */
  openStream(principal = this.principal): EventStream {
    const stream = this.#newStream(this.#nextStream++, principal);
    this.#streams.set(stream.id, stream);
    stream.onFinish = () => {
      if (!stream.isLarge) return;
      const timer = setTimeout(() => this.#streams.delete(stream.id), LARGE_KEPT_MS);
      Deno.unrefTimer(Number(timer));
    };
    const ended = [...this.#streams.values()].filter(({ isFinished }) => isFinished);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT_STREAMS))) {
      this.#streams.delete(id);
    }
    return stream;
  }

  push(text: string): void {
    this.common.send(text);
    if (!this.common.isAttached) this.onWaiting?.();
  }

  ask(text: string, id: MessageId, onAnswer: (text: string) => void): string {
    // Random, not counted: other instances ask in the same session, and an answer that reaches the
    // wrong one must not fit a question there.
    const own = this.questionPrefix + crypto.randomUUID();
    this.#asked.set(own, { id, onAnswer });
    if (this.#asked.size > MAX_ASKED) this.#asked.delete(this.#asked.keys().next().value!);
    return withId(text, id, own);
  }

  /**
   * Passes the client's answer to the server that asked; false if no such question is open here. The
   * answer to a withdrawn question is accepted once and ignored: the two may have crossed.
   */
  answer(id: MessageId, text: string): boolean {
    const asked = this.#asked.get(id);
    if (!asked) return false;
    this.#asked.delete(id);
    asked.onAnswer(withId(text, id, asked.id));
    return true;
  }

  cancel(id: MessageId, reason: string): void {
    this.inFlight.get(id)?.abort(new DOMException(reason, "AbortError"));
  }

  /** Keeps streams open through proxies, and forgets those nobody came back for. */
  heartbeat(now = Date.now()): void {
    for (const stream of this.#streams.values()) {
      if (stream.finishedAt !== undefined && now - stream.finishedAt > KEPT_MS) {
        this.#streams.delete(stream.id);
        continue;
      }
      // Or a client that has listened for long would count as idle once its stream breaks off.
      if (stream.isAttached) this.touch();
      stream.heartbeat();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.inFlight.values()) {
      controller.abort(new DOMException("The session has ended", "AbortError"));
    }
    for (const stream of this.#streams.values()) stream.finish();
    const views = [this.view, ...this.#others.values()];
    await Promise.all(views.map((view) => view[Symbol.asyncDispose]()));
  }

  #newStream(id: number, principal: string): EventStream {
    const primes = this.profile.protocolVersion >= PRIMING_SINCE;
    return new EventStream(id, { principal, life: this.#life, primes });
  }
}

/** Clients leave without notice: a session idle this long is dropped, and revived if its client returns. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 15_000;
/** A record is good for a day from its last save. */
const SAVE_EVERY_MS = 6 * 60 * 60_000;
const MAX_SESSIONS = 10_000;
/** Sessions of one owner that go by a key: one for each client and endpoint. */
const MAX_KEYED = 200;

/** A session as its client names it: of no use at another endpoint, or to somebody else. */
export type OwnedSession = Pick<SessionRecord, "id" | "endpoint" | "principal">;

interface SessionsOptions {
  questionPrefix?: string | undefined;
  /** A client came back to a session that this process did not know. */
  onRevived?(session: Session): void;
  records: Pick<SessionsRepository, "save" | "find" | "delete">;
  onWarning(message: string, details: Record<string, unknown>): void;
  onChange?(): void;
  onEnd?(session: Session): void;
  idleMs?: number;
}

/** Every client's session: created, found, expired, and taken over from before a restart. */
export class Sessions implements AsyncDisposable {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #byKey = new Map<string, Session>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    Deno.unrefTimer(Number(this.#timer));
  }

  get size(): number {
    return this.#sessions.size;
  }

  list(): Session[] {
    return [...this.#sessions.values()];
  }

  create(record: Omit<SessionRecord, "id">, view: View): Session {
    const session = new Session({ id: crypto.randomUUID(), ...record }, view);
    this.#save(session);
    this.adopt(session);
    return session;
  }

  adopt(session: Session): void {
    if (this.#sessions.size >= MAX_SESSIONS) this.#letGo(mostIdle(this.list()));
    this.#sessions.set(session.id, session);
    if (session.key !== undefined) this.#byKey.set(session.key, session);
    if (session.isKept) session.questionPrefix = this.#options.questionPrefix ?? "";
    this.#options.onChange?.();
  }

  /**
   * Ends an owner's most idle session that goes by a key if there are too many; throws LIMIT_EXCEEDED
   * if all are busy. Each request can make one, so one owner's must not displace all others.
   */
  makeRoom(owner: string): void {
    const own = this.list()
      .filter(({ key, principal }) => key !== undefined && ownerOf(principal) === owner);
    if (own.length < MAX_KEYED) return;
    const oldest = mostIdle(own);
    if (oldest.isBusy) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `${MAX_KEYED} different clients are already active with this token`,
        recoverySteps: ["Wait until some of their requests have ended", "Use another token"],
      });
    }
    this.#letGo(oldest);
  }

  /** The session with this key, whose client does not name it. */
  findByKey(key: string): Session | undefined {
    return this.#byKey.get(key);
  }

  /** A client's session; one from before a restart is revived. */
  async find(owned: OwnedSession, view: View): Promise<Session | undefined> {
    const { id } = owned;
    const known = this.#sessions.get(id);
    if (known) return isSame(known, owned) ? known : undefined;
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const stored = await this.#options.records.find(id);
    if (!stored) return undefined;
    const { endpoint, client: profile, principal, from } = stored;
    const record = { id, endpoint, principal, profile, from };
    if (!isSame(record, owned)) return undefined;
    return this.#sessions.get(id) ?? this.#revive(record, view);
  }

  /** In memory only, for the path of every call. */
  peek(owned: OwnedSession): Session | undefined {
    const known = this.#sessions.get(owned.id);
    return known && isSame(known, owned) ? known : undefined;
  }

  has(session: Session): boolean {
    return this.#sessions.get(session.id) === session;
  }

  async end(session: Session): Promise<void> {
    this.#remove(session);
    await session.saved;
    if (session.isKept) await this.#keep(this.#options.records.delete(session.id));
    await session[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const sessions = this.list();
    this.#sessions.clear();
    this.#byKey.clear();
    await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
  }

  #sweep(): void {
    const now = Date.now();
    for (const session of this.#sessions.values()) {
      if (session.idleMs(now) > (this.#options.idleMs ?? IDLE_MS)) this.#letGo(session);
      else session.heartbeat();
      if (session.isKept && now - session.savedAt > SAVE_EVERY_MS) this.#save(session);
    }
  }

  #revive(record: SessionRecord, view: View): Session {
    const session = new Session(record, view);
    // Changes in between could not be announced to the client.
    session.push(notificationText("notifications/tools/list_changed"));
    this.adopt(session);
    this.#options.onRevived?.(session);
    return session;
  }

  #save(session: Session): void {
    const { id, endpoint, principal, profile: client, from } = session;
    const stored = { id, endpoint, principal, client, ...(from === undefined ? {} : { from }) };
    session.savedAt = Date.now();
    session.saved = this.#keep(
      this.#options.records.save(stored).catch((error) => {
        // Until it is stored, no other gateway knows it.
        session.savedAt = 0;
        throw error;
      }),
    );
  }

  #letGo(session: Session): void {
    this.#remove(session);
    void this.#keep(session[Symbol.asyncDispose]());
  }

  #remove(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    if (session.key !== undefined) this.#byKey.delete(session.key);
    this.#options.onEnd?.(session);
    this.#options.onChange?.();
  }

  #keep(work: Promise<void>): Promise<void> {
    return work.catch((error) => this.#options.onWarning("Cannot store a session", { error }));
  }
}

function mostIdle(sessions: Session[]): Session {
  const now = Date.now();
  return sessions.reduce((a, b) => a.idleMs(now) >= b.idleMs(now) ? a : b);
}

/** A person may use another token than before: each request is checked for what it may do. */
function isSame(session: OwnedSession, { endpoint, principal }: OwnedSession): boolean {
  return session.endpoint === endpoint &&
    (session.principal === principal ||
      (ownerOf(session.principal) === ownerOf(principal) &&
        projectOf(session.principal) === projectOf(principal)));
}
