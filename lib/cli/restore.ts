import { resolve } from "@std/path";
import { configError } from "../config/problem.ts";
import { restoreBackup } from "../storage/restore.ts";
import type { Command } from "./command.ts";
import { print } from "./terminal.ts";

export const restore: Command = {
  usage: "restore FILE [--force]",
  meaning: "Put a backup in place of the data store; what was there is kept beside it",
  flags: [{
    flag: "force",
    meaning: "restore: replace what is in a remote store, which cannot be kept beside it",
  }],
  async run({ options, positionals, flags }) {
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) {
      throw configError("restore takes one file", "Write it as: quartermaster restore FILE");
    }
    const force = flags.get("force") === true;
    const { entries, movedTo } = await restoreBackup({
      file: resolve(file),
      location: options.kv,
      force,
    });
    const kept = movedTo === undefined ? "" : `; what was there before is now ${movedTo}`;
    print(`Restored ${entries} records from ${file}${kept}\n`);
  },
};
