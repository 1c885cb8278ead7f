import { GatewayError } from "../core/errors.ts";
import { ringBell } from "./follow.ts";
import { keys, NEWS, type News, type RecordKey } from "./keys.ts";
import {
  type Changes,
  KvClient,
  type Location,
  parseLocation,
  type StoreHealth,
  type WarningListener,
} from "./kv_client.ts";
import { migrate, type Migration } from "./migrations.ts";
import { listRecords, readRecord, type StoredRecord, sweepParts, writeRecords } from "./records.ts";

interface StoreOptions {
  /** A file, `:memory:` or a KV Connect URL; undefined is the app's own KV on Deno Deploy. */
  location: string | undefined;
  onWarning?: WarningListener | undefined;
  /** How long a remote store may take to answer; default: 15 s. */
  remoteLimitMs?: number | undefined;
  migrations?: readonly Migration[] | undefined;
  now?: (() => number) | undefined;
}

export type NewsCounts = Record<News, bigint>;

interface Commit extends Omit<Changes, "increments"> {
  /** Whether other gateways must hear of it; they do unless this is false. */
  announce?: boolean;
  /** What pages of other gateways learn from it, where they are not told by an announcement. */
  news?: News | undefined;
}

/** The gateway's truth: JSON records of any size in Deno KV, changed by compare-and-set. */
export class Store implements AsyncDisposable {
  readonly schemaVersion: number;
  readonly #client: KvClient;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #onWarning: WarningListener;
  readonly #ownNews: NewsCounts = { calls: 0n, cleared: 0n, jobs: 0n, optimization: 0n };
  #sweeping: Promise<void> = Promise.resolve();
  #ringing: Promise<void> = Promise.resolve();

  private constructor(client: KvClient, schemaVersion: number, options: StoreOptions) {
    this.#client = client;
    this.schemaVersion = schemaVersion;
    this.#now = options.now ?? Date.now;
    this.#onWarning = options.onWarning ?? (() => {});
  }

  static async open(options: StoreOptions): Promise<Store> {
    const client = await KvClient.open(parseLocation(options.location), options);
    try {
      const store = new Store(client, await migrate(client, options), options);
      // Not waited for: a start does not depend on what an earlier process left behind.
      store.#sweeping = store.#sweep();
      return store;
    } catch (error) {
      client[Symbol.dispose]();
      throw error;
    }
  }

  get location(): Location {
    return this.#client.location;
  }

  health(): StoreHealth {
    return this.#client.health();
  }

  read(key: RecordKey): Promise<StoredRecord | undefined> {
    return readRecord(this.#client, key);
  }

  list(
    selector: Deno.KvListSelector,
    options?: Parameters<typeof listRecords>[2],
  ): AsyncIterable<StoredRecord> {
    return listRecords(this.#client, selector, options);
  }

  /** Makes all of the changes and answers the new versionstamp; a stale check is a CONFLICT. */
  async commit(changes: Commit): Promise<string> {
    const versionstamp = await this.tryCommit(changes);
    if (versionstamp === undefined) throw new GatewayError("CONFLICT");
    return versionstamp;
  }

  /** Like commit(), but answers undefined if a check is stale. */
  async tryCommit({ announce = true, news, ...changes }: Commit): Promise<string | undefined> {
    const increments = announce ? [keys.generation()] : [];
    if (news !== undefined) {
      increments.push(keys.news(news));
      // Before it is done: counted later, it could pass for the news of another gateway, and
      // another's for ours.
      this.#ownNews[news]++;
    }
    let versionstamp: string | undefined;
    try {
      versionstamp = await writeRecords(this.#client, { ...changes, increments }, this.#now());
    } finally {
      if (news !== undefined && versionstamp === undefined) this.#ownNews[news]--;
    }
    if (versionstamp !== undefined && announce) {
      // Not waited for: whoever misses it asks by itself before long.
      this.#ringing = ringBell(this.location);
      for (const listener of [...this.#listeners]) listener();
    }
    return versionstamp;
  }

  async generation(): Promise<bigint> {
    const { value } = await this.#client.get(keys.generation());
    return value instanceof Deno.KvU64 ? value.value : 0n;
  }

  /** How much news other processes have written; less for a moment while this one writes some. */
  async newsElsewhere(): Promise<NewsCounts> {
    const entries = await this.#client.getMany(NEWS.map((kind) => keys.news(kind)));
    const counts = { ...this.#ownNews };
    NEWS.forEach((kind, index) => {
      const value = entries[index]?.value;
      counts[kind] = (value instanceof Deno.KvU64 ? value.value : 0n) - counts[kind];
    });
    return counts;
  }

  /** Calls back after each announced change of this process; returns how to stop it. */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends when the store is closed or the remote server ends it; silent across local processes. */
  watch(keys: RecordKey[]): ReadableStream<unknown> {
    return this.#client.watch(keys);
  }

  /** Limits how long an unresponsive remote store can delay a stop. */
  endWithin(ms: number): void {
    this.#client.endWithin(ms);
  }

  warn(message: string, details?: Record<string, unknown>): void {
    this.#onWarning(message, details);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeping;
    await this.#ringing;
    this.#client[Symbol.dispose]();
  }

  async #sweep(): Promise<void> {
    try {
      await sweepParts(this.#client, this.#now());
    } catch (error) {
      this.warn("Cannot remove leftover parts of large records", { error });
    }
  }
}
