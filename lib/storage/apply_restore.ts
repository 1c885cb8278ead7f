import { backupStore } from "./backup.ts";
import type { WarningListener } from "./kv_client.ts";
import { parseLocation } from "./location.ts";
import { restoreBackup, type RestoreOptions, type RestoreResult } from "./restore.ts";
import { stagedFile } from "./staged_restore.ts";
import { Store } from "./store.ts";

export type AppliedRestore =
  | (RestoreResult & {
    ok: true;
    /** A backup of the store from before. */
    before?: string;
  })
  /** The store is as it was, and the backup still waits. */
  | { ok: false; problem: string };

export interface ApplyRestoreOptions extends Pick<RestoreOptions, "location" | "isAlive" | "now"> {
  onWarning: WarningListener;
}

/** Puts a backup in place that waits for this start; undefined where none does. Never throws. */
export async function applyStagedRestore(
  { location, isAlive, now = Date.now, onWarning }: ApplyRestoreOptions,
): Promise<AppliedRestore | undefined> {
  const place = parseLocation(location);
  if (place.kind !== "file") return undefined;
  const file = stagedFile(place.path);
  if (!await Deno.stat(file).then(({ isFile }) => isFile, () => false)) return undefined;
  const stamp = new Date(now()).toISOString().replaceAll(/[:.]/g, "-");
  const backup = `${place.path}.before-restore-${stamp}.backup`;
  let before: string | undefined;
  let result: RestoreResult;
  try {
    result = await restoreBackup({
      file,
      location,
      now,
      onWarning,
      ...(isAlive === undefined ? {} : { isAlive }),
      async keepBefore() {
        try {
          await using store = await Store.open({ location, onWarning });
          before = (await backupStore(store, backup)).file;
        } catch (error) {
          // The data file itself is kept as well.
          onWarning("Cannot back up the data store before a restore", { error });
        }
      },
    });
  } catch (error) {
    if (before !== undefined) await Deno.remove(before).catch(() => {});
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
  await Deno.remove(file).catch((error) =>
    onWarning("Cannot remove a backup that was restored: the next start restores it again", {
      file,
      error,
    })
  );
  return { ok: true, ...result, ...(before === undefined ? {} : { before }) };
}
