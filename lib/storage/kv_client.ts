import { dirname } from "node:path";
import type { ErrorCode, GatewayError } from "../core/errors.ts";
import { finishInterruptedSwap } from "./file_swap.ts";
import { inspectFile } from "./inspect_file.ts";
import type { RecordKey } from "./keys.ts";
import type { Location } from "./location.ts";
import { retryLocked } from "./retry_locked.ts";
import { damaged, foreign, full, toStorageError, unavailable } from "./storage_errors.ts";

/** Deno's client waits for an absent remote server for ever. */
const REMOTE_LIMIT_MS = 15_000;
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

/** One atomic write, within the limits of Deno KV. */
export interface KvWrite {
  checks?: Check[];
  sets?: { key: RecordKey; value: unknown }[];
  deletes?: RecordKey[];
  /** Counters to add one to. */
  increments?: RecordKey[];
}

/** Deno KV with its locks retried, its errors in our words and its health kept. */
export class KvClient implements Disposable {
  readonly location: Location;
  readonly #kv: Deno.Kv;
  readonly #remoteLimitMs: number;
  #isClosed = false;
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
    { limit = Infinity, reverse = false }: { limit?: number; reverse?: boolean } = {},
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

  /** The new versionstamp, or undefined where a check failed and nothing was written. */
  commit(write: KvWrite): Promise<string | undefined> {
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

  /** Follows one key; on a local file it hears only this process. */
  watch(key: RecordKey): ReadableStream<[Deno.KvEntryMaybe<unknown>]> {
    return this.#kv.watch<[unknown]>([key]);
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#kv.close();
  }

  async #run<T>(kind: "read" | "write", operation: () => Promise<T>): Promise<T> {
    try {
      if (this.#isClosed) throw unavailable(this.location, "it was closed");
      const result = await retryLocked(() =>
        limit(
          operation(),
          this.location,
          this.#remoteLimitMs,
          kind === "write" ? "The change may still be made: look before you repeat it" : undefined,
        )
      );
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

function limit<T>(
  operation: Promise<T>,
  location: Location,
  limitMs: number,
  hint?: string,
): Promise<T> {
  if (location.kind === "file" || location.kind === "memory") return operation;
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
  switch (location.kind) {
    case "memory":
      return Deno.openKv(":memory:");
    case "file":
      return Deno.openKv(location.path);
    case "remote":
      return Deno.openKv(location.url);
    case "deploy":
      return Deno.openKv();
  }
}

async function prepareFile(
  location: Location & { kind: "file" },
  onWarning: WarningListener | undefined,
): Promise<void> {
  const { path } = location;
  let found = await inspectFile(path);
  if (found.state !== "usable" && await finishInterruptedSwap(path)) {
    onWarning?.("A restore that had been cut short was finished", { path });
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
      onWarning?.("The data file was there but empty: starting without data", { path });
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
