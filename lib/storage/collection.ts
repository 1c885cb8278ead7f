import type { z } from "zod";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { RecordKey } from "./keys.ts";
import type { Stored, StoredRecord } from "./record_reader.ts";
import type { News, Store } from "./store.ts";
import { damaged } from "./storage_errors.ts";

export interface CollectionOptions<T> {
  /** What one record is called in a sentence. */
  noun: string;
  prefix: RecordKey;
  /** The key of one id under the prefix. */
  key: (id: string) => RecordKey;
  schema: z.ZodType<T>;
  idOf: (value: T) => string;
  /** The error for a record that is not there. */
  missing?: ErrorCode;
  /** Whether other gateways must hear of changes; they do unless this is false. */
  announce?: boolean;
  /** What pages of other gateways learn from changes. */
  news?: News;
}

export interface CollectionListOptions {
  /** Begin behind this id, in the direction of the list. */
  after?: string;
  limit?: number;
  reverse?: boolean;
}

/** Records of one kind under one prefix, by id. */
export class Collection<T> {
  protected readonly store: Store;
  readonly #options: CollectionOptions<T>;

  constructor(store: Store, options: CollectionOptions<T>) {
    this.store = store;
    this.#options = options;
  }

  async find(id: string): Promise<Stored<T> | undefined> {
    const record = await this.store.read(this.#options.key(id));
    return record === undefined ? undefined : this.#parse(record);
  }

  async resolve(id: string): Promise<Stored<T>> {
    const found = await this.find(id);
    if (found !== undefined) return found;
    throw new GatewayError(this.#options.missing ?? "NOT_FOUND", {
      message: `There is no ${this.#options.noun} "${id}"`,
    });
  }

  /** In the order of the ids. One that cannot be read is left out, with a warning. */
  async *list(
    { after, ...options }: CollectionListOptions = {},
  ): AsyncGenerator<Stored<T>, void> {
    const prefix = [...this.#options.prefix];
    let selector: Deno.KvListSelector = { prefix };
    if (after !== undefined) {
      // No text comes between another and itself with a zero at its end.
      selector = options.reverse
        ? { prefix, end: [...this.#options.key(after)] }
        : { prefix, start: [...this.#options.key(`${after}\0`)] };
    }
    for await (const record of this.store.list(selector, options)) {
      let parsed: Stored<T>;
      try {
        parsed = this.#parse(record);
      } catch (error) {
        this.store.warn(`A ${this.#options.noun} cannot be read and is left out`, {
          key: record.key,
          error,
        });
        continue;
      }
      yield parsed;
    }
  }

  /** Saves over the version that was read; null: there must be none yet. */
  async save(value: T, versionstamp: string | null): Promise<string> {
    const id = this.#options.idOf(value);
    const key = this.#options.key(id);
    const saved = await this.store.tryCommit({
      checks: [{ key, versionstamp }],
      sets: [{ key, value }],
      announce: this.#options.announce ?? true,
      news: this.#options.news,
    });
    if (saved === undefined) throw this.#conflict(id, versionstamp);
    return saved;
  }

  /** Deletes the version that was read, or any where none is named; one that is gone is fine. */
  async delete(id: string, versionstamp?: string): Promise<void> {
    const key = this.#options.key(id);
    const deleted = await this.store.tryCommit({
      checks: versionstamp === undefined ? [] : [{ key, versionstamp }],
      deletes: [key],
      announce: this.#options.announce ?? true,
      news: this.#options.news,
    });
    if (deleted === undefined) throw this.#conflict(id, versionstamp ?? null);
  }

  #parse(record: StoredRecord): Stored<T> {
    const parsed = this.#options.schema.safeParse(record.value);
    if (parsed.success) return { value: parsed.data, versionstamp: record.versionstamp };
    const name = JSON.stringify(record.key.join("/"));
    throw damaged(this.store.location, `record ${name} has an unknown shape`, {
      cause: parsed.error,
    });
  }

  #conflict(id: string, versionstamp: string | null): GatewayError {
    return new GatewayError("CONFLICT", {
      message: versionstamp === null
        ? `There is a ${this.#options.noun} "${id}" already`
        : `The ${this.#options.noun} "${id}" was changed by somebody else in the meantime`,
    });
  }
}
