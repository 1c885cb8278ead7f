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
import type { Command, CommandInput } from "./command.ts";
import { commandUser } from "./operation_target.ts";
import { inert, print } from "./terminal.ts";

export const backup: Command = {
  usage: "backup FILE",
  meaning: "Back up the data store to FILE; a running gateway keeps running",
  async run(input) {
    const file = resolve(input.positionals[0]!);
    await using store = await Store.open({ location: input.options.kv });
    const data = await backupStore(store, file);
    await note(store, input, "data.backup", { entries: data.entries, file });
    return {
      data,
      text: `Saved ${data.entries} records from ${store.location.label} to ${file}\n`,
    };
  },
};

export const restore: Command = {
  usage: "restore FILE [--force]",
  meaning: "Replace the data store with a backup; the old data is kept next to it",
  flags: [
    { flag: "force", meaning: "Overwrite a remote store; its old data is lost" },
  ],
  async run(input) {
    const { options, platform, flags } = input;
    const file = resolve(input.positionals[0]!);
    const { sealed } = await backupContents(file);
    const keyId = await findKeyId({
      secretKey: options.secretKey,
      dataDir: platform.canWrite ? options.dataDir : undefined,
    });
    const force = flags.get("force") === true;
    const restored = await restoreBackup({ file, location: options.kv, force });
    // The restore is complete, even if the audit log cannot be written.
    await noteRestore(input, restored).catch(() => {});
    const { entries, movedTo } = restored;
    const kept = movedTo === undefined ? "" : `; the old data is in ${movedTo}`;
    // Before the rest, which may fail: the restore is complete.
    if (!flags.get("json")) print(`Restored ${entries} records from ${file}${kept}\n`);
    const discardedStaged = await forgetStaged(options.kv);
    const sealedElsewhere = sealed.filter((names) => names.keyId !== keyId);
    const warnings = otherKeyWarnings(sealed, keyId).map((warning) => `${warning}\n`);
    if (discardedStaged) {
      warnings.push("Discarded the restore that was scheduled in the console\n");
    }
    return {
      data: { file, ...restored, sealedElsewhere, discardedStaged },
      text: inert(warnings.join("")),
    };
  },
};

/** A backup that was staged before this one: the next start would still restore it. */
async function forgetStaged(location: string | undefined): Promise<boolean> {
  const place = parseLocation(location);
  if (place.kind !== "file") return false;
  const staged = new StagedRestore(place.path);
  if ((await staged.find()).staged === undefined) return false;
  await staged.discard("staged");
  return true;
}

/** In the restored store, whose log came with the backup. */
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
    // If the store fails, the command does too.
    onWarning: () => {},
  });
  audit.note({ action, subject: "data store", after });
}
