import { z } from "zod";
import { commitBatches, deleteAll } from "./collection.ts";
import { keys, type RecordKey } from "./keys.ts";
import type { Store } from "./store.ts";

const KeptVector = z.strictObject({ bytes: z.base64() });

type KeptBytes = Int8Array<ArrayBuffer>;

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
        const record = await this.#store.read(keys.vectors(model, hash));
        const parsed = KeptVector.safeParse(record?.value);
        // What cannot be read is computed again.
        return parsed.success ? [hash, toBytes(parsed.data.bytes)] as const : undefined;
      }),
    );
    return new Map(found.filter((each) => each !== undefined));
  }

  async save(model: string, vectors: ReadonlyMap<string, KeptBytes>): Promise<void> {
    const records = [...vectors].map(([hash, vector]) => ({
      key: keys.vectors(model, hash),
      value: { bytes: new Uint8Array(vector.buffer).toBase64() },
    }));
    for (
      const sets of commitBatches(records, ({ key }) => key, ({ value }) => value.bytes.length)
    ) {
      await this.#store.commit({ sets, announce: false });
    }
  }

  /** Deletes those of other texts than these, once they are more than `most`. */
  async prune(model: string, used: ReadonlySet<string>, most: number): Promise<number> {
    const unused: RecordKey[] = [];
    for await (const { key } of this.#store.list({ prefix: keys.vectors(model) })) {
      if (!used.has(String(key.at(-1)))) unused.push(key);
    }
    if (unused.length <= most) return 0;
    return await deleteAll(this.#store, unused);
  }
}

function toBytes(base64: string): KeptBytes {
  return new Int8Array(Uint8Array.fromBase64(base64).buffer);
}
