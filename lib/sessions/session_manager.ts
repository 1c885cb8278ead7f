import { ownerOf, projectOf } from "../core/principal.ts";
import { notificationText } from "../core/rpc.ts";
import type { Surface } from "../surfaces/surface.ts";
import { Session, type SessionRecord } from "./session.ts";

/** Clients do not say goodbye: what is idle this long is let go, and revived if it comes back. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 15_000;
/** A record is good for a day from its last save. */
const SAVE_EVERY_MS = 6 * 60 * 60_000;
const MAX_SESSIONS = 10_000;

/** A session as its client names it: of no use at another door, or to somebody else. */
export type OwnedSession = Pick<SessionRecord, "id" | "door" | "principal">;

export interface SessionRecords {
  save(record: SessionRecord): Promise<void>;
  find(id: string): Promise<SessionRecord | undefined>;
  delete(id: string): Promise<void>;
}

export interface SessionManagerOptions {
  records: SessionRecords;
  onWarning(message: string, details: Record<string, unknown>): void;
  /** A session came or went. */
  onChange?(): void;
  idleMs?: number;
}

/** Every client's session: created, found, expired, and taken over from before a restart. */
export class SessionManager implements AsyncDisposable {
  readonly #options: SessionManagerOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: SessionManagerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  get size(): number {
    return this.#sessions.size;
  }

  list(): Session[] {
    return [...this.#sessions.values()];
  }

  create(record: Omit<SessionRecord, "id">, surface: Surface): Session {
    if (this.#sessions.size >= MAX_SESSIONS) this.#dropOldest();
    const session = new Session({ id: crypto.randomUUID(), ...record }, surface);
    this.#sessions.set(session.id, session);
    // Not waited for: a client that moves on faster than this initializes anew.
    this.#save(session);
    this.#options.onChange?.();
    return session;
  }

  /** Takes in a session that needs no record. */
  adopt(session: Session): void {
    this.#sessions.set(session.id, session);
    this.#options.onChange?.();
  }

  /** A client's session; one from before a restart is taken up again. */
  async find(owned: OwnedSession, surface: Surface): Promise<Session | undefined> {
    const { id } = owned;
    const known = this.#sessions.get(id);
    if (known) return isSame(known, owned) ? known : undefined;
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const record = await this.#options.records.find(id);
    if (!record || !isSame(record, owned)) return undefined;
    return this.#sessions.get(id) ?? this.#revive(record, surface);
  }

  /** In memory only; what a hot path asks first. */
  peek(owned: OwnedSession): Session | undefined {
    const known = this.#sessions.get(owned.id);
    return known && isSame(known, owned) ? known : undefined;
  }

  has(session: Session): boolean {
    return this.#sessions.get(session.id) === session;
  }

  async end(session: Session): Promise<void> {
    this.#sessions.delete(session.id);
    this.#options.onChange?.();
    await session.saved;
    if (session.isKept) await this.#keep(this.#options.records.delete(session.id));
    await session[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const sessions = this.list();
    this.#sessions.clear();
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

  #revive(record: SessionRecord, surface: Surface): Session {
    const session = new Session(record, surface);
    this.#sessions.set(session.id, session);
    // Nobody could tell the client what changed in between.
    session.push(notificationText("notifications/tools/list_changed"));
    this.#options.onChange?.();
    return session;
  }

  #save(session: Session): void {
    const { id, door, principal, client, from } = session;
    const record = { id, door, principal, client, ...(from === undefined ? {} : { from }) };
    session.savedAt = Date.now();
    session.saved = this.#keep(this.#options.records.save(record));
  }

  #dropOldest(): void {
    const now = Date.now();
    const oldest = this.list().reduce((a, b) => a.idleMs(now) >= b.idleMs(now) ? a : b);
    this.#letGo(oldest);
  }

  #letGo(session: Session): void {
    this.#sessions.delete(session.id);
    this.#options.onChange?.();
    void this.#keep(session[Symbol.asyncDispose]());
  }

  #keep(work: Promise<void>): Promise<void> {
    return work.catch((error) =>
      this.#options.onWarning("A session's record could not be kept", { error })
    );
  }
}

/** A person may come with another token than before; what it may do is asked for each request. */
function isSame(session: OwnedSession, { door, principal }: OwnedSession): boolean {
  return session.door === door &&
    (session.principal === principal ||
      (ownerOf(session.principal) === ownerOf(principal) &&
        projectOf(session.principal) === projectOf(principal)));
}
