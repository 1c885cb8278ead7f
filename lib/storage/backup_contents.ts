import { type BackupHeader, readBackup, verifyBackup } from "./backup_file.ts";
import { refuseNewer } from "./restore.ts";
import { SealedGatherer, type SealedNames } from "./sealed_names.ts";

/** What a backup holds, as far as a person has to know before it replaces a store. */
export interface BackupContents extends Pick<BackupHeader, "createdAt" | "schemaVersion"> {
  entries: number;
  /** How many records there are of each family of keys. */
  counts: Record<string, number>;
  /** What is sealed in it, by the key that opens it. */
  sealed: SealedNames[];
}

/** Reads a backup to its end. Throws where it is broken, foreign or newer than this program. */
export async function backupContents(file: string): Promise<BackupContents> {
  const { header: { createdAt, schemaVersion }, entries } = await verifyBackup(file);
  refuseNewer(file, schemaVersion);
  const counts: Record<string, number> = {};
  const sealed = new SealedGatherer();
  for await (const { key, value } of readBackup(file)) {
    const [root = ""] = key;
    counts[root] = (counts[root] ?? 0) + 1;
    sealed.take(key, value);
  }
  return { createdAt, schemaVersion, entries, counts, sealed: sealed.all };
}
