import { z } from "zod";
import { keys, type RecordKey } from "./keys.ts";
import type { Store } from "./store.ts";

/** Well under what one commit can hold, whatever the model's dimensions. */
const COMMIT_BYTES = 300_000;
const COMMIT_RECORDS = 200;

const KeptVector = z.strictObject({ bytes: z.base64() });

export type KeptBytes = Int8Array<ArrayBuffer>;

/** The vectors of texts by model and content hash, a byte a dimension. */
export class VectorsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Those of the texts that are kept for a model. */
  async find(model: string, hashes: Iterable<string>): Promise<Map<string, KeptBytes>> {
    const found = await Promise.all(
      Array.from(hashes, async (hash) => {
        const record = await this.#store.read(keys.vector(model, hash));
        const parsed = KeptVector.safeParse(record?.value);
        // What cannot be read is computed again.
        return parsed.success ? [hash, toBytes(parsed.data.bytes)] as const : undefined;
      }),
    );
    return new Map(found.filter((each) => each !== undefined));
  }

  async save(model: string, vectors: ReadonlyMap<string, KeptBytes>): Promise<void> {
    const records = [...vectors].map(([hash, vector]) => ({
      key: keys.vector(model, hash),
      value: { bytes: new Uint8Array(vector.buffer).toBase64() },
    }));
    for (const sets of batches(records, ({ value }) => value.bytes.length)) {
      await this.#store.commit({ sets, announce: false });
    }
  }

  /** Deletes those of other texts than these, once they are more than `most`. */
  async prune(model: string, used: ReadonlySet<string>, most: number): Promise<number> {
    const unused: RecordKey[] = [];
    for await (const { key } of this.#store.list({ prefix: [...keys.vectors(model)] })) {
      if (!used.has(String(key.at(-1)))) unused.push(key);
    }
    if (unused.length <= most) return 0;
    for (const deletes of batches(unused, () => 0)) {
      await this.#store.commit({ deletes, announce: false });
    }
    return unused.length;
  }
}

function toBytes(base64: string): KeptBytes {
  return new Int8Array(Uint8Array.fromBase64(base64).buffer);
}

function* batches<T>(items: T[], bytesOf: (item: T) => number): Generator<T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const own = bytesOf(item);
    if (batch.length >= COMMIT_RECORDS || (batch.length > 0 && bytes + own > COMMIT_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(item);
    bytes += own;
  }
  if (batch.length > 0) yield batch;
}
