import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { keys, type RecordKey } from "./keys.ts";
import type { Changes, KvClient } from "./kv_client.ts";
import {
  decodeRecord,
  encodeRecord,
  listRecords,
  readRecord,
  type StoredRecord,
  writeRecords,
} from "./records.ts";
import { busy, foreign, unavailable } from "./storage_errors.ts";

const APP = "quartermaster";
const FIRST_VERSION = 1;
const ATTEMPTS = 50;

const SchemaMarker = z.strictObject({
  app: z.literal(APP),
  version: z.int().min(FIRST_VERSION),
});

interface MigrationContext {
  read(key: RecordKey): Promise<StoredRecord | undefined>;
  list(prefix: RecordKey): AsyncIterable<StoredRecord>;
  /** Refused once another process has finished this migration. */
  commit(changes: Changes): Promise<void>;
}

/** A step from the version before to `version`. It may be cut short anywhere and run again. */
export interface Migration {
  version: number;
  up(context: MigrationContext): Promise<void>;
}

/** In order, the first one to version 2. Never change one that was released. */
export const MIGRATIONS: readonly Migration[] = [
  // Values in servers' entries may be sealed, which a program of version 1 would take for the values
  // themselves: it has to refuse the store. What is there is sealed by whoever has the key.
  { version: 2, up: () => Promise.resolve() },
];

export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? FIRST_VERSION;
}

export async function readSchema(
  client: KvClient,
): Promise<{ version: number; versionstamp: string } | undefined> {
  const [restoring, schema] = await client.getMany([keys.restoring(), keys.schema()]);
  if (restoring?.versionstamp) {
    throw unavailable(
      client.location,
      "a restore is in progress or was interrupted; run the restore again",
    );
  }
  if (schema?.versionstamp) {
    const marker = parseMarker(schema.value);
    if (marker === undefined) {
      throw foreign(client.location, 'its "schema" entry belongs to another program');
    }
    return { version: marker.version, versionstamp: schema.versionstamp };
  }
  for await (const _ of client.list({ prefix: [] }, { limit: 1 })) {
    // It may have been written since the look above.
    if ((await client.get(keys.schema())).versionstamp !== null) return await readSchema(client);
    throw foreign(client.location, "it contains another program's Deno KV entries");
  }
  return undefined;
}

export function schemaEntry(version: number) {
  return { key: keys.schema(), value: encodeRecord({ app: APP, version }) };
}

/** Brings a store to the newest version; one that is newer than that is refused unchanged. */
export async function migrate(
  client: KvClient,
  { migrations = MIGRATIONS, now = Date.now }: {
    migrations?: readonly Migration[] | undefined;
    now?: (() => number) | undefined;
  } = {},
): Promise<number> {
  const newest = newestVersion(migrations);
  // Each turn is one step forward, or one that another process made.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const schema = await readSchema(client);
    if (schema === undefined) {
      await client.commit({
        checks: [{ key: keys.schema(), versionstamp: null }],
        sets: [schemaEntry(newest)],
      });
      continue;
    }
    if (schema.version > newest) {
      throw new GatewayError("STORAGE_NEWER", {
        message: `The data store ${client.location.label} has schema version ${schema.version}; ` +
          `this version of Quartermaster supports versions up to ${newest}`,
      });
    }
    const next = migrations.find(({ version }) => version > schema.version);
    if (next === undefined) return schema.version;

    const check = { key: keys.schema(), versionstamp: schema.versionstamp };
    try {
      await next.up({
        read: (key) => readRecord(client, key),
        list: (prefix) => listRecords(client, { prefix: [...prefix] }),
        commit: async (changes) => {
          const checks = [check, ...changes.checks ?? []];
          if (await writeRecords(client, { ...changes, checks }, now()) === undefined) {
            throw new GatewayError("CONFLICT");
          }
        },
      });
    } catch (error) {
      const isOvertaken = error instanceof GatewayError && error.code === "CONFLICT";
      if (!isOvertaken) throw error;
      continue;
    }
    await client.commit({ checks: [check], sets: [schemaEntry(next.version)] });
  }
  throw busy(client.location, "migrate");
}

function parseMarker(value: unknown): z.infer<typeof SchemaMarker> | undefined {
  if (!(value instanceof Uint8Array)) return undefined;
  try {
    return SchemaMarker.safeParse(decodeRecord(value)).data;
  } catch {
    return undefined;
  }
}
