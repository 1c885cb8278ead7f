import type { ClientIdentity, Surface } from "../surfaces/surface.ts";
import { Session } from "./session.ts";

/** Clients do not say goodbye: what is idle this long is let go, and revived if it comes back. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 15_000;
/** A record is good for a day from its last save. */
const SAVE_EVERY_MS = 6 * 60 * 60_000;
const MAX_SESSIONS = 10_000;

/** What of a session outlives its process. */
export interface SessionRecord {
  id: string;
  door: string;
  client: ClientIdentity;
}

export interface SessionRecords {
  save(record: SessionRecord): Promise<void>;
  find(id: string): Promise<SessionRecord | undefined>;
  delete(id: string): Promise<void>;
}

export interface SessionManagerOptions {
  records: SessionRecords;
  onWarning(message: string, details: Record<string, unknown>): void;
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

  create(door: string, client: ClientIdentity, surface: Surface): Session {
    if (this.#sessions.size >= MAX_SESSIONS) this.#dropOldest();
    const session = new Session(crypto.randomUUID(), door, client, surface);
    this.#sessions.set(session.id, session);
    // Not waited for: a client that moves on faster than this initializes anew.
    this.#save(session);
    return session;
  }

  /** Takes in a session that needs no record. */
  adopt(session: Session): void {
    this.#sessions.set(session.id, session);
  }

  /** The session of that id at that door; one from before a restart is taken up again. */
  async find(id: string, door: string, surface: Surface): Promise<Session | undefined> {
    const known = this.#sessions.get(id);
    if (known) return known.door === door ? known : undefined;
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const record = await this.#options.records.find(id);
    if (record?.door !== door) return undefined;
    const revived = this.#sessions.get(id) ?? new Session(id, door, record.client, surface);
    this.#sessions.set(id, revived);
    return revived;
  }

  /** In memory only; what a hot path asks first. */
  peek(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  async end(session: Session): Promise<void> {
    this.#sessions.delete(session.id);
    await session.saved;
    await this.#keep(this.#options.records.delete(session.id));
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
      if (now - session.savedAt > SAVE_EVERY_MS) this.#save(session);
    }
  }

  #save(session: Session): void {
    const { id, door, client } = session;
    session.savedAt = Date.now();
    session.saved = this.#keep(this.#options.records.save({ id, door, client }));
  }

  #dropOldest(): void {
    const now = Date.now();
    const oldest = this.list().reduce((a, b) => a.idleMs(now) >= b.idleMs(now) ? a : b);
    this.#letGo(oldest);
  }

  #letGo(session: Session): void {
    this.#sessions.delete(session.id);
    void this.#keep(session[Symbol.asyncDispose]());
  }

  #keep(work: Promise<void>): Promise<void> {
    return work.catch((error) =>
      this.#options.onWarning("A session's record could not be kept", { error })
    );
  }
}
