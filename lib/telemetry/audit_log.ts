import { AsyncLocalStorage } from "node:async_hooks";
import { shortened } from "../core/text.ts";
import { AUDIT_BATCH, type AuditEntry, type AuditRepository } from "../storage/audit_repository.ts";
import { auditHash, PRUNE } from "./audit_chain.ts";
import type { Redactor } from "./redact.ts";

const FLUSH_MS = 100;
const RETRY_MS = 1_000;
const WARN_MS = 60_000;
/** As many as wait for the store at most; of those beyond, the log says how many there were. */
const MAX_WAITING = 2_000;
const DAY_MS = 24 * 60 * 60_000;
const KEEP_DAYS = 365;
const MAX_ENTRIES = 100_000;
/** A busy day must not wait for the next one. */
const PRUNE_AFTER = 5_000;
/** So many a year do not fill the log, and with it nobody can push the rest out of it. */
const UNPROVEN_PER_DAY = 200;
const SIDE_BYTES = 8_192;
const TEXT_LENGTH = 300;

export const GATEWAY = "gateway";
const BY_GATEWAY = { principal: GATEWAY, from: GATEWAY };

export interface AuditNote {
  principal: string;
  who?: string | undefined;
  /** The console, an endpoint or the command line, with an address or a client's name. */
  from: string;
  /** What was done: `server.add`. */
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
  /** Whether anybody can cause it without access; then only a limited number is stored per day. */
  isUnproven?: boolean | undefined;
  at?: number | undefined;
}

export interface AuditLogOptions {
  repository: AuditRepository;
  redactor: Pick<Redactor, "value" | "json" | "text">;
  onWarning(message: string, details?: object): void;
  keepDays?: number;
  maxEntries?: number;
  now?: () => number;
}

type Waiting = Omit<AuditEntry, "id" | "chain" | "n" | "prev" | "prevAt" | "hash">;

/** Who decided what: added to the store within a moment, by nobody's leave and never waited for. */
export class AuditLog implements AsyncDisposable {
  readonly #options: AuditLogOptions;
  readonly #now: () => number;
  readonly #chain = crypto.randomUUID();
  #last: Pick<AuditEntry, "n" | "at" | "hash"> | undefined;
  #waiting: Waiting[] = [];
  /** In their place in the chain, and on their way to the store. */
  #sealed: AuditEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #lost = 0;
  #warnedAt = -Infinity;
  #prunedAt = -Infinity;
  #writtenSincePrune = 0;
  #unproven = { day: 0, count: 0 };
  #isOver = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  note(note: AuditNote): void {
    try {
      this.#take(note);
    } catch (error) {
      this.#warn("Cannot record a change in the audit log", { action: note.action, error });
    }
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    await this.#flushing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.flush();
    const lost = this.#lost + this.#sealed.length + this.#waiting.length;
    this.#warnedAt = -Infinity;
    if (lost > 0) this.#warn("Entries are missing from the audit log", { lost });
  }

  #take(note: AuditNote): void {
    const at = note.at ?? this.#now();
    if (note.isUnproven && this.#isOneTooMany(at)) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost++;
      return;
    }
    this.#waiting.push(this.#clean(note, at));
    this.#schedule(FLUSH_MS);
  }

  #clean({ principal, who, from, action, subject, before, after }: AuditNote, at: number): Waiting {
    const { redactor } = this.#options;
    const text = (text: string) => shortened(redactor.text(text), TEXT_LENGTH).toWellFormed();
    return {
      at,
      principal: text(principal),
      ...(who === undefined ? {} : { who: text(who) }),
      from: text(from),
      action,
      subject: text(subject),
      ...(before === undefined ? {} : { before: this.#side(before) }),
      ...(after === undefined ? {} : { after: this.#side(after) }),
    };
  }

  /** A value as JSON, without secrets; a long one breaks off. */
  #side(value: unknown): string {
    const { redactor } = this.#options;
    const json = redactor.json(JSON.stringify(redactor.value(value, { isWhole: true })) ?? "null");
    const bytes = new TextEncoder().encode(json);
    if (bytes.length <= SIDE_BYTES) return json;
    const mark = `… [truncated: ${bytes.length} bytes in total]`;
    // A broken character at the end is left out.
    const kept = new TextDecoder().decode(bytes.subarray(0, SIDE_BYTES - mark.length - 4), {
      stream: true,
    });
    return `${kept}${mark}`;
  }

  #isOneTooMany(at: number): boolean {
    const day = Math.floor(at / DAY_MS);
    if (this.#unproven.day !== day) this.#unproven = { day, count: 0 };
    const count = ++this.#unproven.count;
    if (count === UNPROVEN_PER_DAY) {
      const subject = `${UNPROVEN_PER_DAY} failed logins today: further ones are not recorded`;
      this.#waiting.push({ at, ...BY_GATEWAY, action: "audit.flood", subject });
      this.#schedule(FLUSH_MS);
    }
    return count >= UNPROVEN_PER_DAY;
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#isOver) return;
    this.#timer = setTimeout(() => void this.flush(), ms);
  }

  async #write(): Promise<void> {
    try {
      await this.#writeAll();
      await this.#prune();
    } catch (error) {
      this.#warn("Cannot write to the audit log: retrying", {
        error,
        waiting: this.#sealed.length + this.#waiting.length,
      });
      this.#schedule(RETRY_MS);
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#sealed.length > 0 || this.#waiting.length > 0 || this.#lost > 0) {
      if (this.#sealed.length === 0) {
        if (this.#waiting.length === 0) this.#tellLost();
        this.#sealed = this.#waiting.splice(0, AUDIT_BATCH).map((entry) => this.#seal(entry));
      }
      await this.#options.repository.append(this.#sealed);
      this.#writtenSincePrune += this.#sealed.length;
      this.#sealed = [];
    }
  }

  #seal({ at: noted, ...rest }: Waiting): AuditEntry {
    const last = this.#last;
    // Later than the one before, so that the order of keys is that of the chain.
    const at = Math.max(noted, last === undefined ? 0 : last.at + 1);
    const entry = {
      id: `${at.toString(36)}-${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`,
      at,
      chain: this.#chain,
      n: last === undefined ? 0 : last.n + 1,
      ...(last === undefined ? {} : { prev: last.hash, prevAt: last.at }),
      ...rest,
    };
    const sealed = { ...entry, hash: auditHash(entry) };
    this.#last = sealed;
    return sealed;
  }

  #tellLost(): void {
    const subject = `${this.#lost} entries are missing: they came faster than they could be stored`;
    this.#lost = 0;
    this.#waiting.push({ at: this.#now(), ...BY_GATEWAY, action: "audit.lost", subject });
  }

  async #prune(): Promise<void> {
    const { repository, keepDays = KEEP_DAYS, maxEntries = MAX_ENTRIES } = this.#options;
    const now = this.#now();
    if (now - this.#prunedAt < DAY_MS && this.#writtenSincePrune < PRUNE_AFTER) return;
    if (this.#isOver) return;
    this.#prunedAt = now;
    this.#writtenSincePrune = 0;
    const old = await repository.findOld(now - keepDays * DAY_MS, maxEntries);
    if (!old) return;
    // Said before it is done: a log that lost its beginning and does not say so looks tampered with.
    const { until, count } = old;
    const entries = `${count} ${count === 1 ? "entry" : "entries"}`;
    const subject = `${entries} before ${new Date(until).toISOString()}`;
    const after = JSON.stringify({ until, count });
    this.#waiting.push({ at: now, ...BY_GATEWAY, action: PRUNE, subject, after });
    await this.#writeAll();
    await repository.removeOld(until);
  }

  #warn(message: string, details: object): void {
    if (this.#now() - this.#warnedAt < WARN_MS) return;
    this.#warnedAt = this.#now();
    this.#options.onWarning(message, details);
  }
}

export interface AuditOrigin {
  principal: string;
  /** Made when it is asked for: few requests leave an entry. */
  from(): string;
}

/** Set once by each entrance, so that no function has to pass it on. */
const origins = new AsyncLocalStorage<AuditOrigin>();

export function actingFor<T>(origin: AuditOrigin, work: () => T): T {
  return origins.run(origin, work);
}

export function currentOrigin(): AuditOrigin | undefined {
  return origins.getStore();
}
