import { resolve } from "@std/path";
import type { Env } from "../config/platform.ts";
import { configError } from "../config/files.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { backupContents, otherKeyWarnings } from "../storage/backup_contents.ts";
import { restoreBackup, type RestoreResult } from "../storage/restore.ts";
import { findKeyId } from "../storage/secret_key.ts";
import { StagedRestore } from "../storage/staged_restore.ts";
import { Store } from "../storage/store.ts";
import { commandAudit } from "./audit_store.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { inert, print, printJson } from "./terminal.ts";

export const restore: Command = {
  usage: "restore FILE [--force]",
  meaning: "Put a backup in place of the data store; what was there is kept beside it",
  flags: [
    {
      flag: "force",
      meaning: "restore: replace what is in a remote store, which cannot be kept beside it",
    },
    JSON_FLAG,
  ],
  async run({ options, platform, positionals, flags, env }) {
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) {
      throw configError("restore takes one file", "Write it as: quartermaster restore FILE");
    }
    const force = flags.get("force") === true;
    const { sealed } = await backupContents(resolve(file));
    const keyId = await findKeyId({
      secretKey: options.secretKey,
      dataDir: platform.canWrite ? options.dataDir : undefined,
    });
    const restored = await restoreBackup({ file: resolve(file), location: options.kv, force });
    // It is done, whether that can be noted or not.
    await noteRestore(options.kv, env, restored).catch(() => {});
    const asJson = flags.get("json") === true;
    // At once: it is done, whatever becomes of the rest.
    if (!asJson) print(restoredText(file, restored));
    const discardedStaged = await forgetStaged(options.kv);
    if (asJson) {
      const sealedElsewhere = sealed.filter((names) => names.keyId !== keyId);
      return printJson({ file: resolve(file), ...restored, sealedElsewhere, discardedStaged });
    }
    for (const words of otherKeyWarnings(sealed, keyId)) print(inert(`${words}\n`));
    if (discardedStaged) {
      print("Another backup, chosen in the console, waited for the next start: it is forgotten\n");
    }
  },
};

function restoredText(file: string, { entries, movedTo }: RestoreResult): string {
  const kept = movedTo === undefined ? "" : `; what was there before is now ${movedTo}`;
  return `Restored ${entries} records from ${file}${kept}\n`;
}

/** A backup that was chosen before this one: the next start would put it in place all the same. */
async function forgetStaged(location: string | undefined): Promise<boolean> {
  const place = parseLocation(location);
  if (place.kind !== "file") return false;
  const staged = new StagedRestore(place.path);
  if ((await staged.find()).staged === undefined) return false;
  await staged.discard("staged");
  return true;
}

/** In the log that came with the backup: the one from before is where its data is. */
async function noteRestore(
  location: string | undefined,
  env: Env,
  after: RestoreResult,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await Store.open({ location }));
  const audit = commandAudit({ env, stack, store });
  audit.note({ action: "data.restore", subject: "data store", after });
}
