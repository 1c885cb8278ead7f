import { dirname, resolve } from "node:path";
import type { ErrorCode, GatewayError } from "../core/errors.ts";
import { finishInterruptedSwap, inspectFile } from "./data_file.ts";
import type { RecordKey } from "./keys.ts";
import {
  damaged,
  foreign,
  full,
  retryLocked,
  toStorageError,
  unavailable,
} from "./storage_errors.ts";

/** Where a store is kept. `label` is how messages name it. */
export type Location =
  | { kind: "memory"; label: string }
  | { kind: "file"; path: string; label: string }
  | { kind: "remote"; url: string; label: string }
  /** Deno Deploy binds the app's Deno KV; it has no name here. */
  | { kind: "deploy"; label: string };

/** Reads what `--kv` takes: a file, `:memory:`, a KV Connect URL, or nothing on Deno Deploy. */
export function parseLocation(location: string | undefined): Location {
  if (location === undefined) return { kind: "deploy", label: "the app's Deno KV" };
  if (location === ":memory:") return { kind: "memory", label: "the in-memory store" };
  if (/^https?:\/\//i.test(location)) {
    const { origin, pathname } = new URL(location);
    return { kind: "remote", url: location, label: `${origin}${pathname}` };
  }
  const path = resolve(location);
  return { kind: "file", path, label: `"${path}"` };
}

/** Deno's client waits for an absent remote server for ever. */
const REMOTE_LIMIT_MS = 15_000;
/** The longest pause between two tries while a remote server does not answer. */
const MOST_PAUSE_MS = 120_000;
/** The access token of a KV server, by a name that every platform allows. */
const KV_TOKEN = "QUARTERMASTER_KV_TOKEN";
const READ_KEYS = 10;
const LIST_ENTRIES = 100;

export type WarningListener = (message: string, details?: Record<string, unknown>) => void;

export type StoreHealth =
  | { state: "ok" }
  | { state: "degraded"; code: ErrorCode; reason: string };

export interface Check {
  key: RecordKey;
  /** What the entry must be at; null: it must not exist. */
  versionstamp: string | null;
}

export interface ListOptions {
  limit?: number;
  reverse?: boolean;
}

/** Changes that are made together: all of them happen, or nothing does. */
export interface Changes {
  checks?: Check[];
  sets?: { key: RecordKey; value: unknown }[];
  deletes?: RecordKey[];
  increments?: RecordKey[];
}

/** Deno KV with its locks retried, its errors in our words and its health kept. */
export class KvClient implements Disposable {
  readonly location: Location;
  readonly #kv: Deno.Kv;
  readonly #remoteLimitMs: number;
  /** Ends the operations that wait for a remote store. */
  readonly #waiting = new Set<(error: GatewayError) => void>();
  #isClosed = false;
  /** While a remote server does not answer: when it is tried again, and the pause after that. */
  #away: { since: number; tryAt: number; pauseMs: number } | undefined;
  #answeredAt = -Infinity;
  #endsAt: number | undefined;
  #readFailure: GatewayError | undefined;
  #writeFailure: GatewayError | undefined;

  private constructor(kv: Deno.Kv, location: Location, remoteLimitMs: number) {
    this.#kv = kv;
    this.location = location;
    this.#remoteLimitMs = remoteLimitMs;
  }

  static async open(
    location: Location,
    { onWarning, remoteLimitMs = REMOTE_LIMIT_MS }: {
      onWarning?: WarningListener | undefined;
      remoteLimitMs?: number | undefined;
    } = {},
  ): Promise<KvClient> {
    try {
      if (location.kind === "file") await prepareFile(location, onWarning);
      const kv = await retryLocked(() => openInTime(location, remoteLimitMs));
      return new KvClient(kv, location, remoteLimitMs);
    } catch (cause) {
      const error = toStorageError(cause, location);
      if (error === cause) throw error;
      if (location.kind === "file" && await isDiskFull(location.path)) throw full(location, cause);
      if (error.code !== "INTERNAL") throw error;
      // What fails here is the place, not our use of it, whatever class the error has.
      const text = cause instanceof Error ? cause.message : String(cause);
      throw unavailable(location, text.replace("Could not open Deno KV database: ", ""), {
        cause,
      });
    }
  }

  health(): StoreHealth {
    const failure = this.#writeFailure ?? this.#readFailure;
    return failure === undefined
      ? { state: "ok" }
      : { state: "degraded", code: failure.code, reason: failure.message };
  }

  get(key: RecordKey): Promise<Deno.KvEntryMaybe<unknown>> {
    return this.#run("read", () => this.#kv.get(key));
  }

  /** Gets any number of keys; ten at a time are of one moment. */
  async getMany(keys: readonly RecordKey[]): Promise<Deno.KvEntryMaybe<unknown>[]> {
    const entries: Deno.KvEntryMaybe<unknown>[] = [];
    for (let start = 0; start < keys.length; start += READ_KEYS) {
      const some = keys.slice(start, start + READ_KEYS);
      entries.push(...await this.#run("read", () => this.#kv.getMany<unknown[]>(some)));
    }
    return entries;
  }

  async *list(
    selector: Deno.KvListSelector,
    { limit = Infinity, reverse = false }: ListOptions = {},
  ): AsyncGenerator<Deno.KvEntry<unknown>, void> {
    let cursor = "";
    for (let left = limit; left > 0;) {
      const size = Math.min(left, LIST_ENTRIES);
      const page = await this.#run("read", async () => {
        const entries: Deno.KvEntry<unknown>[] = [];
        const iterator = this.#kv.list<unknown>(selector, { limit: size, reverse, cursor });
        for await (const entry of iterator) entries.push(entry);
        return { entries, cursor: iterator.cursor };
      });
      yield* page.entries;
      if (page.entries.length < size) return;
      left -= size;
      cursor = page.cursor;
    }
  }

  /** The new versionstamp, or undefined if a check failed and nothing was written. */
  commit(write: Changes): Promise<string | undefined> {
    return this.#run("write", async () => {
      const operation = this.#kv.atomic();
      for (const check of write.checks ?? []) operation.check(check);
      for (const key of write.increments ?? []) operation.sum(key, 1n);
      for (const { key, value } of write.sets ?? []) operation.set(key, value);
      for (const key of write.deletes ?? []) operation.delete(key);
      const result = await operation.commit();
      return result.ok ? result.versionstamp : undefined;
    });
  }

  /** Follows keys; on a local file it hears only this process. */
  watch(keys: RecordKey[]): ReadableStream<Deno.KvEntryMaybe<unknown>[]> {
    return this.#kv.watch<unknown[]>(keys);
  }

  /** Gives a remote store this much time in total; operations still waiting then fail. */
  endWithin(ms: number): void {
    if (this.#endsAt !== undefined || this.#isClosed) return;
    this.#endsAt = Date.now() + ms;
    const timer = setTimeout(() => {
      for (const reject of [...this.#waiting]) reject(this.#ended());
    }, ms);
    Deno.unrefTimer(Number(timer));
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#kv.close();
  }

  #ended(): GatewayError {
    return unavailable(this.location, "the gateway stopped before the store answered");
  }

  async #limited<T>(operation: () => Promise<T>, hint: string | undefined): Promise<T> {
    if (!isRemote(this.location)) return await operation();
    if (this.#endsAt !== undefined && Date.now() >= this.#endsAt) throw this.#ended();
    this.#refuseWhileAway();
    const { promise, reject } = Promise.withResolvers<never>();
    this.#waiting.add(reject);
    const startedAt = Date.now();
    const running = operation();
    let hasAnswered = false;
    // Also when it was given up: Deno's client tries again until the server answers.
    const answered = () => {
      hasAnswered = true;
      this.#answeredAt = Date.now();
      this.#away = undefined;
    };
    running.then(answered, answered);
    try {
      const answer = limit(running, this.location, this.#remoteLimitMs, hint);
      return await Promise.race([answer, promise]);
    } catch (error) {
      if (!hasAnswered) this.#noteAway(startedAt);
      throw error;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** Each operation that is given up goes on in Deno's client, several times a second. */
  #refuseWhileAway(): void {
    const away = this.#away;
    if (!away) return;
    if (Date.now() < away.tryAt) throw unavailable(this.location, "it does not answer");
    away.tryAt = Date.now() + this.#remoteLimitMs;
  }

  #noteAway(startedAt: number): void {
    // One request was lost: the server has answered others since.
    if (this.#answeredAt > startedAt) return;
    const before = this.#away;
    // Begun before it was known: no sign that a later try was in vain.
    if (before && startedAt < before.since) return;
    const pauseMs = before ? Math.min(MOST_PAUSE_MS, before.pauseMs * 2) : this.#remoteLimitMs;
    const now = Date.now();
    this.#away = { since: now, tryAt: now + pauseMs, pauseMs };
  }

  async #run<T>(kind: "read" | "write", operation: () => Promise<T>): Promise<T> {
    try {
      if (this.#isClosed) throw unavailable(this.location, "it was closed");
      const hint = kind === "write"
        ? "The change may still take effect: check before you retry"
        : undefined;
      const result = await retryLocked(() => this.#limited(operation, hint));
      this.#readFailure = undefined;
      if (kind === "write") this.#writeFailure = undefined;
      return result;
    } catch (cause) {
      const error = toStorageError(cause, this.location);
      if (error.code !== "INTERNAL") {
        if (kind === "write") this.#writeFailure = error;
        else this.#readFailure = error;
      }
      throw error;
    }
  }
}

function isRemote({ kind }: Location): boolean {
  return kind === "remote" || kind === "deploy";
}

function limit<T>(
  operation: Promise<T>,
  location: Location,
  limitMs: number,
  hint?: string,
): Promise<T> {
  if (!isRemote(location)) return operation;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const why = `it did not answer within ${Math.ceil(limitMs / 1000)} s`;
    reject(unavailable(location, why, { hint }));
  }, limitMs);
  return Promise.race([operation, promise]).finally(() => clearTimeout(timer));
}

async function openInTime(location: Location, limitMs: number): Promise<Deno.Kv> {
  const opening = openKv(location);
  try {
    return await limit(opening, location, limitMs);
  } catch (error) {
    opening.then((late) => late.close(), () => {});
    throw error;
  }
}

function openKv(location: Location): Promise<Deno.Kv> {
  if (location.kind === "file") return Deno.openKv(location.path);
  if (location.kind === "remote") {
    // Deno reads the token from a variable that cannot be set on Deno Deploy.
    const token = Deno.env.get(KV_TOKEN);
    if (token) Deno.env.set("DENO_KV_ACCESS_TOKEN", token);
    return Deno.openKv(location.url);
  }
  return location.kind === "memory" ? Deno.openKv(":memory:") : Deno.openKv();
}

async function prepareFile(
  location: Location & { kind: "file" },
  onWarning: WarningListener | undefined,
): Promise<void> {
  const { path } = location;
  let found = await inspectFile(path);
  if (found.state !== "usable" && await finishInterruptedSwap(path)) {
    onWarning?.("Finished an interrupted restore", { path });
    found = await inspectFile(path);
  }
  switch (found.state) {
    case "usable":
      return;
    case "absent":
      await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
      // Made here and not by SQLite, whose new files everybody may read.
      await Deno.writeFile(path, new Uint8Array(), { mode: 0o600, append: true });
      return;
    case "empty":
      onWarning?.("The data file is empty: starting without data", { path });
      return;
    case "damaged":
      throw damaged(location, found.why, { extra: found.extra });
    case "foreign":
      throw foreign(location, found.why);
    case "unusable":
      throw unavailable(location, found.why);
  }
}

/** Opening on a full disk fails as "disk I/O error", which tells nobody what to do. */
async function isDiskFull(path: string): Promise<boolean> {
  const probe = `${path}.${crypto.randomUUID()}.probe`;
  try {
    await Deno.writeFile(probe, new Uint8Array(65_536), { createNew: true });
    return false;
  } catch (error) {
    return error instanceof Error && /no space left|quota exceeded/i.test(error.message);
  } finally {
    await Deno.remove(probe).catch(() => {});
  }
}
