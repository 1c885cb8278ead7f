import { keys } from "./keys.ts";
import type { RecordKey } from "./keys.ts";
import type { KvClient } from "./kv_client.ts";
import { decodeRecord, joinBytes, PartsPointer } from "./record_codec.ts";
import { busy, damaged } from "./storage_errors.ts";

/** A reader can lose only to a writer that finished meanwhile, so this many are never met. */
const READ_ATTEMPTS = 20;

/** A value, and the versionstamp to hand in when changing it. */
export interface Stored<T> {
  value: T;
  versionstamp: string;
}

export interface StoredRecord extends Stored<unknown> {
  key: RecordKey;
}

export async function readRecord(
  client: KvClient,
  key: RecordKey,
): Promise<StoredRecord | undefined> {
  return await resolveEntry(client, key, await client.get(key));
}

export async function* listRecords(
  client: KvClient,
  selector: Deno.KvListSelector,
  options: { limit?: number; reverse?: boolean; skipRoots?: ReadonlySet<unknown> } = {},
): AsyncGenerator<StoredRecord, void> {
  for await (const entry of client.list(selector, options)) {
    if (options.skipRoots?.has(entry.key[0])) continue;
    const key = entry.key.map((part) => {
      if (typeof part === "string" || typeof part === "number") return part;
      throw damaged(client.location, `it has a key that is not ours: ${Deno.inspect(entry.key)}`);
    });
    const record = await resolveEntry(client, key, entry);
    if (record !== undefined) yield record;
  }
}

/** Which parts an entry's record is kept in, if it is. */
export function pointerOf(entry: Deno.KvEntryMaybe<unknown>): PartsPointer | undefined {
  return PartsPointer.safeParse(entry.value).data;
}

async function resolveEntry(
  client: KvClient,
  key: RecordKey,
  first: Deno.KvEntryMaybe<unknown>,
): Promise<StoredRecord | undefined> {
  let entry = first;
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    if (entry.versionstamp === null) return undefined;
    const bytes = await readBytes(client, entry);
    if (bytes !== undefined) {
      try {
        return { key, value: decodeRecord(bytes), versionstamp: entry.versionstamp };
      } catch (cause) {
        throw damaged(client.location, `record ${name(key)} is not JSON`, { cause });
      }
    }
    const again = await client.get(key);
    if (again.versionstamp === entry.versionstamp) {
      throw damaged(client.location, `record ${name(key)} is incomplete`);
    }
    entry = again;
  }
  throw busy(client.location, `read record ${name(key)} of`);
}

async function readBytes(
  client: KvClient,
  entry: Deno.KvEntry<unknown>,
): Promise<Uint8Array | undefined> {
  if (entry.value instanceof Uint8Array) return entry.value;
  const pointer = pointerOf(entry);
  if (pointer === undefined) return undefined;
  const partKeys = Array.from(
    { length: pointer.count },
    (_, index) => keys.part(pointer.parts, index),
  );
  const parts = await client.getMany(partKeys);
  return joinBytes(parts.map(({ value }) => value), pointer.bytes);
}

function name(key: RecordKey): string {
  return JSON.stringify(key.join("/"));
}
