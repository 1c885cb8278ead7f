import { z } from "zod";
import { deleteAll, Repository, setAll } from "./collection.ts";
import { keys } from "./keys.ts";

const StoredVector = z.strictObject({ bytes: z.base64() });

type Vector = Int8Array<ArrayBuffer>;

/** The vectors of texts by model and content hash, a byte a dimension; a cache. */
export class VectorsRepository extends Repository {
  async find(model: string, hashes: Iterable<string>): Promise<Map<string, Vector>> {
    const found = await Promise.all(
      Array.from(hashes, async (hash): Promise<[string, Vector][]> => {
        const stored = await this.readAs(keys.vectors(model, hash), StoredVector);
        return stored ? [[hash, new Int8Array(Uint8Array.fromBase64(stored.bytes).buffer)]] : [];
      }),
    );
    return new Map(found.flat());
  }

  async save(model: string, vectors: ReadonlyMap<string, Vector>): Promise<void> {
    const records = [...vectors].map(([hash, vector]) => ({
      key: keys.vectors(model, hash),
      value: { bytes: new Uint8Array(vector.buffer).toBase64() },
    }));
    await setAll(this.store, records);
  }

  /** Deletes those of texts that are not in use, once they are more than `most`. */
  async prune(model: string, used: ReadonlySet<string>, most: number): Promise<number> {
    const records = this.store.list({ prefix: keys.vectors(model) });
    const all = await Array.fromAsync(records, ({ key }) => key);
    const unused = all.filter((key) => !used.has(String(key.at(-1))));
    return unused.length <= most ? 0 : await deleteAll(this.store, unused);
  }
}
