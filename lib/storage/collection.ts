import * as z from "zod";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import { keyBytes, type KeyPart, type News, type RecordKey } from "./keys.ts";
import { encodeRecord, type Stored } from "./records.ts";
import type { Store } from "./store.ts";
import { damaged } from "./storage_errors.ts";

interface CollectionOptions<T, Id extends string | KeyPart[]> {
  noun: string;
  key(...parts: KeyPart[]): RecordKey;
  schema: z.ZodType<T>;
  idOf: (value: T) => Id;
  missing?: ErrorCode;
  /** Whether other gateways must hear of changes; default: true. */
  announce?: boolean;
  /** What pages of other gateways learn from changes. */
  news?: News;
}

export interface CollectionListOptions {
  /** Parts that the ids begin with. */
  under?: KeyPart[];
  /** The same as the beginning of a key that was read. */
  prefix?: RecordKey;
  /** Begin behind this id, in the direction of the list. */
  after?: string;
  limit?: number;
  reverse?: boolean;
}

/** Declares a repository: `class Projects extends collection({ ... }) {}`. */
export function collection<T, Id extends string | KeyPart[]>(
  options: CollectionOptions<T, Id>,
): new (store: Store) => Collection<T, Id> {
  return class extends Collection<T, Id> {
    constructor(store: Store) {
      super(store, options);
    }
  };
}

/** A schema that also reads records of earlier versions, which call a field by another name. */
export function formerly<T extends z.ZodType>(former: string, field: string, schema: T) {
  return z.preprocess((value: Record<string, unknown> | null) => {
    if (typeof value !== "object" || value === null || !(former in value)) return value;
    const { [former]: moved, ...rest } = value;
    return { [field]: moved, ...rest };
  }, schema);
}

export class Repository {
  protected readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  /** The value at a key; undefined if there is none, or it cannot be read. */
  protected async readAs<T>(key: RecordKey, schema: z.ZodType<T>): Promise<T | undefined> {
    return schema.safeParse((await this.store.read(key))?.value).data;
  }

  /** Writes a value that no other gateway has to act on. */
  protected async put(key: RecordKey, value: unknown): Promise<void> {
    await this.store.commit({ sets: [{ key, value }], announce: false });
  }
}

export class Collection<T, Id extends string | KeyPart[] = string> extends Repository {
  readonly #options: CollectionOptions<T, Id>;

  constructor(store: Store, options: CollectionOptions<T, Id>) {
    super(store);
    this.#options = options;
  }

  async find(id: Id): Promise<Stored<T> | undefined> {
    const record = await this.store.read(this.keyOf(id));
    if (record === undefined) return undefined;
    const { success, data, error } = this.#options.schema.safeParse(record.value);
    if (success) return { value: data, versionstamp: record.versionstamp };
    const name = JSON.stringify(record.key.join("/"));
    throw damaged(this.store.location, `record ${name} has an unknown format`, { cause: error });
  }

  async resolve(id: Id): Promise<Stored<T>> {
    const found = await this.find(id);
    if (found !== undefined) return found;
    throw new GatewayError(this.#options.missing ?? "NOT_FOUND", {
      message: `There is no ${this.#options.noun} "${[id].flat().join(".")}"`,
    });
  }

  /** In the order of the ids. One that cannot be read is left out, with a warning. */
  async *list(
    { under = [], prefix = this.#options.key(...under), after, ...options }: CollectionListOptions =
      {},
  ): AsyncGenerator<Stored<T>, void> {
    let selector: Deno.KvListSelector = { prefix };
    if (after !== undefined) {
      // No text comes between another and itself with a zero at its end.
      selector = options.reverse
        ? { prefix, end: this.#options.key(...under, after) }
        : { prefix, start: this.#options.key(...under, `${after}\0`) };
    }
    for await (const record of this.store.list(selector, options)) {
      const { success, data, error } = this.#options.schema.safeParse(record.value);
      if (success) yield { value: data, versionstamp: record.versionstamp };
      else {
        const message = `Skipped an unreadable ${this.#options.noun}`;
        this.store.warn(message, { key: record.key, error });
      }
    }
  }

  values(options?: CollectionListOptions): Promise<T[]> {
    return Array.fromAsync(this.list(options), ({ value }) => value);
  }

  async save(value: T, versionstamp: string | null = null): Promise<string> {
    const id = this.#options.idOf(value);
    const key = this.keyOf(id);
    const saved = await this.#commit({ checks: [{ key, versionstamp }], sets: [{ key, value }] });
    if (saved === undefined) throw this.#conflict(id, versionstamp);
    return saved;
  }

  async replace(value: T): Promise<void> {
    await this.#commit({ sets: [{ key: this.keyOf(this.#options.idOf(value)), value }] });
  }

  /** Deletes the version that was read, or any where none is named; one that is gone is fine. */
  async delete(id: Id, versionstamp?: string): Promise<void> {
    const key = this.keyOf(id);
    const checks = versionstamp === undefined ? [] : [{ key, versionstamp }];
    const deleted = await this.#commit({ checks, deletes: [key] });
    if (deleted === undefined) throw this.#conflict(id, versionstamp ?? null);
  }

  protected keyOf(id: Id): RecordKey {
    return this.#options.key(...[id].flat());
  }

  #commit(changes: Parameters<Store["tryCommit"]>[0]): Promise<string | undefined> {
    const { announce = true, news } = this.#options;
    return this.store.tryCommit({ ...changes, announce, news });
  }

  #conflict(id: Id, versionstamp: string | null): GatewayError {
    const name = `${this.#options.noun} "${[id].flat().join(".")}"`;
    return new GatewayError("CONFLICT", {
      message: versionstamp === null
        ? `The ${name} already exists`
        : `Someone else changed the ${name} in the meantime`,
    });
  }
}

/** Writes records, however many, unannounced. */
export async function setAll(
  store: Store,
  records: Iterable<{ key: RecordKey; value: unknown }>,
): Promise<void> {
  for await (const sets of commitBatches(records)) await store.commit({ sets, announce: false });
}

/** Deletes records, however many, unannounced; returns how many those were. */
export async function deleteAll(store: Store, keys: readonly RecordKey[]): Promise<number> {
  for await (const batch of commitBatches(keys.map((key) => ({ key })))) {
    await store.commit({ deletes: batch.map(({ key }) => key), announce: false });
  }
  return keys.length;
}

/** Deletes what a selector finds, `limit` at a time until nothing is left. */
export async function deleteFound(
  store: Store,
  selector: Deno.KvListSelector,
  limit = 10_000,
): Promise<void> {
  for (let deleted = limit; deleted === limit;) {
    const found = await Array.fromAsync(store.list(selector, { limit }), ({ key }) => key);
    deleted = await deleteAll(store, found);
  }
}

/** Well under what one commit can hold. */
const BATCH = { records: 200, bytes: 400_000, keyBytes: 60_000 };

/** Splits records that are to be set or deleted so that each batch fits into one commit. */
export async function* commitBatches<T extends { key: RecordKey; value?: unknown }>(
  records: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<T[], void> {
  let batch: T[] = [];
  let [bytes, inKeys] = [0, 0];
  for await (const record of records) {
    const own = record.value === undefined ? 0 : encodeRecord(record.value).length;
    const inKey = keyBytes(record.key);
    const isFull = batch.length >= BATCH.records || bytes + own > BATCH.bytes ||
      inKeys + inKey > BATCH.keyBytes;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, bytes, inKeys] = [[], 0, 0];
    }
    batch.push(record);
    bytes += own;
    inKeys += inKey;
  }
  if (batch.length > 0) yield batch;
}
