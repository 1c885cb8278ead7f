import { resolve } from "@std/path";
import { configError } from "../config/files.ts";
import { backupStore } from "../storage/backup.ts";
import { Store } from "../storage/store.ts";
import { commandAudit } from "./audit_store.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { print, printJson } from "./terminal.ts";

export const backup: Command = {
  usage: "backup FILE",
  meaning: "Write everything in the data store to FILE; a running gateway goes on",
  flags: [JSON_FLAG],
  async run({ options, positionals, flags, env }) {
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) {
      throw configError("backup takes one file", "Write it as: quartermaster backup FILE");
    }
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await Store.open({ location: options.kv }));
    const saved = await backupStore(store, resolve(file));
    const { entries } = saved;
    const audit = commandAudit({ env, stack, store });
    audit.note({ action: "data.backup", subject: "data store", after: { entries, file } });
    if (flags.get("json") === true) return printJson(saved);
    print(`Saved ${entries} records of ${store.location.label} to ${file}\n`);
  },
};
