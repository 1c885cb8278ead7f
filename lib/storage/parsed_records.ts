import type { z } from "zod";
import type { RecordKey } from "./keys.ts";
import type { Stored } from "./record_reader.ts";
import { damaged } from "./storage_errors.ts";
import type { ListOptions, Store } from "./store.ts";

/** What records of one kind are called in a sentence, and what they look like. */
export interface RecordKind<T> {
  noun: string;
  schema: z.ZodType<T>;
}

/** One record; throws where what is there is of another kind. */
export async function readParsed<T>(
  store: Store,
  key: RecordKey,
  { schema }: RecordKind<T>,
): Promise<Stored<T> | undefined> {
  const record = await store.read(key);
  if (record === undefined) return undefined;
  const parsed = schema.safeParse(record.value);
  if (parsed.success) return { value: parsed.data, versionstamp: record.versionstamp };
  const name = JSON.stringify(key.join("/"));
  throw damaged(store.location, `record ${name} has an unknown shape`, { cause: parsed.error });
}

/** All under a prefix, by key. One that cannot be read is left out, with a warning. */
export async function* listParsed<T>(
  store: Store,
  prefix: RecordKey,
  { noun, schema }: RecordKind<T>,
  options: ListOptions = {},
): AsyncGenerator<T, void> {
  for await (const { key, value } of store.list({ prefix: [...prefix] }, options)) {
    const parsed = schema.safeParse(value);
    if (parsed.success) yield parsed.data;
    else {
      store.warn(`A ${noun} cannot be read and is left out`, { key, error: parsed.error });
    }
  }
}
