import { hostname } from "node:os";
import type { Platform } from "./config/deployment.ts";
import { startTimeOf } from "./downstream/stdio/process_group.ts";
import { type AppliedRestore, applyStagedRestore } from "./storage/apply_restore.ts";
import { parseLocation } from "./storage/location.ts";
import { StagedRestore } from "./storage/staged_restore.ts";
import type { Logger } from "./telemetry/logs.ts";

export interface ComposeRestoreInput {
  location: string | undefined;
  platform: Pick<Platform, "canWrite">;
  log: Logger;
}

export interface Restore {
  /** Takes a backup for the next start; undefined where the store is no file here. */
  staged?: StagedRestore;
  /** What this start made of one. */
  applied?: AppliedRestore;
}

/** Puts a backup in place that waits for this start, before the store is opened. */
export async function composeRestore(
  { location, platform, log }: ComposeRestoreInput,
): Promise<Restore> {
  const place = parseLocation(location);
  if (place.kind !== "file" || !platform.canWrite) return {};
  const applied = await applyStagedRestore({
    location,
    // A gateway on this machine whose process is gone, or was started anew under its number, need
    // not lapse first.
    isAlive: async ({ host, pid }) =>
      host !== hostname() || (pid !== Deno.pid && await startTimeOf(pid) !== undefined),
    onWarning: (message, details) => log.warn(details ?? {}, message),
  });
  if (applied?.ok) log.info(applied, "A backup was put in place of the data store");
  else if (applied) log.error(applied, "A backup that waits could not be put in place");
  return { staged: new StagedRestore(place.path), ...(applied === undefined ? {} : { applied }) };
}
