import { resolve } from "@std/path";
import { configError } from "../config/problem.ts";
import { backupStore } from "../storage/backup.ts";
import { Store } from "../storage/store.ts";
import { commandAudit } from "./audit_store.ts";
import type { Command } from "./command.ts";
import { print } from "./terminal.ts";

export const backup: Command = {
  usage: "backup FILE",
  meaning: "Write everything in the data store to FILE; a running gateway goes on",
  async run({ options, positionals, env }) {
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) {
      throw configError("backup takes one file", "Write it as: quartermaster backup FILE");
    }
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await Store.open({ location: options.kv }));
    const { entries } = await backupStore(store, resolve(file));
    const audit = commandAudit({ env, stack, store });
    audit.note({ action: "data.backup", subject: "data store", after: { entries, file } });
    print(`Saved ${entries} records of ${store.location.label} to ${file}\n`);
  },
};
