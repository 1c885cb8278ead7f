import { resolve } from "@std/path";
import { backupStore } from "../storage/backup.ts";
import { backupContents, otherKeyWarnings } from "../storage/backup_contents.ts";
import { parseLocation } from "../storage/kv_client.ts";
import { restoreBackup, type RestoreResult } from "../storage/restore.ts";
import { findKeyId } from "../storage/secret_key.ts";
import { StagedRestore } from "../storage/staged_restore.ts";
import { Store } from "../storage/store.ts";
import { openAudit } from "../telemetry/audit.ts";
import { Redactor } from "../telemetry/redact.ts";
import { type Command, type CommandInput, onlyPositional } from "./command.ts";
import { commandUser } from "./operation_target.ts";
import { inert, print, printJson } from "./terminal.ts";

export const backup: Command = {
  usage: "backup FILE",
  meaning: "Write everything in the data store to FILE; a running gateway goes on",
  async run(input) {
    const file = onlyPositional(input, "backup takes one file", "backup FILE");
    await using store = await Store.open({ location: input.options.kv });
    const saved = await backupStore(store, resolve(file));
    const { entries } = saved;
    await note(store, input, "data.backup", { entries, file });
    if (input.flags.get("json") === true) return printJson(saved);
    print(`Saved ${entries} records of ${store.location.label} to ${file}\n`);
  },
};

export const restore: Command = {
  usage: "restore FILE [--force]",
  meaning: "Put a backup in place of the data store; what was there is kept beside it",
  flags: [
    {
      flag: "force",
      meaning: "restore: replace what is in a remote store, which cannot be kept beside it",
    },
  ],
  async run(input) {
    const { options, platform, flags } = input;
    const file = onlyPositional(input, "restore takes one file", "restore FILE");
    const force = flags.get("force") === true;
    const { sealed } = await backupContents(resolve(file));
    const keyId = await findKeyId({
      secretKey: options.secretKey,
      dataDir: platform.canWrite ? options.dataDir : undefined,
    });
    const restored = await restoreBackup({ file: resolve(file), location: options.kv, force });
    // It is done, whether that can be noted or not.
    await noteRestore(input, restored).catch(() => {});
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

/** A backup that was staged before this one: the next start would still restore it. */
async function forgetStaged(location: string | undefined): Promise<boolean> {
  const place = parseLocation(location);
  if (place.kind !== "file") return false;
  const staged = new StagedRestore(place.path);
  if ((await staged.find()).staged === undefined) return false;
  await staged.discard("staged");
  return true;
}

/** In the log that came with the backup: the one from before is where its data is. */
async function noteRestore(input: CommandInput, after: RestoreResult): Promise<void> {
  await using store = await Store.open({ location: input.options.kv });
  await note(store, input, "data.restore", after);
}

async function note(
  store: Store,
  input: CommandInput,
  action: string,
  after: unknown,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { user, from } = commandUser(input);
  const audit = openAudit({
    stack,
    store,
    redactor: new Redactor(),
    nameOf: () => user,
    origin: { principal: "owner", from: () => from },
    // The command itself fails where its store does.
    onWarning: () => {},
  });
  audit.note({ action, subject: "data store", after });
}
