import { GatewayError } from "../core/errors.ts";
import { isBackup, writeBackup } from "./backup_file.ts";
import { UNPORTABLE_ROOTS } from "./keys.ts";
import { busy } from "./storage_errors.ts";
import type { Store } from "./store.ts";

const ATTEMPTS = 5;

export interface BackupResult {
  file: string;
  entries: number;
  createdAt: Date;
}

/**
 * Writes all records to one portable file that only its owner may read, while gateways run on.
 *
 * Deno KV has no snapshot over many reads: it is repeated until no change came in between.
 */
export async function backupStore(
  store: Store,
  file: string,
  { now = Date.now }: { now?: () => number } = {},
): Promise<BackupResult> {
  await refuseForeignFile(file);
  const temporary = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await store.generation();
      const createdAt = new Date(now());
      const entries = await writeTo(temporary, store, createdAt);
      if (await store.generation() === before) {
        await Deno.rename(temporary, file);
        return { file, entries, createdAt };
      }
    }
    throw busy(store.location, "back up");
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
}

async function writeTo(path: string, store: Store, createdAt: Date): Promise<number> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path, { write: true, create: true, truncate: true, mode: 0o600 });
  } catch (cause) {
    throw cannotWrite(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  using _ = file;
  const entries = await writeBackup(
    file,
    store.schemaVersion,
    createdAt,
    store.list({ prefix: [] }, { skipRoots: UNPORTABLE_ROOTS }),
  );
  await file.sync();
  return entries;
}

/** A slip of the hand must not replace something else, least of all the data file itself. */
async function refuseForeignFile(file: string): Promise<void> {
  const info = await Deno.stat(file).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isFile || !await isBackup(file)) {
    throw cannotWrite(file, "something that is not a backup is there already");
  }
}

function cannotWrite(file: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot write the backup "${file}": ${why}`,
    recoveryAction: "Name another file",
    cause,
  });
}
